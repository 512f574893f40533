/** The chains of a rule in the last week, by status. */

import { chainStatuses } from '../../chain/outcome.js';
import { co, often, pageOf, query, seldom, useResource } from '../base.js';
import type { ChainCounts, ChainList, rejectedListSchema, z } from '../types.js';
import { Known, Section, State, Time } from '../ui/index.js';
import { aboutChain, newestOf, refusalWords, sinceTime } from '../words.js';

/** @param isWatched - whether somebody waits for the next chain. */
export function Week({ relayId, isWatched }: { relayId: string; isWatched?: true }) {
  const rhythm = isWatched ? often : seldom;
  // Rounded to the hour, so that repeated requests have the same address.
  const since = sinceTime('7d', Math.floor(Date.now() / 3_600_000) * 3_600_000);
  const counts = useResource<ChainCounts>(co`/chains/counts` + query({ relayId, since }), seldom);
  const chains = (since: string | undefined) => co`/chains` + query({ relayId, since, limit: '50' });
  const last = useResource<ChainList>(chains(since), rhythm);
  // The list shows open chains first, so a closed chain on the second page can be newer than all chains on the first page.
  const { items: first = [], nextCursor } = last.data.value ?? {};
  const later = useResource<ChainList>(nextCursor && chains(newestOf(first)?.receivedAt), rhythm);
  const refused = useResource<z.infer<typeof rejectedListSchema>>(co`/rejected?limit=100`, rhythm);
  const rest = nextCursor ? later.data.value?.items : [];
  const newest = rest && newestOf([...first, ...rest]);
  const [assignmentId] = newest?.assignmentIds ?? [];
  const refusal = refused.data.value?.items.find((one) => one.relayIds.includes(relayId) && !one.chainId && !one.droppedAt);
  return (
    <Section title="The last 7 days">
      <Known of={counts}>
        {(known) => {
          const links = chainStatuses
            .filter((status) => known[status] > 0)
            .map((status) => (
              <a key={status} href={pageOf.chains({ relayId, status, since: '7d' })}>
                {known[status]} <State of={status} />
              </a>
            ));
          return <p class="row">{links.length > 0 || newest ? links : 'No chain was started.'}</p>;
        }}
      </Known>
      {newest && (
        <p>
          Last chain, <Time at={newest.receivedAt} distance />, {assignmentId ? 'for' : 'with'}{' '}
          <a href={pageOf.chain(newest.chainId)}>{assignmentId ? `assignment ${assignmentId}` : aboutChain(newest)}</a>
        </p>
      )}
      {refusal && (
        <p class="error">
          Last refused request, <Time at={refusal.receivedAt} distance />:{' '}
          <a href={pageOf.refusal(refusal.rejectedId)}>{refusalWords[refusal.reason]}</a>
        </p>
      )}
    </Section>
  );
}
