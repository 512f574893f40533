/** The card of a cause: the reason, one chain to try first, buttons for all chains, and the person who works on the cause. */

import { useSignal } from '@preact/signals';
import { hasEnded } from '../chain/outcome.js';
import type { CauseResource } from '../contract/causes.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { pageOf, path } from './addresses.js';
import { ask } from './api.js';
import { useResource } from './resource.js';
import { may, ruleName, useCompany } from './session.js';
import { BulkDialog, Verbs } from './steer.js';
import { deedOf } from './story.js';
import { Button, useDeed } from './ui/buttons.js';
import { Known, ProblemNote, UnknownNote } from './ui/known.js';
import { Failure, State, Time } from './ui/text.js';
import { actionOfCause, causeTitle, counted, verbWords } from './words.js';

const causeVerbs = ['retry', 'mend', 'skip'] as const;

type AskedOfCause = { verb: (typeof causeVerbs)[number]; causeId: string };

interface CauseProps {
  cause: CauseResource;
  /** Whether the card loads the chain that waits longest. A page opens only a few cards, because each open card sends requests. */
  isOpen: boolean;
  /** Called before a decision about one chain. From then on, the page must keep the card, which shows the result. */
  onBegin?(): void;
  /** Called for a decision about all chains. The page shows the dialog, because the card may disappear. */
  onAsk(asked: AskedOfCause): void;
  onDone(): void;
}

export function CauseCard({ cause, isOpen, onAsk, ...sample }: CauseProps) {
  const { companyId } = useCompany();
  const { causeId, chains, endedAt } = cause;
  const isMany = chains > 1;
  const title = causeTitle(cause);
  return (
    <section class={`card ${endedAt ? '' : 'wait'}`} aria-label={title}>
      <h2>{title}</h2>
      <Facts cause={cause} />
      <Sample cause={cause} title={title} isOpen={isOpen} {...sample} />
      <p class="row">
        {isMany &&
          may('steer') &&
          causeVerbs.map((verb) => (
            <Button key={verb} onClick={() => onAsk({ verb, causeId })}>
              {verbWords[verb]} all {chains} chains…
            </Button>
          ))}
        {isMany && <a href={pageOf.cause(companyId, causeId)}>Show all actions</a>}
      </p>
      {!endedAt && <Owner cause={cause} onDone={sample.onDone} />}
    </section>
  );
}

/** @returns a function for `onAsk`, and the dialog for all chains of the cause. @param onClose - called after the dialog closes */
export function useCauseDialog(onClose: () => void) {
  const asked = useSignal<AskedOfCause | undefined>(undefined);
  const close = () => {
    asked.value = undefined;
    onClose();
  };
  const { verb, causeId } = asked.value ?? {};
  const dialog = verb && <BulkDialog verb={verb} filter={{ causeId }} onClose={close} />;
  return [(next: AskedOfCause) => (asked.value = next), dialog] as const;
}

function Facts({ cause: { chains, assignments, relayIds, since, lastAt, endedAt } }: { cause: CauseResource }) {
  const company = useCompany();
  const rules = `${relayIds.length > 1 ? 'rules' : 'rule'} ${relayIds.map((id) => ruleName(company, id)).join(', ')}`;
  return (
    <p class="soft">
      {endedAt ? 'Solved ' : `${assignments > 0 ? counted(assignments, 'assignment') : counted(chains, 'chain')} of ${rules}`}
      {endedAt && <Time at={endedAt} distance />}, {endedAt ? 'first seen' : 'since'} <Time at={since} distance />
      {chains > 1 && <Time before=", most recently at " at={lastAt} distance />}
    </p>
  );
}

/** The chain to try first: the chain of the user's last decision, if there is one, or the chain that waits longest. */
function Sample({ cause, title, isOpen, onBegin, onDone }: Omit<CauseProps, 'onAsk'> & { title: string }) {
  const { companyId } = useCompany();
  const { chains, chainId } = cause;
  const isLookedInto = useSignal(isOpen);
  const begun = useSignal<{ chainId: string; index: number; isTried: boolean } | undefined>(undefined);
  const shown = begun.value?.chainId ?? chainId;
  const sample = useResource<ChainResource>(isLookedInto.value && shown ? path`/co/${companyId}/chains/${shown}` : undefined);
  if (!shown || !isLookedInto.value)
    return (
      <>
        <Failure of={{ ...cause, type: cause.reason }} under={title} />
        {chainId && (
          <p>
            <Button onClick={() => (isLookedInto.value = true)}>
              Show an example<span class="unseen">: {title}</span>
            </Button>
          </p>
        )}
      </>
    );
  const isTried = begun.value?.isTried ?? false;
  const isShown = ({ index, state, error }: ActionResource) =>
    begun.value ? index === begun.value.index : state === 'needs-attention' && (!error || error.type === cause.reason);
  return (
    <Known of={sample}>
      {(chain) => {
        const action = actionOfCause(cause, chain.actions.filter(isShown));
        return (
          <div class="sample">
            <p>
              {isTried ? 'Tried: ' : chains > 1 && 'Waiting longest: '}
              <a href={pageOf.chain(companyId, shown)}>{action ? deedOf(action) : `chain ${shown.slice(0, 8)}`}</a>
              {action?.assignmentId && ', for assignment '}
              {action?.assignmentId && <a href={pageOf.assignment(companyId, action.assignmentId)}>{action.assignmentId}</a>}
            </p>
            {isTried && action && (
              <p role="status">
                The state of the action is now <State of={action.state} result={action.result} />
                {action.attempts ? ` after ${counted(action.attempts, 'attempt')}` : ''}.
              </p>
            )}
            {!(action && hasEnded(action.state)) && (
              <Failure
                of={action?.error ? { ...action.error, assignmentId: action.assignmentId } : { ...cause, type: cause.reason }}
                under={title}
              />
            )}
            {action?.error?.unknown && !hasEnded(action.state) && <UnknownNote />}
            {!action && <p class="soft">No action of this chain is held for this reason any more.</p>}
            {action && (
              <Verbs
                chain={chain}
                action={action}
                only={causeVerbs}
                which={chains > 1 ? ' this one' : ''}
                onBegin={() => {
                  begun.value = { chainId: shown, index: action.index, isTried };
                  onBegin?.();
                }}
                onDone={() => {
                  begun.value = begun.value && { ...begun.value, isTried: true };
                  sample.refresh();
                  onDone();
                }}
              />
            )}
            {begun.value && chainId && chainId !== begun.value.chainId && (
              <p>
                <Button onClick={() => (begun.value = undefined)}>Show the chain that waits longest</Button>
              </p>
            )}
          </div>
        );
      }}
    </Known>
  );
}

/** Shows who works on the cause, and until when its notices are muted. */
function Owner({ cause, onDone }: { cause: CauseResource; onDone(): void }) {
  const { companyId } = useCompany();
  const { causeId, takenBy, takenAt, silencedBy, silencedUntil } = cause;
  const deed = useDeed();
  const change = async ({ what, words, body }: { what: string; words: string; body?: object }) => {
    if (await deed.run(() => ask('POST', path`/co/${companyId}/causes/${causeId}/${what}`, body), words)) onDone();
  };
  const isSilent = silencedUntil !== undefined && Date.parse(silencedUntil) > Date.now();
  const taking = takenBy
    ? { what: 'release', button: 'Stop working on this problem', words: 'Nobody is working on this problem now.' }
    : { what: 'take', button: 'I am working on this problem', words: 'Other people now see your name here.' };
  const silencing = isSilent
    ? { what: 'silence', button: 'Unmute notices', words: 'Notices are not muted any more.', body: { seconds: 0 } }
    : { what: 'silence', button: 'Mute notices for 1 hour', words: 'Notices are muted for 1 hour.', body: { seconds: 3600 } };
  return (
    <>
      <ProblemNote refused={deed.refused} />
      <p class="row small">
        <span class="soft">
          {takenBy ? `${takenBy} is working on this problem` : 'Nobody is working on this problem'}
          {takenBy && <Time before=", since " at={takenAt} />}.{' '}
          {isSilent && (
            <>
              {silencedBy} muted the notices until <Time at={silencedUntil} />.
            </>
          )}
        </span>
        {may('steer') &&
          [taking, silencing].map(({ button, ...deed }) => (
            <Button key={button} onClick={() => void change(deed)}>
              {button}
            </Button>
          ))}
      </p>
    </>
  );
}
