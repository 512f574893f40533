/** Deciding: the verbs of one action, of chosen chains, and of all that a filter finds, counted before they are confirmed. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { z } from 'zod';
import type { Correction } from '../chain/correct.js';
import type { BulkVerb } from '../chain/outcome.js';
import type { ActionResource, Bulk, bulkPreviewSchema, ChainResource, ListedChain } from '../contract/chain-resource.js';
import { pageOf, path } from './addresses.js';
import { ask, Refused } from './api.js';
import { announce } from './frame.js';
import { MendDialog } from './mend.js';
import { Choice, Confirm, Dialog, Entry, Field, NotReady, ProblemNote, State, Time, useDeed } from './parts.js';
import { often, useResource } from './resource.js';
import { may, useCompany } from './session.js';
import { actionsFor, type ManyVerb, type OfferedVerb, offeredVerbs, verbsFor } from './verbs.js';
import { aboutChain, counted, stateWords, titleOf, verbMeanings, verbWords } from './words.js';

function steer(companyId: string, chainId: string, index: number, verb: OfferedVerb, body?: object): Promise<void> {
  return ask('POST', path`/co/${companyId}/chains/${chainId}/actions/${String(index)}/${verb}`, body);
}

interface VerbsProps {
  chain: ChainResource;
  action: ActionResource;
  /** The verbs offered here; default: all that make sense. */
  only?: readonly OfferedVerb[];
  /** Behind each verb, where several are meant nearby: ` this one`. */
  which?: string;
  /** Called when somebody begins to decide. */
  onBegin?(): void;
  /** Called when something was decided. */
  onDone(): void;
}

/** The buttons beside an action. What cannot be taken back is asked about first. */
export function Verbs({ chain, action, only = offeredVerbs, which = '', onBegin, onDone }: VerbsProps) {
  const { companyId } = useCompany();
  const asked = useSignal<OfferedVerb | undefined>(undefined);
  const deed = useDeed();
  const verbs = may('steer') ? verbsFor(chain, action.state).filter((verb) => only.includes(verb)) : [];
  const group = useRef<HTMLFieldSetElement>(null);
  const hasDecided = useSignal(false);
  /** The button that was used may soon be gone: the focus stays where it was. */
  const decided = () => {
    hasDecided.value = true;
    setTimeout(() => group.current?.focus());
    onDone();
  };
  const done = async (verb: OfferedVerb, body?: object) => {
    const words = `${verbWords[verb]} of action ${action.index} has been passed on.`;
    if (!(await deed.run(() => steer(companyId, chain.chainId, action.index, verb, body), words))) return;
    asked.value = undefined;
    decided();
  };
  const choose = (verb: OfferedVerb) => {
    onBegin?.();
    if (verb === 'retry' || verb === 'runNow') void done(verb);
    else asked.value = verb;
  };
  const close = () => {
    asked.value = undefined;
  };
  const confirm = { busy: deed.busy, refused: deed.refused, onClose: close };
  if (verbs.length === 0 && !hasDecided.value && !asked.value) return null;
  const { by } = action.steered?.at(-1) ?? {};
  const meanwhile = asked.value && !verbs.includes(asked.value) && (
    <p class="note wait" role="status">
      Meanwhile it is {stateWords(action.state)}
      {by && `: the last to decide was ${by}`}. What you have written stays here until you go back.
    </p>
  );
  return (
    <fieldset ref={group} class="verbs" tabIndex={-1} aria-label={`Decide about ${titleOf(action)}`}>
      {verbs.length > 0 && (
        <p class="row">
          {verbs.map((verb) => (
            <button
              key={verb}
              type="button"
              class={verb === 'retry' ? 'main' : ''}
              aria-disabled={deed.busy}
              onClick={() => choose(verb)}
            >
              {verbWords[verb]}
              {which}
              {(verb === 'mend' || verb === 'reschedule') && '…'}
              <span class="unseen"> action {titleOf(action)}</span>
            </button>
          ))}
        </p>
      )}
      {!asked.value && <ProblemNote refused={deed.refused} />}
      {asked.value === 'skip' && (
        <Confirm {...confirm} title={`Skip ${titleOf(action)}?`} verb="Skip it" onConfirm={() => void done('skip')}>
          {meanwhile}
          <p>It will not be done. What stands behind it goes on.</p>
        </Confirm>
      )}
      {asked.value === 'cancel' && (
        <Confirm {...confirm} title={`Cancel ${titleOf(action)}?`} verb="Cancel it" danger onConfirm={() => void done('cancel')}>
          {meanwhile}
          <p>It will not be done, and that cannot be taken back. An effect under way is awaited first.</p>
        </Confirm>
      )}
      {asked.value === 'mend' && (
        <MendDialog
          chain={chain}
          action={action}
          onClose={close}
          onDone={() => {
            close();
            decided();
          }}
        >
          {meanwhile}
        </MendDialog>
      )}
      {asked.value === 'reschedule' && (
        <Move {...confirm} title={`Move ${titleOf(action)}`} onMove={(seconds) => void done('reschedule', { seconds })} />
      )}
    </fieldset>
  );
}

interface MoveProps {
  title: string;
  busy: boolean;
  refused: Refused | undefined;
  onClose(): void;
  onMove(seconds: number): void;
}

function Move({ onMove, ...dialog }: MoveProps) {
  const minutes = useSignal('30');
  return (
    <Confirm {...dialog} verb="Move it" onConfirm={() => onMove(Math.round(Number(minutes.value) * 60))}>
      <Field label="Minutes from now" hint="This action alone is moved.">
        {(ids) => (
          <input
            {...ids}
            type="number"
            min="0"
            max="527040"
            step="any"
            required
            value={minutes.value}
            onInput={(event) => (minutes.value = event.currentTarget.value)}
          />
        )}
      </Field>
    </Confirm>
  );
}

/** What the API's bulk takes; without `companyId`, which is in the path. */
export interface BulkFilter {
  causeId?: string;
  status?: 'running' | 'needs-attention' | 'failed';
  assignmentId?: string;
  relayId?: string;
  reason?: string;
  since?: string;
  until?: string;
}

type Preview = z.infer<typeof bulkPreviewSchema>;

interface BulkProps {
  verb: BulkVerb;
  filter: BulkFilter;
  onClose(): void;
}

/** All that a filter finds: counted, shown, confirmed, then watched. */
export function BulkDialog(props: BulkProps) {
  const correction = useSignal<Correction | undefined>(undefined);
  if (props.verb === 'mend' && !correction.value)
    return <CorrectionDialog onClose={props.onClose} onGiven={(given) => (correction.value = given)} />;
  return <CountedDialog {...props} correction={correction.value} />;
}

const ways = {
  replace: 'replace a text by another',
  default: 'put in a text where it is blank',
  trim: 'remove spaces at its ends',
};

function CorrectionDialog({ onClose, onGiven }: { onClose(): void; onGiven(correction: Correction): void }) {
  const [field, way, from, to] = [useSignal(''), useSignal<string>('replace'), useSignal(''), useSignal('')];
  const given = () => {
    const by = { replace: { from: from.value, to: to.value }, default: to.value, trim: true };
    onGiven({ field: field.value.trim(), [way.value]: by[way.value as keyof typeof by] });
  };
  return (
    <Confirm
      title="Mend many"
      verb="Show what becomes of each"
      busy={false}
      refused={undefined}
      onClose={onClose}
      onConfirm={given}
    >
      <Entry label="Field" hint="By its name in the request, such as cfValue." of={field} required maxLength={100} />
      <Choice label="What is done to it" of={way} options={Object.entries(ways)} />
      {way.value === 'replace' && <Entry label="Replace" of={from} required maxLength={1000} />}
      {way.value !== 'trim' && <Entry label="By" of={to} required={way.value === 'default'} maxLength={1000} />}
    </Confirm>
  );
}

function CountedDialog({ verb, filter, correction, onClose }: BulkProps & { correction: Correction | undefined }) {
  const { companyId } = useCompany();
  const [preview, bulk] = [useSignal<Preview | undefined>(undefined), useSignal<Bulk | undefined>(undefined)];
  const deed = useDeed();
  const bulkPath = path`/co/${companyId}/chains/bulk`;
  const count = () => ask<Preview>('POST', bulkPath, { verb, filter, correction }).then((counted) => (preview.value = counted));
  useEffect(() => void deed.run(count), []);
  const confirmed = async () => {
    const { count: confirm = 0 } = preview.value ?? {};
    await deed.run(async () => {
      try {
        bulk.value = await ask<Bulk>('POST', bulkPath, { verb, filter, correction, confirm });
      } catch (error) {
        if (error instanceof Refused && error.is('count-changed')) await count();
        throw error;
      }
    });
  };
  if (bulk.value) return <BulkProgress bulk={bulk.value} onClose={onClose} />;
  const found = preview.value;
  const title = found ? `${verbWords[verb]} ${counted(found.count, 'chain')}?` : `${verbWords[verb]} many chains`;
  const dialog = { title, busy: deed.busy, refused: deed.refused, onClose };
  if (!found || found.count === 0) return <NotReady {...dialog}>{found ? 'There is none any more.' : 'Counting…'}</NotReady>;
  return (
    <Confirm
      {...dialog}
      verb={`${verbWords[verb]} ${counted(found.count, 'chain')}`}
      danger={verb === 'cancel'}
      onConfirm={() => void confirmed()}
    >
      <p>{verbMeanings[verb]}</p>
      {found.mends ? <MendLines field={correction?.field} mends={found.mends} /> : <ChainLines chains={found.first} />}
      {found.count > found.first.length && <p class="soft">and {found.count - found.first.length} more</p>}
    </Confirm>
  );
}

interface MendLinesProps {
  field: string | undefined;
  mends: NonNullable<Preview['mends']>;
}

function MendLines({ field, mends }: MendLinesProps) {
  const text = (value: unknown) => (typeof value === 'string' ? `"${value}"` : JSON.stringify(value));
  return (
    <ul class="plain">
      {mends.map(({ chainId, index, before, after, problem }) => (
        <li key={`${chainId} ${index}`}>
          <span class="soft small">
            {chainId.slice(0, 8)}, action {index}: <code>{field}</code>
          </span>{' '}
          {before !== undefined && <del>{text(before)}</del>}{' '}
          {after !== undefined && (
            <>
              becomes <ins>{text(after)}</ins>
            </>
          )}
          {after === undefined && !problem && <span class="soft">stays as it is, and is left alone</span>}
          {problem && <span class="error">{problem}</span>}
        </li>
      ))}
    </ul>
  );
}

function ChainLines({ chains }: { chains: readonly ListedChain[] }) {
  const { companyId } = useCompany();
  return (
    <ul class="plain">
      {chains.map((chain) => (
        <li key={chain.chainId}>
          <State of={chain.status} /> <a href={pageOf.chain(companyId, chain.chainId)}>{aboutChain(chain)}</a>{' '}
          <span class="soft small">
            <Time at={chain.receivedAt} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function BulkProgress({ bulk: begun, onClose }: { bulk: Bulk; onClose(): void }) {
  const { companyId } = useCompany();
  const asking = useResource<Bulk>(path`/co/${companyId}/chains/bulk/${begun.bulkId}`, often);
  const bulk = asking.data.value ?? begun;
  const { progress, status, count, verb, links } = bulk;
  const isOver = status !== 'running';
  useEffect(() => {
    if (isOver) announce(`${verbWords[verb]}: ${status}.`);
  }, [isOver]);
  return (
    <Dialog title={`${verbWords[verb]}: ${isOver ? status : 'under way'}`} onClose={onClose}>
      <p>
        <progress max={count} value={isOver ? count : (progress?.done ?? 0)} aria-label="Chains looked at" />
      </p>
      <p>
        {progress ? `${progress.done} of ${counted(count, 'chain')} looked at` : `${counted(count, 'chain')}`}
        {progress && `; ${counted(progress.actions, 'action')} passed on`}
        {progress && progress.unchanged > 0 && `; in ${progress.unchanged} there was nothing to do any more`}
        {progress && progress.failed > 0 && `; ${progress.failed} did not answer`}.
      </p>
      {progress?.failures.map(({ workflowId, error }) => (
        <p key={workflowId} class="note bad">
          {workflowId}: {error}
        </p>
      ))}
      <ProblemNote refused={asking.refused.value} />
      {!isOver && <p class="soft">It goes on also if you leave this page.</p>}
      <p class="row">
        <button type="button" class="main" onClick={onClose}>
          {isOver ? 'Done' : 'Leave it running'}
        </button>
        {links.webUi && (
          <a href={links.webUi} target="_blank" rel="noreferrer">
            In Temporal
          </a>
        )}
      </p>
    </Dialog>
  );
}

interface Chosen {
  chain: ChainResource;
  actions: ActionResource[];
}

interface ChosenProps {
  verb: ManyVerb;
  chainIds: readonly string[];
  /** Called when it is confirmed. */
  onDecided(): void;
  onClose(): void;
}

/** Chains that were chosen one by one: looked at and counted, then steered one after the other. */
export function ChosenDialog({ verb, chainIds, onDecided, onClose }: ChosenProps) {
  const { companyId } = useCompany();
  const chosen = useSignal<Chosen[] | undefined>(undefined);
  const [done, failures] = [useSignal(0), useSignal<string[] | undefined>(undefined)];
  const deed = useDeed();
  useEffect(() => {
    void deed.run(async () => {
      const looked: Chosen[] = [];
      for (const chainId of chainIds) {
        const chain = await ask<ChainResource>('GET', path`/co/${companyId}/chains/${chainId}`);
        looked.push({ chain, actions: actionsFor(verb, chain) });
      }
      chosen.value = looked.filter(({ actions }) => actions.length > 0);
    });
  }, []);
  const found = chosen.value;
  const actions = found?.reduce((sum, { actions }) => sum + actions.length, 0) ?? 0;
  const said = `${counted(found?.length ?? 0, 'chain')} (${counted(actions, 'action')})`;
  const confirmed = async () => {
    onDecided();
    const failed: string[] = [];
    for (const { chain, actions } of found ?? []) {
      const { chainId } = chain;
      try {
        if (verb === 'cancel') await ask('POST', path`/co/${companyId}/chains/${chainId}/cancel`);
        else for (const { index } of actions) await steer(companyId, chainId, index, verb);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        failed.push(`${chainId}: ${error.message}`);
      }
      done.value += 1;
    }
    failures.value = failed;
    announce(`${verbWords[verb]}: passed on to ${counted(done.value - failed.length, 'chain')}.`);
  };
  if (failures.value)
    return (
      <Dialog title={`${verbWords[verb]}: passed on`} onClose={onClose}>
        <p>To {counted(done.value - failures.value.length, 'chain')}.</p>
        {failures.value.map((failure) => (
          <p key={failure} class="note bad">
            {failure}
          </p>
        ))}
        <p class="row">
          <button type="button" class="main" onClick={onClose}>
            Done
          </button>
        </p>
      </Dialog>
    );
  const dialog = { busy: deed.busy, refused: deed.refused, onClose };
  if (!found || found.length === 0)
    return (
      <NotReady {...dialog} title={`${verbWords[verb]} chosen chains`}>
        {found ? 'None of them has anything that this could be done with.' : 'Looking at each of them…'}
      </NotReady>
    );
  const isUnderWay = done.value > 0;
  return (
    <Confirm
      {...dialog}
      title={`${verbWords[verb]} ${said}?`}
      verb={isUnderWay ? `${done.value} of ${found.length}…` : `${verbWords[verb]} ${counted(found.length, 'chain')}`}
      danger={verb === 'cancel'}
      onConfirm={() => void deed.run(confirmed)}
    >
      <p>{verbMeanings[verb]}</p>
      <ul class="plain">
        {found.slice(0, 10).map(({ chain, actions }) => (
          <li key={chain.chainId}>
            <State of={chain.status} /> {actions.map(titleOf).join(', ')} <span class="soft small">{chain.chainId}</span>
          </li>
        ))}
      </ul>
      {found.length > 10 && <p class="soft">and {found.length - 10} more</p>}
    </Confirm>
  );
}
