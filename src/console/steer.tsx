/** Buttons to decide about one action, and dialogs for many chains. A dialog first shows how many chains the decision affects. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { z } from 'zod';
import { type BulkVerb, type SteeringVerb, steeringVerbs, verbsFor } from '../chain/allowed-verbs.js';
import type { Correction } from '../chain/correct.js';
import type { ActionResource, Bulk, bulkPreviewSchema, ChainResource, ListedChain } from '../contract/chain-resource.js';
import { pageOf, path } from './addresses.js';
import { ask, Refused } from './api.js';
import { announce } from './frame.js';
import { MendDialog } from './mend.js';
import { often, useResource } from './resource.js';
import { may, useCompany } from './session.js';
import { Button, useDeed } from './ui/buttons.js';
import { Confirm, type ConfirmProps, Dialog, NotReady } from './ui/dialog.js';
import { Choice, Entry } from './ui/fields.js';
import { ProblemNote } from './ui/known.js';
import { Said, State, Time } from './ui/text.js';
import { aboutChain, counted, helpFor, progressWords, stateWords, titleOf, verbMeanings, verbWords } from './words.js';

function steer(companyId: string, chainId: string, index: number, verb: SteeringVerb, body?: object): Promise<void> {
  return ask('POST', path`/co/${companyId}/chains/${chainId}/actions/${String(index)}/${verb}`, body);
}

interface VerbsProps {
  chain: ChainResource;
  action: ActionResource;
  /** The verbs that can have a button here. By default, all verbs. */
  only?: readonly SteeringVerb[];
  /** A text at the end of each button, such as ` this one`, if other buttons beside it steer several chains. */
  which?: string;
  /** Called when a button is pressed. */
  onBegin?(): void;
  /** Called after a decision. */
  onDone(): void;
}

/** The buttons of an action. Retry and Run now act immediately. The other buttons first open a dialog. */
export function Verbs({ chain, action, only = steeringVerbs, which = '', onBegin, onDone }: VerbsProps) {
  const { companyId } = useCompany();
  const asked = useSignal<SteeringVerb | undefined>(undefined);
  const deed = useDeed();
  const verbs = may('steer') ? verbsFor(chain, action).filter((verb) => only.includes(verb)) : [];
  const group = useRef<HTMLFieldSetElement>(null);
  const hasDecided = useSignal(false);
  /** The pressed button may disappear, so the group of buttons takes the focus. */
  const decided = () => {
    hasDecided.value = true;
    setTimeout(() => group.current?.focus());
    onDone();
  };
  const done = async (verb: SteeringVerb, body?: object) => {
    const words = `${verbWords[verb]} was requested for action ${action.index}.`;
    if (!(await deed.run(() => steer(companyId, chain.chainId, action.index, verb, body), words))) return;
    asked.value = undefined;
    decided();
  };
  const choose = (verb: SteeringVerb) => {
    onBegin?.();
    if (verb === 'retry' || verb === 'runNow') void done(verb);
    else asked.value = verb;
  };
  const close = () => (asked.value = undefined);
  const confirm = { busy: deed.busy, refused: deed.refused, onClose: close };
  if (verbs.length === 0 && !hasDecided.value && !asked.value) return null;
  const { by } = action.steered?.at(-1) ?? {};
  const help = helpFor(action.error && { ...action.error, assignmentId: action.assignmentId });
  const isSettings = help?.by === 'settings';
  const best = isSettings ? undefined : help?.by;
  const meanwhile = asked.value && !verbs.includes(asked.value) && (
    <p class="note wait" role="status">
      The action is now {stateWords(action.state)}
      {by && `, after a decision of ${by}`}. Your input stays here until you choose Back.
    </p>
  );
  return (
    <fieldset ref={group} class="verbs" tabIndex={-1} aria-label={`Decisions about action ${titleOf(action)}`}>
      {verbs.length > 0 && (
        <p class="row">
          {isSettings && may('manage') && action.state === 'needs-attention' && (
            <a class="button main" href={pageOf.settings(companyId)}>
              {help.words}
            </a>
          )}
          {[...verbs]
            .sort((one, other) => Number(other === best) - Number(one === best))
            .map((verb) => (
              <Button key={verb} class={verb === best ? 'main' : ''} aria-disabled={deed.busy} onClick={() => choose(verb)}>
                {verb === 'mend' && verb === best && help?.words ? `${help.words}${which && ' of'}` : verbWords[verb]}
                {which}
                {(verb === 'mend' || verb === 'reschedule') && '…'}
                <span class="unseen"> action {titleOf(action)}</span>
              </Button>
            ))}
        </p>
      )}
      {!asked.value && <ProblemNote refused={deed.refused} />}
      {asked.value === 'skip' && (
        <Confirm {...confirm} title={`Skip ${titleOf(action)}?`} verb="Skip" onConfirm={() => void done('skip')}>
          {meanwhile}
          <p>This action will not run. The chain continues with the next action.</p>
        </Confirm>
      )}
      {asked.value === 'cancel' && (
        <Confirm
          {...confirm}
          title={`Cancel ${titleOf(action)}?`}
          verb="Cancel the action"
          danger
          onConfirm={() => void done('cancel')}
        >
          {meanwhile}
          <p>You cannot undo this. If the action is running now, the relay finishes it first.</p>
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
        <Reschedule
          {...confirm}
          title={`Reschedule ${titleOf(action)}`}
          onConfirm={(seconds) => void done('reschedule', { seconds })}
        />
      )}
    </fieldset>
  );
}

type RescheduleProps = Omit<ConfirmProps, 'verb' | 'children' | 'onConfirm'> & { onConfirm(seconds: number): void };

function Reschedule({ onConfirm, ...dialog }: RescheduleProps) {
  const minutes = useSignal('30');
  const limits = { type: 'number', min: '0', max: '527040', step: 'any', required: true } as const;
  return (
    <Confirm {...dialog} verb="Reschedule" onConfirm={() => onConfirm(Math.round(Number(minutes.value) * 60))}>
      <Entry label="Minutes from now" hint="Other actions keep their times." of={minutes} {...limits} />
    </Confirm>
  );
}

/** The filter of the API's bulk request. */
export interface BulkFilter {
  causeId?: string;
  chainIds?: string[];
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
  /** Called after the confirmation. */
  onDecided?(): void;
  onClose(): void;
}

/** Decides about all chains of a filter. Counts and lists the chains, asks for confirmation, then shows the progress. */
export function BulkDialog(props: BulkProps) {
  const correction = useSignal<Correction | undefined>(undefined);
  if (props.verb === 'mend' && !correction.value)
    return <CorrectionDialog onClose={props.onClose} onGiven={(given) => (correction.value = given)} />;
  return <CountedDialog {...props} correction={correction.value} />;
}

const ways = { replace: 'Replace text', default: 'Fill in the field if it is empty', trim: 'Remove spaces at the start and end' };

function CorrectionDialog({ onClose, onGiven }: { onClose(): void; onGiven(correction: Correction): void }) {
  const [field, way, from, to] = [useSignal(''), useSignal<string>('replace'), useSignal(''), useSignal('')];
  const given = () => {
    const by = { replace: { from: from.value, to: to.value }, default: to.value, trim: true };
    onGiven({ field: field.value.trim(), [way.value]: by[way.value as keyof typeof by] });
  };
  return (
    <Confirm title="Edit many actions" verb="Preview" busy={false} refused={undefined} onClose={onClose} onConfirm={given}>
      <Entry label="Field" hint="The name of the field in the request, such as cfValue." of={field} required maxLength={100} />
      <Choice label="Change" of={way} options={Object.entries(ways)} />
      {way.value === 'replace' && <Entry label="Old text" of={from} required maxLength={1000} />}
      {way.value !== 'trim' && <Entry label="New text" of={to} required={way.value === 'default'} maxLength={1000} />}
    </Confirm>
  );
}

function CountedDialog({ verb, filter, correction, onDecided, onClose }: BulkProps & { correction: Correction | undefined }) {
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
        onDecided?.();
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
  if (!found || found.count === 0)
    return <NotReady {...dialog}>{found ? 'Nothing is left to do.' : 'Counting chains…'}</NotReady>;
  return (
    <Confirm
      {...dialog}
      verb={`${verbWords[verb]} ${counted(found.count, 'chain')}`}
      danger={verb === 'cancel'}
      onConfirm={() => void confirmed()}
    >
      <p>{verbMeanings[verb]}</p>
      {found.mends ? <MendLines field={correction?.field} mends={found.mends} /> : <ChainLines chains={found.first} />}
      {found.count > found.first.length && <p class="soft">and {counted(found.count - found.first.length, 'more chain')}</p>}
    </Confirm>
  );
}

function MendLines({ field, mends }: { field: string | undefined; mends: NonNullable<Preview['mends']> }) {
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
              → <ins>{text(after)}</ins>
            </>
          )}
          {after === undefined && !problem && <span class="soft">The field stays the same, so the action is not retried.</span>}
          {problem && (
            <span class="error">
              <Said text={problem} />
            </span>
          )}
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
          <Time look="soft small" at={chain.receivedAt} />
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
    if (isOver) announce(`${verbWords[verb]}: ${status}. ${progressWords(bulk)}`);
  }, [isOver]);
  return (
    <Dialog title={`${verbWords[verb]}: ${status}`} onClose={onClose}>
      <p>
        <progress max={count} value={isOver ? count : (progress?.done ?? 0)} aria-label="Progress" />
      </p>
      <p>{progressWords(bulk)}</p>
      {progress?.failures.map(({ workflowId, error }) => (
        <p key={`${workflowId} ${error}`} class="note bad">
          {workflowId}: <Said text={error} />
        </p>
      ))}
      <ProblemNote refused={asking.refused.value} />
      {!isOver && <p class="soft">The relay continues if you close this dialog or leave the page.</p>}
      <p class="row">
        <Button class="main" onClick={onClose}>
          {isOver ? 'Done' : 'Close'}
        </Button>
        {links.webUi && (
          <a href={links.webUi} target="_blank" rel="noreferrer">
            Open in Temporal
          </a>
        )}
      </p>
    </Dialog>
  );
}
