/** A filtered list of chains. People decide about the selected chains, or about all that match the filter in the address. */

import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { type BulkVerb, bulkVerbsFor } from '../../chain/allowed-verbs.js';
import { chainStatuses } from '../../chain/outcome.js';
import type { ChainList, ListedChain } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
import { ExportLinks } from '../export.js';
import { announce, Page } from '../frame.js';
import { Button, Entry, fieldsOf, Known, Select, State, Table, Time, UpToDate } from '../parts.js';
import { useResource } from '../resource.js';
import { may, ruleName, useCompany } from '../session.js';
import { BulkDialog, type BulkFilter } from '../steer.js';
import { pauseWords, sinceTime, timeText } from '../when.js';
import { aboutChain, counted, failureTypes, failureWords, stateWords, verbWords } from '../words.js';

const fields = ['status', 'assignmentId', 'relayId', 'reason', 'since', 'until', 'paused'] as const;
type Filter = Partial<Record<(typeof fields)[number], string>>;

const sinces = { '1h': 'the last hour', '24h': 'the last day', '7d': 'the last 7 days' };

export function ChainsPage() {
  const { query } = useLocation();
  const filter: Filter = Object.fromEntries(fields.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
  // When the filter changes, the new key clears the selection.
  return <Chains key={JSON.stringify(filter)} filter={filter} />;
}

function Chains({ filter }: { filter: Filter }) {
  const { companyId, timeZone } = useCompany();
  const { query: address, route } = useLocation();
  const { cursor } = address;
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const dialog = useSignal<AskedOfChains | undefined>(undefined);
  const isDecided = useSignal(false);
  // Rounded to the minute, so that repeated requests have the same address. All pages of a list use the same time.
  const now = Date.parse(address.at ?? '') || Math.floor(Date.now() / 60_000) * 60_000;
  const since = filter.since && (sinceTime(filter.since, now) ?? filter.since);
  const asked: Filter = { ...filter, since };
  const chains = useResource<ChainList>(path`/co/${companyId}/chains` + query({ ...asked, limit: '25', cursor }));
  const next = chains.data.value?.nextCursor;
  const show = (next: Filter) => route(pageOf.chains(companyId, next));
  const closed = () => {
    dialog.value = undefined;
    if (isDecided.value) chosen.value = new Set();
    isDecided.value = false;
    chains.refresh();
  };
  const bulk = bulkFilterOf(asked);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <Page title="Chains" about={`Open chains come first, then closed chains. Times are in ${timeZone}.`}>
      <details open={isFiltered || matchMedia('(min-width: 40rem)').matches}>
        <summary>Filter</summary>
        <FilterForm filter={filter} onShow={show} />
      </details>
      <Known of={chains}>
        {({ items }) => (
          <>
            {items.length === 0 ? (
              <p class="card">
                {isFiltered || cursor ? (
                  'No chain matches this filter.'
                ) : (
                  <>
                    There are no chains yet. A chain starts when the platform's webhook sends an event.{' '}
                    {may('author') && <a href={pageOf.compose(companyId)}>Write a rule</a>}
                  </>
                )}
              </p>
            ) : (
              <ChainTable chains={items} chosen={chosen.value} onChoose={(next) => (chosen.value = next)} />
            )}
            {may('steer') && (
              <Decisions
                chosen={chosen.value}
                filter={items.length > 0 ? bulk : undefined}
                onAsk={(next) => (dialog.value = next)}
              />
            )}
          </>
        )}
      </Known>
      {(cursor || next) && (
        <nav aria-label="Pages of the list" class="row">
          {cursor && <a href={pageOf.chains(companyId, filter)}>First page</a>}
          {next && (
            <a href={pageOf.chains(companyId, { ...filter, at: since && new Date(now).toISOString(), cursor: next })}>More</a>
          )}
        </nav>
      )}
      <ExportLinks what="chains" filter={asked} />
      <UpToDate of={chains} />
      {dialog.value && <BulkDialog {...dialog.value} onDecided={() => (isDecided.value = true)} onClose={closed} />}
    </Page>
  );
}

/** The filter of a bulk request. Undefined if this status or `paused` makes decisions impossible. */
function bulkFilterOf({ status, paused, ...rest }: Filter): BulkFilter | undefined {
  if (paused || (status !== undefined && !isSteerable(status))) return undefined;
  return { ...rest, status };
}

const isSteerable = (status: string) => status === 'running' || status === 'needs-attention' || status === 'failed';

const withWords =
  <Value extends string>(wordsOf: (value: Value) => string) =>
  (value: Value) =>
    [value, wordsOf(value)] as const;

function FilterForm({ filter, onShow }: { filter: Filter; onShow(next: Filter): void }) {
  const company = useCompany();
  const { status = '', assignmentId = '', relayId = '', reason = '', since = '', until, paused } = filter;
  const submit = (event: Event) => onShow({ paused, until, ...fieldsOf(event) });
  // The address can contain a value that is not in the list.
  const relayIds = new Set([...company.rules.map((rule) => rule.relayId), ...(relayId ? [relayId] : [])]);
  const reasons = new Set([...failureTypes, ...(reason ? [reason] : [])]);
  const written = (time: string) => (sinceTime(time, 0) ? timeText(time, company.timeZone, Date.now()) : time);
  const times = { ...sinces, ...(since && !(since in sinces) && { [since]: `since ${written(since)}` }) };
  const dropped = (name: keyof Filter) => () => onShow({ ...filter, [name]: undefined });
  return (
    <form class="filter" onSubmit={submit}>
      <Select label="Status" name="status" options={[['', 'any'], ...chainStatuses.map(withWords(stateWords))]} first={status} />
      <Entry label="Assignment" name="assignmentId" defaultValue={assignmentId} autocomplete="off" />
      <Select
        label="Rule"
        name="relayId"
        options={[['', 'any'], ...[...relayIds].map(withWords((relayId) => ruleName(company, relayId)))]}
        first={relayId}
      />
      <Select label="Error" name="reason" options={[['', 'any'], ...[...reasons].map(withWords(failureWords))]} first={reason} />
      <Select label="Received" name="since" options={[['', 'any time'], ...Object.entries(times)]} first={since} />
      <p class="row">
        <button type="submit" class="main">
          Show
        </button>
        {until && <Button onClick={dropped('until')}>until {written(until)} ✕</Button>}
        {paused && <Button onClick={dropped('paused')}>paused ✕</Button>}
        {Object.keys(filter).length > 0 && <Button onClick={() => onShow({})}>Clear filter</Button>}
      </p>
    </form>
  );
}

interface TableProps {
  chains: readonly ListedChain[];
  chosen: ReadonlySet<string>;
  onChoose(chosen: ReadonlySet<string>): void;
}

function ChainTable({ chains, chosen, onChoose }: TableProps) {
  const company = useCompany();
  const { companyId } = company;
  const isChoosing = may('steer');
  const choose = (chainId: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(chainId);
    else next.delete(chainId);
    onChoose(next);
    announce(`${counted(next.size, 'chain')} selected`);
  };
  return (
    <Table
      caption="Chains"
      look="chains"
      columns={[...(isChoosing ? [<span class="unseen">Selected</span>] : []), 'Status', 'Summary', 'Rule', 'Received']}
    >
      {chains
        .map((chain) => ({ ...chain, about: aboutChain(chain) }))
        .map(({ chainId, about, status, relayIds, receivedAt, failureTypes = [], paused }) => (
          <tr key={chainId}>
            {isChoosing && (
              <td class="choice">
                <input
                  type="checkbox"
                  aria-label={`Select ${about}`}
                  checked={chosen.has(chainId)}
                  onChange={(event) => choose(chainId, event.currentTarget.checked)}
                />
              </td>
            )}
            <td class="tight">
              <State of={status} />
              {paused && <div class="soft small">{pauseWords(company.pauses, company.timeZone, Date.now())}</div>}
            </td>
            <td>
              <a href={pageOf.chain(companyId, chainId)}>{about}</a>
              {failureTypes.map((type) => (
                <div key={type} class="soft small">
                  {failureWords(type)}
                </div>
              ))}
            </td>
            <td>{relayIds.map((relayId) => ruleName(company, relayId)).join(', ')}</td>
            <td class="tight">
              <Time at={receivedAt} />
            </td>
          </tr>
        ))}
    </Table>
  );
}

type AskedOfChains = { verb: BulkVerb; filter: BulkFilter };

interface DecisionsProps {
  chosen: ReadonlySet<string>;
  filter: BulkFilter | undefined;
  onAsk(asked: AskedOfChains): void;
}

function Decisions({ chosen, filter, onAsk }: DecisionsProps) {
  if (chosen.size > 0)
    return (
      <section class="decisions row" aria-label="Decisions about the selected chains">
        <strong>{counted(chosen.size, 'chain')} selected:</strong>
        {(['retry', 'skip', 'cancel'] as const).map((verb) => (
          <Button key={verb} onClick={() => onAsk({ verb, filter: { chainIds: [...chosen] } })}>
            {verbWords[verb]}…
          </Button>
        ))}
      </section>
    );
  if (!filter) return null;
  return (
    <details class="decisions">
      <summary>Decide about all chains in this list</summary>
      <p class="row">
        {bulkVerbsFor(filter.status).map((verb) => (
          <Button key={verb} onClick={() => onAsk({ verb, filter })}>
            {verbWords[verb]} all chains…
          </Button>
        ))}
        <span class="soft small">You see the number of chains before you confirm.</span>
      </p>
    </details>
  );
}
