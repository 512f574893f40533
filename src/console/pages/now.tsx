/** What needs people now, by what it needs them for. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { causesResponse } from '../../contract/causes.js';
import type { ChainList } from '../../contract/chain-resource.js';
import type { rejectedListSchema } from '../../contract/problem.js';
import { pageOf, path, query } from '../addresses.js';
import { Page } from '../frame.js';
import { Known, Pager, Time, UpToDate } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { may, useCompany } from '../session.js';
import { BulkDialog } from '../steer.js';
import { sinceTime } from '../when.js';
import { aboutChain, counted, pausableWords, refusalWords } from '../words.js';
import { CauseCard, type CauseVerb } from './cause.js';

/** Causes of which a chain is read without being asked for: each is a request, again and again. */
const lookedInto = 3;

export function NowPage() {
  const { companyId, pauses, timeZone } = useCompany();
  const cursors = useSignal<string[]>([]);
  const causes = useResource<z.infer<typeof causesResponse>>(
    path`/co/${companyId}/causes` + query({ cursor: cursors.value.at(-1) }),
  );
  /** Causes about which somebody decides here: what comes of it is to be seen. */
  const begun = useSignal<ReadonlySet<string>>(new Set());
  const asked = useSignal<{ verb: CauseVerb; causeId: string } | undefined>(undefined);
  return (
    <Page title="Now" about={`What needs somebody. Times are those of ${timeZone}.`}>
      {pauses.map(({ what, since, until, reason }) => (
        <p key={what} class="note wait">
          Paused: {pausableWords[what]}, since <Time at={since} />
          {until && (
            <>
              , until <Time at={until} />
            </>
          )}
          {reason && `: ${reason}`}. What needs it waits.
        </p>
      ))}
      <Known of={causes}>
        {({ items, nextCursor }) => {
          const held = items.filter(({ chains }) => chains > 0);
          const hasMore = nextCursor !== undefined && held.length === items.length;
          const count = hasMore ? `${held.length} and more things` : counted(held.length, 'thing');
          const figure = held.length === 0 ? 'Nothing needs you.' : `${count} to decide about.`;
          return (
            <>
              <p class="figures">{cursors.value.length > 0 ? 'More to decide about.' : figure}</p>
              {items
                .filter((cause) => held.includes(cause) || begun.value.has(cause.causeId))
                .map((cause, place) => (
                  <CauseCard
                    key={cause.causeId}
                    cause={cause}
                    isOpen={place < lookedInto}
                    onBegin={() => (begun.value = new Set([...begun.value, cause.causeId]))}
                    onAsk={(verb) => (asked.value = { verb, causeId: cause.causeId })}
                    onDone={causes.refresh}
                  />
                ))}
              {held.length > 0 && may('manage') && (
                <p>
                  <a href={pageOf.settings(companyId)}>Pause</a> what goes wrong for a while: what needs it then waits.
                </p>
              )}
              <Pager cursors={cursors} next={hasMore ? nextCursor : undefined} />
              {hasMore && (
                <p>
                  <a href={pageOf.chains(companyId, { status: 'needs-attention' })}>All chains that are held</a>
                </p>
              )}
            </>
          );
        }}
      </Known>
      <UpToDate of={causes} />
      {asked.value && (
        <BulkDialog
          verb={asked.value.verb}
          filter={{ causeId: asked.value.causeId }}
          onClose={() => {
            asked.value = undefined;
            causes.refresh();
          }}
        />
      )}
      <Lately />
    </Page>
  );
}

/** What failed or was refused within a day, and where to look for it. */
function Lately() {
  const { companyId } = useCompany();
  // The same for a minute, so that it stays one question.
  const since = sinceTime('24h', Math.floor(Date.now() / 3_600_000) * 3_600_000) ?? '';
  const failed = useResource<ChainList>(`${path`/co/${companyId}/chains`}?status=failed&limit=10&since=${since}`, seldom);
  const refused = useResource<z.infer<typeof rejectedListSchema>>(`${path`/co/${companyId}/rejected`}?limit=5`, seldom);
  return (
    <div class="cards">
      <section class="card" aria-labelledby="failed">
        <h2 id="failed">Failed within a day</h2>
        <Known of={failed}>
          {({ items, nextCursor }) =>
            items.length === 0 ? (
              <p class="soft">Nothing failed.</p>
            ) : (
              <>
                <ul class="plain">
                  {items.slice(0, 5).map((chain) => (
                    <li key={chain.chainId}>
                      <a href={pageOf.chain(companyId, chain.chainId)}>{aboutChain(chain)}</a>{' '}
                      <span class="soft small">
                        <Time at={chain.closedAt ?? chain.receivedAt} />
                      </span>
                    </li>
                  ))}
                </ul>
                {(items.length > 5 || nextCursor) && (
                  <p>
                    <a href={pageOf.chains(companyId, { status: 'failed', since: '24h' })}>All that failed</a>
                  </p>
                )}
              </>
            )
          }
        </Known>
      </section>
      <section class="card" aria-labelledby="refused">
        <h2 id="refused">Refused lately</h2>
        <Known of={refused}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="soft">No request was refused.</p>
            ) : (
              <>
                <ul class="plain">
                  {items.map(({ rejectedId, reason, receivedAt }) => (
                    <li key={rejectedId}>
                      <a href={pageOf.refusal(companyId, rejectedId)}>{refusalWords(reason)}</a>{' '}
                      <span class="soft small">
                        <Time at={receivedAt} />
                      </span>
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
