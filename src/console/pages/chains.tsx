/** The chains that a filter finds. The filter is in the address; a selection, or all of it, becomes something that is decided at once. */

import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { type BulkVerb, chainStatuses } from '../../chain/outcome.js';
import type { ChainList, ListedChain } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
import { announce, Page } from '../frame.js';
import { Field, fieldsOf, Known, Pager, State, Time, UpToDate } from '../parts.js';
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
  const { companyId, timeZone } = useCompany();
  const location = useLocation();
  const filter: Filter = Object.fromEntries(
    fields.flatMap((name) => (location.query[name] ? [[name, location.query[name]]] : [])),
  );
  const cursors = useSignal<string[]>([]);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const dialog = useSignal<{ verb: BulkVerb; all: boolean } | undefined>(undefined);
  // Full minutes, so that a look a second later is the same question.
  const since = filter.since && (sinceTime(filter.since, Math.floor(Date.now() / 60_000) * 60_000) ?? filter.since);
  const asked: Filter = { ...filter, since };
  const chains = useResource<ChainList>(
    path`/co/${companyId}/chains` + query({ ...asked, limit: '50', cursor: cursors.value.at(-1) }),
  );
  const show = (next: Filter) => {
    [cursors.value, chosen.value] = [[], new Set()];
    location.route(pageOf.chains(companyId, next));
  };
  const closed = () => {
    dialog.value = undefined;
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
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 ? (
              <p class="card">
                {isFiltered ? (
                  'No chain is like that.'
                ) : (
                  <>
                    There is no chain yet: they begin when a webhook of the platform sends one.{' '}
                    <a href={pageOf.compose(companyId)}>Compose one</a>
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
            <Pager cursors={cursors} next={nextCursor} />
          </>
        )}
      </Known>
      <UpToDate of={chains} />
      {dialog.value?.all === true && bulk && <BulkDialog verb={dialog.value.verb} filter={bulk} onClose={closed} />}
      {dialog.value?.all === false && (
        <ChosenDialog verb={dialog.value.verb as ManyVerb} chainIds={[...chosen.value]} onClose={closed} />
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

function FilterForm({ filter, onShow }: { filter: Filter; onShow(next: Filter): void }) {
  const { rules } = useCompany();
  const { status, assignmentId, relayId, reason, since, until, paused } = filter;
  const submit = (event: Event) => onShow({ paused, until, ...fieldsOf(event) });
  const dropped = (name: keyof Filter) => () => onShow({ ...filter, [name]: undefined });
  return (
    // A form of another filter begins with that filter's values.
    <form class="filter" onSubmit={submit} key={JSON.stringify(filter)}>
      <Field label="Status">
        {(ids) => (
          <select {...ids} name="status" defaultValue={status ?? ''}>
            <option value="">any</option>
            {chainStatuses.map((status) => (
              <option key={status} value={status}>
                {stateWords(status)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Assignment">
        {(ids) => <input {...ids} name="assignmentId" defaultValue={assignmentId ?? ''} autocomplete="off" />}
      </Field>
      <Field label="Rule">
        {(ids) => (
          <select {...ids} name="relayId" defaultValue={relayId ?? ''}>
            <option value="">any</option>
            {relayId && !rules.some((rule) => rule.relayId === relayId) && <option value={relayId}>{relayId}</option>}
            {rules.map(({ relayId, name }) => (
              <option key={relayId} value={relayId}>
                {name} ({relayId})
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Because">
        {(ids) => (
          <select {...ids} name="reason" defaultValue={reason ?? ''}>
            <option value="">anything</option>
            {[...new Set([...(reason ? [reason] : []), ...failureTypes])].map((type) => (
              <option key={type} value={type}>
                {failureWords(type)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Received in">
        {(ids) => (
          <select {...ids} name="since" defaultValue={since ?? ''}>
            <option value="">any time</option>
            {Object.entries(sinces).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
            {since && !(since in sinces) && <option value={since}>since {since}</option>}
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
