/** A filtered list of chains. People decide about the selected chains, or about all that match the filter in the address. */

import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { type BulkVerb, bulkVerbsFor } from '../../chain/allowed-verbs.js';
import type { ChainList, ListedChain } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
import { ExportLinks } from '../export.js';
import { announce, Page } from '../frame.js';
import { useResource } from '../resource.js';
import { may, ruleOf, useCompany } from '../session.js';
import { BulkDialog, type BulkFilter } from '../steer.js';
import { deedOf } from '../story.js';
import { Button } from '../ui/buttons.js';
import { Fold, Known } from '../ui/known.js';
import { Table } from '../ui/table.js';
import { State, Time, UpToDate } from '../ui/text.js';
import { pauseWords, sinceTime, timeText } from '../when.js';
import { aboutChain, counted, failureWords, verbWords } from '../words.js';
import { ChainBeside } from './chain.js';
import { type Filter, FilterFields, filterFields, StatusTabs, Views } from './chain-filter.js';

/** Only a wide screen has room for a chain beside the list. */
const besideWidth = '(min-width: 70rem)';

export function ChainsPage() {
  const { companyId, timeZone } = useCompany();
  const { query: address } = useLocation();
  const filter: Filter = Object.fromEntries(filterFields.flatMap((name) => (address[name] ? [[name, address[name]]] : [])));
  // Rounded to the minute, so that repeated requests have the same address. All pages of a list use the same time.
  const now = Date.parse(address.at ?? '') || Math.floor(Date.now() / 60_000) * 60_000;
  const since = filter.since && (sinceTime(filter.since, now) ?? filter.since);
  const asked = { ...filter, since };
  return (
    <Page title="Chains" about={`Open chains come first, then closed chains. Times are in ${timeZone}.`}>
      <StatusTabs filter={filter} asked={asked} />
      <Fold summary="Filter" isNeeded={Object.keys(filter).length > 0 || matchMedia('(min-width: 40rem)').matches}>
        <FilterFields filter={filter} />
        <Views key={companyId} filter={filter} />
      </Fold>
      {/* When the filter changes, the new key clears the selection. */}
      <Chains key={JSON.stringify(filter)} filter={filter} asked={asked} at={since && new Date(now).toISOString()} />
    </Page>
  );
}

interface ChainsProps {
  filter: Filter;
  /** The filter with times in place of words such as `24h`. */
  asked: Filter;
  at: string | undefined;
}

function Chains({ filter, asked, at }: ChainsProps) {
  const { companyId } = useCompany();
  const { cursor, open } = useLocation().query;
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const dialog = useSignal<AskedOfChains | undefined>(undefined);
  const isDecided = useSignal(false);
  const chains = useResource<ChainList>(path`/co/${companyId}/chains` + query({ ...asked, steps: 'true', limit: '25', cursor }));
  const next = chains.data.value?.nextCursor;
  const closed = () => {
    dialog.value = undefined;
    if (isDecided.value) chosen.value = new Set();
    isDecided.value = false;
    chains.refresh();
  };
  const here = { ...filter, at, cursor };
  const isFiltered = Object.keys(filter).length > 0;
  const isBeside = open !== undefined && matchMedia(besideWidth).matches;
  return (
    <div class={isBeside ? 'beside' : ''}>
      <div>
        <Known of={chains}>
          {({ items }) => (
            <>
              {items.length === 0 ? (
                <p class="card">{isFiltered || cursor ? 'No chain matches this filter.' : <NoChains />}</p>
              ) : (
                <ChainTable chains={items} here={here} chosen={chosen.value} onChoose={(next) => (chosen.value = next)} />
              )}
              {may('steer') && (
                <Decisions
                  chosen={chosen.value}
                  filter={items.length > 0 ? bulkFilterOf(asked) : undefined}
                  onAsk={(next) => (dialog.value = next)}
                />
              )}
            </>
          )}
        </Known>
        {(cursor || next) && (
          <nav aria-label="Pages of the list" class="row">
            {cursor && <a href={pageOf.chains(companyId, filter)}>First page</a>}
            {next && <a href={pageOf.chains(companyId, { ...here, cursor: next })}>More</a>}
          </nav>
        )}
        <ExportLinks what="chains" filter={asked} />
        <UpToDate of={chains} />
      </div>
      {isBeside && <ChainBeside key={open} chainId={open} close={pageOf.chains(companyId, here)} />}
      {dialog.value && <BulkDialog {...dialog.value} onDecided={() => (isDecided.value = true)} onClose={closed} />}
    </div>
  );
}

function NoChains() {
  const { companyId } = useCompany();
  return (
    <>
      There are no chains yet. A chain starts when the platform's webhook sends an event.{' '}
      {may('author') && <a href={pageOf.compose(companyId)}>Write a rule</a>}
    </>
  );
}

/** The filter of a bulk request. Undefined if this status or `paused` makes decisions impossible. */
function bulkFilterOf({ status, paused, ...rest }: Filter): BulkFilter | undefined {
  if (paused || (status !== undefined && !isSteerable(status))) return undefined;
  return { ...rest, status };
}

const isSteerable = (status: string) => status === 'running' || status === 'needs-attention' || status === 'failed';

/** For example `1001`, or the summary of a chain without an assignment. */
function namesOf(chain: ListedChain): string {
  const assignmentIds = chain.assignmentIds.filter(Boolean);
  const more = assignmentIds.length > 3 ? ` and ${assignmentIds.length - 3} more` : '';
  return assignmentIds.length > 0 ? assignmentIds.slice(0, 3).join(', ') + more : aboutChain(chain);
}

interface TableProps {
  chains: readonly ListedChain[];
  /** The address of this list, to which a chain beside the list is added. */
  here: Record<string, string | undefined>;
  chosen: ReadonlySet<string>;
  onChoose(chosen: ReadonlySet<string>): void;
}

function ChainTable({ chains, here, chosen, onChoose }: TableProps) {
  const company = useCompany();
  const { companyId } = company;
  const { query } = useLocation();
  const isChoosing = may('steer');
  const isWide = matchMedia(besideWidth).matches;
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
      columns={[
        ...(isChoosing ? [<span class="unseen">Selected</span>] : []),
        'Assignment',
        'Rule',
        'Status',
        'Next step',
        'Due',
      ]}
    >
      {chains.map((chain) => {
        const { chainId, status, relayIds, receivedAt, failureTypes = [], paused, next, nobodyFound } = chain;
        const about = namesOf(chain);
        return (
          <tr key={chainId} aria-current={query.open === chainId ? 'true' : undefined}>
            {isChoosing && (
              <td class="choice">
                <input
                  type="checkbox"
                  aria-label={`Select ${about}, received ${timeText(receivedAt, company.timeZone, Date.now())}`}
                  checked={chosen.has(chainId)}
                  onChange={(event) => choose(chainId, event.currentTarget.checked)}
                />
              </td>
            )}
            <td>
              <a href={isWide ? pageOf.chains(companyId, { ...here, open: chainId }) : pageOf.chain(companyId, chainId)}>
                {about}
              </a>
              <Time look="soft small block" at={receivedAt} />
            </td>
            <td>{relayIds.map((relayId) => ruleOf(company, relayId)?.name ?? relayId).join(', ')}</td>
            <td>
              <State of={status} /> {!!nobodyFound && <span class="badge wait">nobody found</span>}
              {paused && <div class="soft small">{pauseWords(company.pauses, company.timeZone, Date.now())}</div>}
            </td>
            <td>
              {failureTypes.map((type) => (
                <div key={type} class="small">
                  {failureWords(type)}
                </div>
              ))}
              {next && deedOf(next)}
            </td>
            <td class="tight">
              <Time at={next?.at} />
            </td>
          </tr>
        );
      })}
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
