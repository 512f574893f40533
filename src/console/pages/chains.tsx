/** The chains that a filter finds. The filter is in the address; a selection, or all of it, becomes something that is decided at once. */

import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { type BulkVerb, chainStatuses } from '../../chain/outcome.js';
import type { ChainList, ListedChain } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
import { Options } from '../form.js';
import { announce, Page } from '../frame.js';
import { Field, fieldsOf, Known, State, Time, UpToDate } from '../parts.js';
import { useResource } from '../resource.js';
import { may, ruleName, useCompany } from '../session.js';
import { BulkDialog, type BulkFilter, ChosenDialog } from '../steer.js';
import type { ManyVerb } from '../verbs.js';
import { sinceTime } from '../when.js';
import { aboutChain, counted, failureTypes, failureWords, stateWords, verbWords } from '../words.js';

const fields = ['status', 'assignmentId', 'relayId', 'reason', 'since', 'until', 'paused'] as const;
type Filter = Partial<Record<(typeof fields)[number], string>>;

const sinces = { '1h': 'the last hour', '24h': 'the last day', '7d': 'the last 7 days' };

export function ChainsPage() {
  const { query } = useLocation();
  const filter: Filter = Object.fromEntries(fields.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
  // Another filter is another page: what was chosen of the one is not of the other.
  return <Chains key={JSON.stringify(filter)} filter={filter} />;
}

function Chains({ filter }: { filter: Filter }) {
  const { companyId, timeZone } = useCompany();
  const { query: address, route } = useLocation();
  const { cursor } = address;
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const dialog = useSignal<{ verb: BulkVerb; all: boolean } | undefined>(undefined);
  const isDecided = useSignal(false);
  // Full minutes, so that a look a second later is the same question. The parts of a list count from the same one.
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
    <Page title="Chains" about={`Open ones first, the newest first. Times are those of ${timeZone}.`}>
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
                  'No chain is like that.'
                ) : (
                  <>
                    There is no chain yet: they begin when a webhook of the platform sends one.{' '}
                    {may('steer') && <a href={pageOf.compose(companyId)}>Compose one</a>}
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
        <nav aria-label="Parts of the list" class="row">
          {cursor && <a href={pageOf.chains(companyId, filter)}>The first part</a>}
          {next && (
            <a href={pageOf.chains(companyId, { ...filter, at: since && new Date(now).toISOString(), cursor: next })}>More</a>
          )}
        </nav>
      )}
      <UpToDate of={chains} />
      {dialog.value?.all === true && bulk && <BulkDialog verb={dialog.value.verb} filter={bulk} onClose={closed} />}
      {dialog.value?.all === false && (
        <ChosenDialog
          verb={dialog.value.verb as ManyVerb}
          chainIds={[...chosen.value]}
          onDecided={() => (isDecided.value = true)}
          onClose={closed}
        />
      )}
    </Page>
  );
}

/** What the API's bulk makes of the filter of a list; undefined: what has ended otherwise cannot be steered. */
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
  // What is in the address can be chosen, whatever it is.
  const relayIds = new Set([...company.rules.map((rule) => rule.relayId), ...(relayId ? [relayId] : [])]);
  const reasons = new Set([...failureTypes, ...(reason ? [reason] : [])]);
  const times = { ...sinces, ...(since && !(since in sinces) && { [since]: `since ${since}` }) };
  const dropped = (name: keyof Filter) => () => onShow({ ...filter, [name]: undefined });
  return (
    <form class="filter" onSubmit={submit}>
      <Field label="Status">
        {(ids) => (
          <select {...ids} name="status">
            <Options of={[['', 'any'], ...chainStatuses.map(withWords(stateWords))]} first={status} />
          </select>
        )}
      </Field>
      <Field label="Assignment">
        {(ids) => <input {...ids} name="assignmentId" defaultValue={assignmentId} autocomplete="off" />}
      </Field>
      <Field label="Rule">
        {(ids) => (
          <select {...ids} name="relayId">
            <Options
              of={[['', 'any'], ...[...relayIds].map(withWords((relayId) => ruleName(company, relayId)))]}
              first={relayId}
            />
          </select>
        )}
      </Field>
      <Field label="Because">
        {(ids) => (
          <select {...ids} name="reason">
            <Options of={[['', 'anything'], ...[...reasons].map(withWords(failureWords))]} first={reason} />
          </select>
        )}
      </Field>
      <Field label="Received in">
        {(ids) => (
          <select {...ids} name="since">
            <Options of={[['', 'any time'], ...Object.entries(times)]} first={since} />
          </select>
        )}
      </Field>
      <p class="row">
        <button type="submit" class="main">
          Show
        </button>
        {until && (
          <button type="button" onClick={dropped('until')}>
            until {until} ✕
          </button>
        )}
        {paused && (
          <button type="button" onClick={dropped('paused')}>
            waiting for a pause ✕
          </button>
        )}
        {Object.keys(filter).length > 0 && (
          <button type="button" onClick={() => onShow({})}>
            Show all
          </button>
        )}
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
    announce(`${next.size} chosen`);
  };
  return (
    <table class="chains">
      <caption class="unseen">Chains</caption>
      <thead>
        <tr>
          {isChoosing && (
            <th scope="col">
              <span class="unseen">Chosen</span>
            </th>
          )}
          <th scope="col">Status</th>
          <th scope="col">What</th>
          <th scope="col">Rule</th>
          <th scope="col">Received</th>
        </tr>
      </thead>
      <tbody>
        {chains
          .map((chain) => ({ ...chain, about: aboutChain(chain) }))
          .map(({ chainId, about, status, relayIds, receivedAt, failureTypes = [], paused }) => (
            <tr key={chainId}>
              {isChoosing && (
                <td class="choice">
                  <input
                    type="checkbox"
                    aria-label={`Choose ${about}`}
                    checked={chosen.has(chainId)}
                    onChange={(event) => choose(chainId, event.currentTarget.checked)}
                  />
                </td>
              )}
              <td class="tight">
                <State of={status} />
                {paused && <div class="soft small">waits for a pause</div>}
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
      </tbody>
    </table>
  );
}

interface DecisionsProps {
  chosen: ReadonlySet<string>;
  filter: BulkFilter | undefined;
  onAsk(asked: { verb: BulkVerb; all: boolean }): void;
}

function Decisions({ chosen, filter, onAsk }: DecisionsProps) {
  if (chosen.size > 0)
    return (
      <section class="decisions" aria-label="Decide about the chosen">
        <strong>{counted(chosen.size, 'chain')} chosen:</strong>
        {(['retry', 'skip', 'cancel'] as const).map((verb) => (
          <button key={verb} type="button" onClick={() => onAsk({ verb, all: false })}>
            {verbWords[verb]}…
          </button>
        ))}
      </section>
    );
  if (!filter) return null;
  const verbs: BulkVerb[] =
    filter.status === 'failed'
      ? ['retry']
      : filter.status === 'running'
        ? ['runNow', 'cancel']
        : filter.status === 'needs-attention'
          ? ['retry', 'skip', 'cancel']
          : ['retry', 'skip', 'runNow', 'cancel'];
  return (
    <details class="decisions">
      <summary>Decide about all that are found</summary>
      <p class="row">
        {verbs.map((verb) => (
          <button key={verb} type="button" onClick={() => onAsk({ verb, all: true })}>
            {verbWords[verb]} all…
          </button>
        ))}
        <span class="soft small">They are counted first.</span>
      </p>
    </details>
  );
}
