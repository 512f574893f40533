/** Problems that wait for a decision: chains with held actions, by cause, and refused requests, by reason. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { causesResponse, RefusedCause } from '../../contract/causes.js';
import type { ChainList } from '../../contract/chain-resource.js';
import type { rejectedListSchema } from '../../contract/problem.js';
import { pageOf, path } from '../addresses.js';
import { CauseCard, useCauseDialog } from '../cause.js';
import { Page } from '../frame.js';
import { Known, Pager, Said, Time, UpToDate } from '../parts.js';
import { seldom, usePages, useResource } from '../resource.js';
import { ruleName, useCompany } from '../session.js';
import { closedInLastDay } from '../when.js';
import { aboutChain, counted, refusalWords } from '../words.js';
import { Decided } from './refused.js';

/** At first, at most this many cards load their chain, because the page polls each loaded chain. */
const mostOpen = 3;

export function NowPage() {
  const { companyId, timeZone } = useCompany();
  const [causes, cursors] = usePages<z.infer<typeof causesResponse>>(path`/co/${companyId}/causes`);
  /** The causes about which the user decided on this page. The cards of these causes stay, because they show the result. */
  const begun = useSignal<ReadonlySet<string>>(new Set());
  const [askAll, dialog] = useCauseDialog(causes.refresh);
  return (
    <Page title="Now" about={`Problems waiting for you. Times are in ${timeZone}.`}>
      <Known of={causes}>
        {({ items, nextCursor, refused }) => {
          const held = items.filter(({ chains }) => chains > 0);
          const hasMore = nextCursor !== undefined && held.length === items.length;
          const problems = held.length + refused.length;
          const count = hasMore ? `More than ${problems} problems` : counted(problems, 'problem');
          const figure = problems === 0 ? 'No problems.' : `${count} to solve.`;
          return (
            <>
              <p class="figures">{cursors.value.length > 0 ? 'This page continues the list of problems.' : figure}</p>
              {items
                .filter((cause) => held.includes(cause) || begun.value.has(cause.causeId))
                .map((cause, place) => (
                  <CauseCard
                    key={cause.causeId}
                    cause={cause}
                    isOpen={place < mostOpen}
                    onBegin={() => (begun.value = new Set([...begun.value, cause.causeId]))}
                    onAsk={askAll}
                    onDone={causes.refresh}
                  />
                ))}
              {refused.map((kind) => (
                <RefusedCard key={[kind.relayId, kind.reason, kind.mistake].join()} kind={kind} />
              ))}
              <Pager cursors={cursors} next={hasMore ? nextCursor : undefined} />
              {hasMore && (
                <p>
                  <a href={pageOf.chains(companyId, { status: 'needs-attention' })}>All chains that need attention</a>
                </p>
              )}
            </>
          );
        }}
      </Known>
      <UpToDate of={causes} />
      {dialog}
      <Recent />
    </Page>
  );
}

/** A group of refused requests without a decision. The page of each request has the buttons. */
function RefusedCard({ kind }: { kind: RefusedCause }) {
  const company = useCompany();
  const { companyId } = company;
  const { relayId, reason, message, rejectedId, requests, repeats, notKept, since, lastAt } = kind;
  const isMany = requests > 1;
  return (
    <section class="card wait" aria-label={`${refusalWords[reason]}: ${message}`}>
      <h2>{refusalWords[reason]}</h2>
      <p class="soft">
        {counted(requests, 'refused request')} of rule {ruleName(company, relayId)}, since <Time at={since} distance />
        {isMany && <Time before=", most recently at " at={lastAt} distance />}
        {repeats > 0 && `; repeated ${counted(repeats, 'time')}`}
        {notKept > 0 && `; ${notKept} more requests were not kept, because the storage was full`}
      </p>
      <Said look="error" text={message} />
      <p class="row">
        <a href={pageOf.refusal(companyId, rejectedId)}>{isMany ? 'Show the newest request' : 'Show the request'}</a>
        {isMany && <a href={pageOf.refused(companyId)}>All refused requests</a>}
      </p>
    </section>
  );
}

/** Chains that failed in the last day, and the newest refused requests. */
function Recent() {
  const { companyId } = useCompany();
  const failed = useResource<ChainList>(`${path`/co/${companyId}/chains`}?status=failed&limit=10`, seldom);
  const refused = useResource<z.infer<typeof rejectedListSchema>>(`${path`/co/${companyId}/rejected`}?limit=5`, seldom);
  return (
    <div class="cards">
      <section class="card" aria-labelledby="failed">
        <h2 id="failed">Failed in the last 24 hours</h2>
        <Known of={failed}>
          {({ items }) => {
            const recent = closedInLastDay(items, Date.now());
            return recent.length === 0 ? (
              <p class="soft">No chain failed.</p>
            ) : (
              <>
                <ul class="plain">
                  {recent.slice(0, 5).map((chain) => (
                    <li key={chain.chainId}>
                      <a href={pageOf.chain(companyId, chain.chainId)}>{aboutChain(chain)}</a>{' '}
                      <Time look="soft small" at={chain.closedAt ?? chain.receivedAt} />
                    </li>
                  ))}
                </ul>
                {recent.length > 5 && (
                  <p>
                    <a href={pageOf.chains(companyId, { status: 'failed' })}>All failed chains</a>
                  </p>
                )}
              </>
            );
          }}
        </Known>
      </section>
      <section class="card" aria-labelledby="refused">
        <h2 id="refused">Refused requests</h2>
        <Known of={refused}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="soft">No request was refused.</p>
            ) : (
              <>
                <ul class="plain">
                  {items.map((request) => (
                    <li key={request.rejectedId}>
                      <a href={pageOf.refusal(companyId, request.rejectedId)}>{refusalWords[request.reason]}</a>{' '}
                      <Decided request={request} /> <Time look="soft small" at={request.receivedAt} />
                    </li>
                  ))}
                </ul>
                <p>
                  <a href={pageOf.refused(companyId)}>All refused requests</a>
                </p>
              </>
            )
          }
        </Known>
      </section>
    </div>
  );
}
