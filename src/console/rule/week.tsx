/** The chains of a rule in the last week, by status. */

import type { z } from 'zod';
import { chainStatuses } from '../../chain/outcome.js';
import type { ChainCounts, ChainList } from '../../contract/chain-resource.js';
import type { rejectedListSchema } from '../../contract/problem.js';
import { pageOf, path, query } from '../addresses.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Known } from '../ui/known.js';
import { State, Time } from '../ui/text.js';
import { newestOf, sinceTime } from '../when.js';
import { aboutChain, refusalWords } from '../words.js';

export function Week({ relayId }: { relayId: string }) {
  const { companyId } = useCompany();
  // Rounded to the hour, so that repeated requests have the same address.
  const since = sinceTime('7d', Math.floor(Date.now() / 3_600_000) * 3_600_000);
  const counts = useResource<ChainCounts>(path`/co/${companyId}/chains/counts` + query({ relayId, since }), seldom);
  const chains = (since: string | undefined) => path`/co/${companyId}/chains` + query({ relayId, since, limit: '50' });
  const last = useResource<ChainList>(chains(since), seldom);
  // The list shows open chains first, so a closed chain on the second page can be newer than all chains on the first page.
  const { items: first = [], nextCursor } = last.data.value ?? {};
  const later = useResource<ChainList>(nextCursor && chains(newestOf(first)?.receivedAt), seldom);
  const refused = useResource<z.infer<typeof rejectedListSchema>>(path`/co/${companyId}/rejected?limit=100`, seldom);
  const rest = nextCursor ? later.data.value?.items : [];
  const newest = rest && newestOf([...first, ...rest]);
  const refusal = refused.data.value?.items.find(({ relayIds }) => relayIds.includes(relayId));
  return (
    <section class="card" aria-labelledby="week">
      <h2 id="week">The last 7 days</h2>
      <Known of={counts}>
        {(known) => (
          <p class="row">
            {chainStatuses
              .filter((status) => known[status] > 0)
              .map((status) => (
                <a key={status} href={pageOf.chains(companyId, { relayId, status, since: '7d' })}>
                  {known[status]} <State of={status} />
                </a>
              ))}
            {chainStatuses.every((status) => known[status] === 0) && 'No chain was started.'}
          </p>
        )}
      </Known>
      {newest && (
        <p>
          Last chain: <a href={pageOf.chain(companyId, newest.chainId)}>{aboutChain(newest)}</a>,{' '}
          <Time at={newest.receivedAt} distance />
        </p>
      )}
      {refusal && (
        <p class="error">
          Last refused request: <a href={pageOf.refusal(companyId, refusal.rejectedId)}>{refusalWords[refusal.reason]}</a>,{' '}
          <Time at={refusal.receivedAt} distance />
        </p>
      )}
    </section>
  );
}
