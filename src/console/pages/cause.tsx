/** One cause: its card with the decisions, and the page with all its actions. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { hasEnded } from '../../chain/outcome.js';
import { ask, co, may, pageOf, refreshAll, useCompany, usePages, useResource } from '../base.js';
import { type AskedOfChains, useBulk } from '../bulk.js';
import { PageOf } from '../frame.js';
import { deedOf } from '../story.js';
import type { ActionResource, CauseResource, ChainResource, wholeCauseResponse, z } from '../types.js';
import { Button, Failure, Known, ProblemNote, Section, State, Table, Time, useDeed } from '../ui/index.js';
import { Verbs } from '../verbs.js';
import { actionOfCause, byWords, callerText, causeFailure, counted, orderWords } from '../words.js';

export function CausePage({ causeId }: { causeId: string }) {
  const [cause] = usePages<z.infer<typeof wholeCauseResponse>>(co`/causes/${causeId}`);
  const [askAll, dialog] = useBulk();
  return (
    <PageOf title="Problem" of={cause}>
      {(known) => (
        <>
          <CauseCard cause={known} isOpen onAsk={askAll} />
          <Table
            {...{ caption: 'The steps with this problem', named: 1 }}
            columns={['Step', 'Assignment', 'Since', 'Time']}
            rows={known.items.map(({ chainId, index, assignmentId, since, heldUntil, endedAt }) => {
              const action = <a href={pageOf.chain(chainId)}>Step {index + 1}</a>;
              const about = assignmentId && <a href={pageOf.assignment(assignmentId)}>{assignmentId}</a>;
              const end = <Time before={endedAt ? 'solved ' : 'if nobody decides, fails at '} at={endedAt ?? heldUntil} />;
              return [`${chainId} ${index}`, [action, about, <Time at={since} />, end]];
            })}
          />
          {dialog}
        </>
      )}
    </PageOf>
  );
}

const causeVerbs = ['retry', 'mend', 'skip'] as const;

interface SampleProps {
  cause: CauseResource;
  /** Whether the card loads the chain that waits longest. A page opens only a few cards, because each open card sends requests. */
  isOpen: boolean;
  /** Called before a decision about one chain. From then on, the page must keep the card, which shows the result. */
  onBegin?(): void;
}

/** @param onAsk - called for a decision about all chains. The page shows the dialog, because the card may disappear. */
export function CauseCard({ onAsk, ...sample }: SampleProps & { onAsk(asked: AskedOfChains): void }) {
  const { ruleName } = useCompany();
  const { causeId, chains, actions, assignments, relayIds, since, lastAt, endedAt } = sample.cause;
  const [title, isMany] = [causeFailure(sample.cause).title, chains > 1];
  const of = assignments > 0 ? counted(assignments, 'assignment') : counted(chains, 'chain');
  return (
    <Section look={endedAt ? 'card' : 'card wait'} title={title}>
      <p class="soft small">
        {endedAt ? <Time before="Solved " at={endedAt} distance /> : isMany ? `${counted(actions, 'step')} of ${of}` : of}
        {relayIds.length > 0 && `, ${relayIds.length > 1 ? 'rules' : 'rule'} ${relayIds.map((id) => ruleName(id)).join(', ')}`}
        <Time before={endedAt || isMany ? '. First error: ' : ', since '} at={since} distance={!isMany} />
        {isMany && <Time before=". Last error: " at={lastAt} distance />}
        {isMany && !location.pathname.endsWith(`/${causeId}`) && [' · ', <a href={pageOf.cause(causeId)}>Show all steps</a>]}
      </p>
      <Sample {...sample} />
      {isMany && may('steer') && (
        <details>
          <summary>Decide about all {counted(chains, 'chain')} at once</summary>
          <p class="row">
            {causeVerbs.map((verb) => (
              <Button key={verb} onClick={() => onAsk({ verb, filter: { causeId } })}>
                {orderWords(verb, counted(chains, 'chain'))}…
              </Button>
            ))}
          </p>
        </details>
      )}
      {!endedAt && <Owner cause={sample.cause} />}
    </Section>
  );
}

type Begun = { chainId: string; index: number; isTried: boolean; latest?: string | undefined };

/** Shows one chain of the cause: the chain of the user's last decision here, or else the chain that waits longest. */
function Sample({ cause, isOpen, onBegin }: SampleProps) {
  const { chains, chainId } = cause;
  const failure = { ...causeFailure(cause), ...(cause.endedAt && { remedy: undefined }) };
  const isLookedInto = useSignal(isOpen);
  const begun = useSignal<Begun | undefined>(undefined);
  const shown = begun.value?.chainId ?? chainId;
  const sample = useResource<ChainResource>(isLookedInto.value && shown ? co`/chains/${shown}` : undefined);
  const isTried = begun.value?.isTried ?? false;
  const tried = isTried ? sample.data.value?.actions.find(({ index }) => index === begun.value?.index) : undefined;
  useEffect(() => (tried && hasEnded(tried.state) ? refreshAll() : undefined), [tried?.state]);
  if (!shown || !isLookedInto.value)
    return (
      <>
        <Failure of={failure} under={failure.title} />
        {chainId && (
          <Button onClick={() => (isLookedInto.value = true)}>
            Show an example<span class="unseen">: {failure.title}</span>
          </Button>
        )}
      </>
    );
  const isShown = ({ index, state, error }: ActionResource) =>
    begun.value ? index === begun.value.index : state === 'needs-attention' && (!error || error.type === cause.reason);
  return (
    <Known of={sample}>
      {(chain) => {
        const action = actionOfCause(cause, chain.actions.filter(isShown));
        const { error, assignmentId, state, attempts, index = 0 }: Partial<ActionResource> = action ?? {};
        const isOver = state !== undefined && hasEnded(state);
        const latest = action?.steered?.at(-1)?.at; // changes as soon as the chain has the decision
        const isPassedOn = isTried && state === 'needs-attention' && latest === begun.value?.latest;
        return (
          <div class="sample">
            {action && (
              <p>
                {isTried ? 'Your last decision was for this step: ' : chains > 1 && 'The oldest step: '}
                <a href={pageOf.chain(shown)}>{deedOf(action)}</a>
                {assignmentId && [', for assignment ', <a href={pageOf.assignment(assignmentId)}>{assignmentId}</a>]}
              </p>
            )}
            {isTried && state && (
              <p role="status">
                {isPassedOn ? 'The relay has received your decision' : ['Result: ', <State of={state} result={action?.result} />]}
                {attempts && !isPassedOn && !isOver ? ` after ${counted(attempts, 'attempt')}` : ''}.
              </p>
            )}
            {!isOver && !isPassedOn && <Failure of={error ? { ...error, assignmentId } : failure} under={failure.title} />}
            {!action && <p class="soft">No step has this problem now.</p>}
            {action && !isPassedOn && (
              <Verbs
                {...{ chain, action, only: causeVerbs, which: chains > 1 ? ' this step' : '' }}
                onBegin={() => {
                  begun.value = { ...begun.value, chainId: shown, index, isTried };
                  onBegin?.();
                }}
                onDone={() => (begun.value = { chainId: shown, index, isTried: true, latest })}
              />
            )}
            {isOver && isTried && chainId && chainId !== shown && <Sample key={chainId} {...{ cause, isOpen, onBegin }} />}
          </div>
        );
      }}
    </Known>
  );
}

function Owner({ cause }: Pick<SampleProps, 'cause'>) {
  const { causeId, takenBy, takenAt, silencedBy, silencedUntil } = cause;
  const [deed, silencer] = [useDeed(), byWords(silencedBy ?? '')];
  const isSilent = silencedUntil !== undefined && Date.parse(silencedUntil) > Date.now();
  const change = (to: string, button: string, words: string, body?: object) => {
    const make = () => deed.run(() => ask('POST', co`/causes/${causeId}/${to}`, body), words);
    return <Button {...{ class: 'quiet', onClick: () => void make() }}>{button}</Button>;
  };
  const silenced = 'For 1 hour, nobody gets a notice if another step has this problem.';
  return (
    <div class="row small">
      <span class="soft">
        {takenBy && [`Working on this problem: ${callerText(takenBy)}`, <Time before=", since " at={takenAt} />]}
        {isSilent && <Time before={`${takenBy ? '. ' : ''}Notices turned off ${silencer} until `} at={silencedUntil} />}
      </span>
      {may('steer') && [
        takenBy
          ? change('release', 'Remove this name', 'Nobody is working on this problem now.')
          : change('take', 'I am working on this problem', 'Other people now see your name at this problem.'),
        isSilent
          ? change('silence', 'Turn on notices', 'Notices about this problem are on again.', { seconds: 0 })
          : change('silence', 'Turn off notices for 1 hour', silenced, { seconds: 3600 }),
      ]}
      <ProblemNote refused={deed.refused} />
    </div>
  );
}
