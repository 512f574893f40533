/** The past and future actions for an assignment, from all its chains. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ActionResource, ChainList, ChainResource } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
import { Page } from '../frame.js';
import { Failure, Known, Said, State, Time, UpToDate } from '../parts.js';
import { seldom, useResource } from '../resource.js';
import { useCompany } from '../session.js';
import { Verbs } from '../steer.js';
import { titleOf, toneOf } from '../words.js';

/** Loads at most this many chains, because more requests would reach the rate limit of the key. */
const most = 20;

interface Step {
  chain: ChainResource;
  action: ActionResource;
  /** When the action ran or will run. The page sorts the actions by this time. */
  at: string;
  onDone(): void;
}

type Loaded = Pick<Step, 'chain' | 'onDone'>;

export function AssignmentPage({ assignmentId }: { assignmentId: string }) {
  const { companyId, timeZone } = useCompany();
  const list = useResource<ChainList>(path`/co/${companyId}/chains` + query({ assignmentId, limit: String(most) }));
  const loaded = useSignal<Record<string, Loaded>>({});
  return (
    <Page title={`Assignment ${assignmentId}`} about={`All actions, the oldest first. Times are in ${timeZone}.`}>
      <Known of={list}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <p class="card">No chain for this assignment was found. Closed chains are deleted after some time.</p>
          ) : (
            <>
              {items.map(({ chainId, closedAt }) => (
                <Load
                  key={`${chainId} ${closedAt}`}
                  chainId={chainId}
                  isOpen={closedAt === undefined}
                  onLoaded={(chain) => (loaded.value = { ...loaded.value, [chainId]: chain })}
                />
              ))}
              <Steps
                steps={stepsOf(
                  items.flatMap(({ chainId }) => loaded.value[chainId] ?? []),
                  assignmentId,
                )}
              />
              {nextCursor && (
                <p>
                  This page shows only {most} chains. <a href={pageOf.chains(companyId, { assignmentId })}>Show all chains</a>
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

/** Loads one chain. A closed chain rarely changes, so it is polled less often. */
function Load({ chainId, isOpen, onLoaded }: { chainId: string; isOpen: boolean; onLoaded(loaded: Loaded): void }) {
  const { companyId } = useCompany();
  const resource = useResource<ChainResource>(path`/co/${companyId}/chains/${chainId}`, isOpen ? undefined : seldom);
  const chain = resource.data.value;
  useEffect(() => {
    if (chain) onLoaded({ chain, onDone: resource.refresh });
  }, [chain]);
  return null;
}

/** The actions of the assignment, sorted by time. A pending action never comes before an earlier action of its chain. */
function stepsOf(loaded: readonly Loaded[], assignmentId: string): Step[] {
  return loaded
    .flatMap(({ chain, onDone }) => {
      /** For each due time, the time of the latest action so far. Actions with the same due time run one after the other. */
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

function Steps({ steps }: { steps: readonly Step[] }) {
  const { companyId } = useCompany();
  return (
    <ol class="rail">
      {steps.map(({ chain, action, at, onDone }) => (
        <li key={`${chain.chainId} ${action.index}`} class={toneOf(action.state, action.result)}>
          <article aria-label={titleOf(action)}>
            <h2>
              {titleOf(action)} <State of={action.state} result={action.result} />
            </h2>
            <p class="small">
              {action.state !== 'pending' ? (
                <>
                  <Time at={at} distance />,{' '}
                </>
              ) : (
                !action.reason && 'Waits for the previous action, '
              )}
              <a href={pageOf.chain(companyId, chain.chainId)}>chain {chain.chainId.slice(0, 8)}</a>
            </p>
            {!!action.result?.recipients && <p class="small">Workers reached: {action.result.recipients}</p>}
            {action.reason && <Said look="reason" text={action.reason} />}
            {action.result?.note && <Said look="small" text={`Note: ${action.result.note}`} />}
            {action.error && action.state !== 'done' && <Failure of={action.error} />}
            <Verbs chain={chain} action={action} onDone={onDone} />
          </article>
        </li>
      ))}
    </ol>
  );
}
