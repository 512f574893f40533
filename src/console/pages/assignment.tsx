/** Everything that was done for an assignment, and what will be. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ActionResource, ChainList, ChainResource } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
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
  /** Its place in the order of time. */
  at: string;
  onDone(): void;
}

type Heard = Pick<Told, 'chain' | 'onDone'>;

export function AssignmentPage({ assignmentId }: { assignmentId: string }) {
  const { companyId, timeZone } = useCompany();
  const list = useResource<ChainList>(path`/co/${companyId}/chains` + query({ assignmentId, limit: String(most) }));
  const heard = useSignal<Record<string, Heard>>({});
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
              {items.map(({ chainId, closedAt }) => (
                <Hear
                  key={`${chainId} ${closedAt}`}
                  chainId={chainId}
                  isOpen={closedAt === undefined}
                  onHeard={(chain) => (heard.value = { ...heard.value, [chainId]: chain })}
                />
              ))}
              <Story
                told={storyOf(
                  items.flatMap(({ chainId }) => heard.value[chainId] ?? []),
                  assignmentId,
                )}
              />
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

/** Hears of one chain for as long as it is listed: of an open one at once, while one that has closed seldom changes. */
function Hear({ chainId, isOpen, onHeard }: { chainId: string; isOpen: boolean; onHeard(heard: Heard): void }) {
  const { companyId } = useCompany();
  const resource = useResource<ChainResource>(path`/co/${companyId}/chains/${chainId}`, isOpen ? undefined : seldom);
  const chain = resource.data.value;
  useEffect(() => {
    if (chain) onHeard({ chain, onDone: resource.refresh });
  }, [chain]);
  return null;
}

/** The actions for it, by when they ended, began or are due; one that waits for its turn comes after what it waits for. */
function storyOf(heard: readonly Heard[], assignmentId: string): Told[] {
  return heard
    .flatMap(({ chain, onDone }) => {
      /** Of those with the same delay, which run one after the other. */
      const last = new Map<string | undefined, string>();
      return chain.actions.map((action) => {
        const { startedAt, endedAt, runAt } = action;
        const turn = startedAt ?? endedAt ?? [runAt ?? chain.receivedAt, last.get(runAt) ?? ''].sort()[1] ?? '';
        last.set(runAt, turn);
        return { chain, action, at: turn, onDone };
      });
    })
    .filter(({ action }) => action.assignmentId === assignmentId)
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
}

function Story({ told }: { told: readonly Told[] }) {
  const { companyId } = useCompany();
  return (
    <ol class="rail">
      {told.map(({ chain, action, at, onDone }) => (
        <li key={`${chain.chainId} ${action.index}`} class={toneOf(action.state)}>
          <article aria-label={titleOf(action)}>
            <h2>
              {titleOf(action)} <State of={action.state} />
            </h2>
            <p class="small">
              {action.state === 'pending' ? 'When its turn comes' : <Time at={at} distance />} in{' '}
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
