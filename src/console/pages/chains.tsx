/** A filtered list of chains. People decide about the selected chains, or about all that match the filter in the address. */

import { type Signal, useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { type BulkVerb, bulkVerbsFor } from '../../chain/allowed-verbs.js';
import { announce, type Company, co, may, pageOf, query, useCompany, useResource } from '../base.js';
import { type AskedOfChains, useBulk } from '../bulk.js';
import { Page } from '../frame.js';
import { deedOf } from '../story.js';
import type { ChainList, ListedChain } from '../types.js';
import { Badge, Button, ExportLinks, Fold, Known, State, Table, Time, UpToDate } from '../ui/index.js';
import { counted, failureWords, labelled, namesOf, orderWords, pauseWords, sinceTime, timeText, verbWords } from '../words.js';
import { ChainBeside } from './chain.js';
import { type Filter, FilterFields, filterFields, StatusTabs, Views } from './chain-filter.js';

export function ChainsPage() {
  const { query: address } = useLocation();
  const filter: Filter = Object.fromEntries(filterFields.flatMap((name) => (address[name] ? [[name, address[name]]] : [])));
  // Rounded to the minute, so that repeated requests have the same address. All pages of a list use the same time.
  const now = Date.parse(address.at ?? '') || Math.floor(Date.now() / 60_000) * 60_000;
  const since = filter.since && (sinceTime(filter.since, now) ?? filter.since);
  const asked = { ...filter, since };
  return (
    <Page title="Chains" about="Open chains come first, then closed chains.">
      <StatusTabs filter={filter} asked={asked} />
      <Fold summary="Filter" isNeeded={Object.keys(filter).length > 0 || matchMedia('(min-width: 40rem)').matches}>
        <FilterFields filter={filter} />
        <Views filter={filter} />
      </Fold>
      {/* When the filter changes, the new key clears the selection. */}
      <Chains key={JSON.stringify(filter)} filter={filter} asked={asked} at={since && new Date(now).toISOString()} />
    </Page>
  );
}

/** @param asked - the filter with times in place of words such as `24h`. */
function Chains({ filter, asked, at }: { filter: Filter; asked: Filter; at: string | undefined }) {
  const company = useCompany();
  const { cursor, open } = useLocation().query;
  const chosen = useSignal<readonly string[]>([]);
  const chains = useResource<ChainList>(co`/chains` + query({ ...asked, steps: 'true', limit: '25', cursor }));
  const [askAll, dialog] = useBulk(() => (chosen.value = []));
  const next = chains.data.value?.nextCursor;
  const here = { ...filter, at, cursor };
  const isFiltered = Object.keys(filter).length > 0 || cursor !== undefined;
  const isWide = matchMedia('(min-width: 70rem)').matches;
  const isBeside = open !== undefined && isWide;
  /** Only a wide screen has room for a chain beside the list. */
  const addressOf = (chainId: string) => (isWide ? pageOf.chains({ ...here, open: chainId }) : pageOf.chain(chainId));
  const selected = may('steer') ? [<span class="unseen">Selected</span>] : [];
  const columns = [...selected, 'Assignment', 'Rule', 'Status', 'Problem or next step', 'Due'];
  const noChains = (
    <>
      There are no chains yet. A chain starts when your platform sends an event.{' '}
      {may('author') && <a href={pageOf.compose()}>Write a rule</a>}
    </>
  );
  return (
    <div class={isBeside ? 'beside' : ''}>
      <div>
        <Known of={chains}>
          {({ items }) => (
            <>
              <Table
                {...{ caption: 'Chains', look: 'chains', columns, open }}
                empty={isFiltered ? 'No chain matches this filter.' : noChains}
                rows={items.map((chain) => [chain.chainId, cellsOf(chain, company, chosen, addressOf(chain.chainId))])}
              />
              {may('steer') && <Decisions chosen={chosen.value} isAny={items.length > 0} filter={asked} onAsk={askAll} />}
            </>
          )}
        </Known>
        {(cursor || next) && (
          <nav aria-label="Pages of the list" class="row">
            {cursor && <a href={pageOf.chains(filter)}>First page</a>}
            {next && <a href={pageOf.chains({ ...here, cursor: next })}>More</a>}
          </nav>
        )}
        <ExportLinks what="chains" filter={asked} />
        <UpToDate of={chains} />
      </div>
      {isBeside && <ChainBeside key={open} chainId={open} close={pageOf.chains(here)} />}
      {dialog}
    </div>
  );
}

function cellsOf(chain: ListedChain, company: Company, chosen: Signal<readonly string[]>, href: string) {
  const { chainId, status, relayIds, receivedAt, paused, next, nobodyFound } = chain;
  const problems = chain.problems ?? chain.failureTypes?.map(failureWords) ?? [];
  const { timeZone, pauses, ruleOf } = company;
  const about = namesOf(chain);
  const choose = (isChosen: boolean) => {
    const others = chosen.value.filter((other) => other !== chainId);
    chosen.value = isChosen ? [...others, chainId] : others;
    announce(`${counted(chosen.value.length, 'chain')} selected`, false);
  };
  const label = `Select ${about}, received ${timeText(receivedAt, timeZone, Date.now())}`;
  const choice = (
    <input
      {...{ type: 'checkbox', 'aria-label': label, checked: chosen.value.includes(chainId) }}
      onChange={({ currentTarget }) => choose(currentTarget.checked)}
    />
  );
  return [
    ...(may('steer') ? [choice] : []),
    [<a href={href}>{about}</a>, <div class="soft small">{<Time at={receivedAt} />}</div>],
    relayIds.map((relayId) => ruleOf(relayId) ?? relayId).join(', '),
    [
      <State of={status} />,
      nobodyFound && <Badge tone="wait">nobody found</Badge>,
      paused && <div class="soft small">{pauseWords(pauses, timeZone, Date.now())}</div>,
    ],
    [...problems.map(labelled), next && (problems.length > 0 ? `Next: ${deedOf(next)}` : deedOf(next))]
      .filter(Boolean)
      .join('. '),
    next && !next.at ? 'after the pause' : <Time at={next?.at} />,
  ];
}

type DecisionsProps = { chosen: readonly string[]; isAny: boolean; filter: Filter; onAsk(asked: AskedOfChains): void };

function Decisions({ chosen, isAny, filter: { paused, nobodyFound, ticketId, ...filter }, onAsk }: DecisionsProps) {
  const isSteerable = ['running', 'needs-attention', 'failed', undefined].includes(filter.status);
  const buttons = (verbs: readonly BulkVerb[], asked: AskedOfChains['filter'], words: (verb: BulkVerb) => string) =>
    verbs.map((verb) => <Button onClick={() => onAsk({ verb, filter: asked })}>{words(verb)}…</Button>);
  if (chosen.length > 0)
    return (
      <section class="card row decisions" aria-label="Decisions about the selected chains">
        <strong>{counted(chosen.length, 'chain')} selected:</strong>
        {buttons(['retry', 'skip', 'runNow', 'cancel'], { chainIds: [...chosen] }, (verb) => verbWords[verb])}
      </section>
    );
  if (!isAny || paused || nobodyFound || ticketId || !isSteerable) return null;
  return (
    <details class="card">
      <summary>Decide about all chains in this list</summary>
      <p class="row">
        {buttons(bulkVerbsFor(filter.status), filter, orderWords)}
        <span class="soft small">You see the number of chains before you confirm.</span>
      </p>
    </details>
  );
}
