/** Decides about all chains of a filter. Counts and lists the chains, asks for confirmation, then shows the progress. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { BulkVerb } from '../chain/allowed-verbs.js';
import type { Correction } from '../chain/correct.js';
import { fieldLabel, fieldWords } from '../chain/words.js';
import { announce, ask, co, often, pageOf, type Query, Refused, refreshAll, useCompany, useResource } from './base.js';
import type { Bulk, bulkPreviewSchema, ListedChain, z } from './types.js';
import { Button, Confirm, Dialog, NotReady, useDeed } from './ui/dialog.js';
import { Check, Choice, InTemporal, ProblemNote, Said, State, Time } from './ui/index.js';
import { bulkTitle, counted, labelled, namesOf, orderWords, progressWords, renamedWords, verbMeanings } from './words.js';

/** A decision about the chains with these ids, about all chains of a cause, or about all chains of a list. */
export type AskedOfChains = { verb: BulkVerb; filter: { causeId: string } | { chainIds: string[] } | Query };

type Preview = z.infer<typeof bulkPreviewSchema>;

/** `onDecided` is called after the confirmation. */
type BulkProps = AskedOfChains & { onDecided(): void; onClose(): void };

/** @returns a function that opens the dialog, and the dialog. @param onDecided - called when the user closes the dialog after the confirmation. */
export function useBulk(onDecided?: () => void) {
  const [asked, isDecided] = [useSignal<AskedOfChains | undefined>(undefined), useSignal(false)];
  const close = () => {
    if (isDecided.value) onDecided?.();
    [asked.value, isDecided.value] = [undefined, false];
  };
  const dialog = asked.value && <BulkDialog {...asked.value} onDecided={() => (isDecided.value = true)} onClose={close} />;
  return [(next: AskedOfChains) => (asked.value = next), dialog] as const;
}

function BulkDialog(props: BulkProps) {
  const correction = useSignal<Correction | undefined>(undefined);
  if (props.verb === 'mend' && !correction.value)
    return <CorrectionDialog onClose={props.onClose} onGiven={(given) => (correction.value = given)} />;
  return <CountedDialog {...props} correction={correction.value} />;
}

const ways = { replace: 'Replace text', default: 'Fill in the field if it is empty', trim: 'Remove spaces at the start and end' };

function CorrectionDialog({ onClose, onGiven }: { onClose(): void; onGiven(correction: Correction): void }) {
  const way = useSignal<string>('replace');
  const [isReplace, isTrim] = [way.value === 'replace', way.value === 'trim'];
  const field = useSignal('platformAssignmentId');
  const isAssignment = field.value === 'platformAssignmentId';
  const given = ({ from = '', to = '', areAll }: Record<string, string>) => {
    const change = isReplace ? { replace: { from, to } } : isTrim ? { trim: true } : { default: to };
    onGiven({ field: field.value, ...change, ...(isAssignment && areAll && { texts: true }) });
  };
  const shared = { maxLength: 1000, autocomplete: 'off' } as const;
  const fields = {
    ...(isReplace && { from: { label: 'Old text', required: true, ...shared } }),
    ...(!isTrim && { to: { label: 'New text', required: !isReplace, ...shared } }),
  };
  return (
    <Confirm title="Edit many steps" verb="Preview" fields={fields} onClose={onClose} onConfirm={given}>
      <Choice label="Field" of={field} options={Object.entries(fieldWords).filter(([name]) => name !== 'incomingValue')} />
      <Choice label="Change" of={way} options={Object.entries(ways)} />
      {isAssignment && (
        <Check name="areAll" defaultChecked>
          Change the assignment number in all steps of each chain, also in the texts of the e-mails.
        </Check>
      )}
    </Confirm>
  );
}

function CountedDialog({ verb, filter, correction, onDecided, onClose }: BulkProps & { correction: Correction | undefined }) {
  const [preview, bulk] = [useSignal<Preview | undefined>(undefined), useSignal<Bulk | undefined>(undefined)];
  const deed = useDeed();
  const order = <Answer,>(confirm?: number) => ask<Answer>('POST', co`/chains/bulk`, { verb, filter, correction, confirm });
  const load = async () => (preview.value = await order<Preview>());
  useEffect(() => void deed.run(load), []);
  const confirmed = () =>
    deed.run(async () => {
      try {
        bulk.value = await order<Bulk>(preview.value?.count ?? 0);
        onDecided();
      } catch (error) {
        if (error instanceof Refused && error.is('count-changed')) await load();
        throw error;
      }
    }, '');
  if (bulk.value) return <BulkProgress bulk={bulk.value} onClose={onClose} />;
  const { count: found, first = [], mends } = preview.value ?? {};
  const shown = mends?.filter(({ after, problem }) => after !== undefined || problem);
  const edited = found === first.length ? shown?.filter(({ problem }) => !problem) : undefined;
  const count = edited ? new Set(edited.map(({ chainId }) => chainId)).size : found;
  const named = orderWords(verb, count === undefined ? 'many chains' : counted(count, 'chain'));
  const dialog = { title: count ? `${named}?` : named, ...deed, onClose };
  const nothing = found === 0 ? 'No step of these chains needs this decision now.' : 'Your edit changes no step. Check it.';
  if (!found || edited?.length === 0) return <NotReady {...dialog}>{preview.value ? nothing : 'Counting chains…'}</NotReady>;
  const same = (mends?.length ?? 0) - (shown?.length ?? 0);
  return (
    <Confirm {...dialog} verb={named} danger={verb === 'cancel'} onConfirm={() => void confirmed()}>
      <p>{verbMeanings[verb]}</p>
      <ul class="plain">
        {shown?.map((mend) => (
          <MendLine key={`${mend.chainId} ${mend.index}`} field={correction?.field} mend={mend} first={first} />
        )) ?? first.map((chain) => <ChainLine key={chain.chainId} chain={chain} />)}
      </ul>
      {same > 0 && <p class="soft">Not retried, because your edit does not change them: {counted(same, 'more step')}.</p>}
      {found > first.length && <p class="soft">and {counted(found - first.length, 'more chain')}</p>}
    </Confirm>
  );
}

type MendLineProps = { field: string | undefined; mend: NonNullable<Preview['mends']>[number]; first: readonly ListedChain[] };

function MendLine({ field, mend: { chainId, index, before, after, problem, ...names }, first }: MendLineProps) {
  const chain = first.find((one) => one.chainId === chainId);
  const { also, fixed } = renamedWords(names.sameAssignment ?? [], names.naming ?? []);
  const text = (value: unknown) => (typeof value === 'string' ? `"${value}"` : JSON.stringify(value));
  return (
    <li>
      <span class="soft small">
        {chain ? namesOf(chain) : chainId.slice(0, 8)}. Change in step {index + 1}
        {field && `, “${fieldLabel(field)}”`}:
      </span>{' '}
      {before !== undefined && <del>{text(before)}</del>} {after !== undefined && ['→ ', <ins>{text(after)}</ins>]}
      {also && <p class="soft small">The relay also writes the new number in: {also}.</p>}
      {fixed && <p class="note wait">The old assignment number stays in: {fixed}.</p>}
      {problem && <Said look="error" text={problem} />}
    </li>
  );
}

function ChainLine({ chain: { status, chainId, receivedAt, relayIds, ...chain } }: { chain: ListedChain }) {
  const { ruleName } = useCompany();
  return (
    <li>
      <State of={status} /> <a href={pageOf.chain(chainId)}>{namesOf({ chainId, ...chain })}</a>,{' '}
      {relayIds.map((relayId) => ruleName(relayId)).join(', ')} <Time look="soft small" at={receivedAt} />
    </li>
  );
}

function BulkProgress({ bulk: begun, onClose }: { bulk: Bulk; onClose(): void }) {
  const asking = useResource<Bulk>(co`/chains/bulk/${begun.bulkId}`, often);
  const bulk = asking.data.value ?? begun;
  const { progress, status, count, links } = bulk;
  const [isOver, title] = [status !== 'running', bulkTitle(bulk)];
  useEffect(() => {
    if (!isOver) return;
    announce(`${title}. ${progressWords(bulk)}`);
    refreshAll();
  }, [isOver]);
  return (
    <Dialog title={title} onClose={onClose}>
      <progress max={count} value={isOver ? count : (progress?.done ?? 0)} aria-label="Progress" />
      <p>{progressWords(bulk)}</p>
      {progress?.failures.map(({ workflowId, error }) => (
        <p key={`${workflowId} ${error}`} class="note bad">
          <a href={pageOf.chain(workflowId.split(':')[2] ?? '')}>Open the chain</a>: <Said text={labelled(error)} />
        </p>
      ))}
      <ProblemNote refused={asking.refused.value} />
      {!isOver && <p class="soft">The relay continues even if you close this dialog or leave the page.</p>}
      <p class="row">
        <Button {...{ class: 'main', onClick: onClose }}>{isOver ? 'Done' : 'Close'}</Button>
        <InTemporal at={links.webUi} />
      </p>
    </Dialog>
  );
}
