/** Everything that was done for an assignment, and what will be. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ActionResource, ChainList, ChainResource } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
import { ask, Refused } from '../api.js';
import { Page } from '../frame.js';
import { Known, State, Time, UpToDate } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Verbs } from '../steer.js';
import { titleOf, toneOf } from '../words.js';

/** Chains that are looked into: what an assignment normally has, and not more than a key may read at once. */
const most = 20;

interface Told {
  chain: ChainResource;
  action: ActionResource;
}

export function AssignmentPage({ assignmentId }: { assignmentId: string }) {
  const { companyId, timeZone } = useCompany();
  const list = useResource<ChainList>(path`/co/${companyId}/chains` + query({ assignmentId, limit: String(most) }), seldom);
  const chains = useSignal<ChainResource[] | undefined>(undefined);
  const items = list.data.value?.items;
  const read = async () => {
    const asked = (items ?? []).map(({ chainId }) => ask<ChainResource>('GET', path`/co/${companyId}/chains/${chainId}`));
    const known = await Promise.all(asked.map((chain) => chain.catch((error) => (error instanceof Refused ? undefined : error))));
    chains.value = known.filter((chain) => chain !== undefined);
  };
  useEffect(() => {
    if (items) void read();
  }, [items, list.at.value]);
  return (
    <Page
      title={`Assignment ${assignmentId}`}
      about={`What was done for it, in the order of time. Times are those of ${timeZone}.`}
    >
      <Known of={list}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <p class="card">No chain is about this assignment, or none that Temporal remembers.</p>
          ) : (
            <>
              <Story told={storyOf(chains.value ?? [], assignmentId)} onDone={list.refresh} />
              {nextCursor && (
                <p>
                  Of its newest {most} chains. <a href={pageOf.chains(companyId, { assignmentId })}>All its chains</a>
                </p>
              )}
            </>
          )
        }
      </Known>
      <UpToDate of={list} />
    </Page>
  );
}

/** The actions for it, by when they ended, began or are due. */
function storyOf(chains: readonly ChainResource[], assignmentId: string): Told[] {
  return chains
    .flatMap((chain) => chain.actions.map((action) => ({ chain, action })))
    .filter(({ action }) => action.assignmentId === assignmentId)
    .sort((a, b) => (momentOf(a) < momentOf(b) ? -1 : 1));
}

function momentOf({ chain, action: { startedAt, endedAt, runAt } }: Told): string {
  return startedAt ?? endedAt ?? runAt ?? chain.receivedAt;
}

function Story({ told, onDone }: { told: readonly Told[]; onDone(): void }) {
  const { companyId } = useCompany();
  return (
    <ol class="rail">
      {told.map(({ chain, action }) => (
        <li key={`${chain.chainId} ${action.index}`} class={toneOf(action.state)}>
          <article aria-label={titleOf(action)}>
            <h2>
              {titleOf(action)} <State of={action.state} />
            </h2>
            <p class="small">
              <Time at={momentOf({ chain, action })} distance /> in{' '}
              <a href={pageOf.chain(companyId, chain.chainId)}>this chain</a>
            </p>
            {action.reason && <p class="reason">{action.reason}</p>}
            {action.error && action.state !== 'done' && <p class="error">{action.error.message}</p>}
            <Verbs chain={chain} action={action} onDone={onDone} />
          </article>
        </li>
      ))}
    </ol>
  );
}
