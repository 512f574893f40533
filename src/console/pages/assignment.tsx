/** One assignment: its story in one sentence, and all steps of all its chains on one timeline. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { co, pageOf, query, seldom, useCompany, useResource } from '../base.js';
import { PageOf } from '../frame.js';
import { storyOf } from '../story.js';
import { stepsOf, Timeline } from '../timeline.js';
import type { ActionResource, AssignmentNow, ChainList, ChainResource } from '../types.js';
import { now, Said, Time } from '../ui/index.js';

/** Loads at most this many chains, because more requests would reach the rate limit of the key. */
const most = 20;

const noChain = 'No chain for this assignment was found. Check the number. Closed chains are deleted after some time.';

type Loaded = Record<string, ChainResource>;

export function AssignmentPage({ assignmentId }: { assignmentId: string }) {
  const { timeZone, ruleOf } = useCompany();
  const list = useResource<ChainList>(co`/chains` + query({ assignmentId, limit: String(most) }));
  const current = useResource<AssignmentNow>(co`/assignments/${assignmentId}`, seldom).data.value;
  const loaded = useSignal<Loaded>({});
  return (
    <PageOf title={`Assignment ${assignmentId}`} of={list}>
      {({ items, nextCursor }) => {
        const known = items.flatMap(({ chainId }) => loaded.value[chainId] ?? []);
        const steps = known
          .flatMap(stepsOf)
          .filter(({ action }) => action.assignmentId === assignmentId)
          .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
        const actions = steps.map(({ action }) => action);
        const isOther = ({ assignmentId: other }: ActionResource) => other && other !== assignmentId;
        const others = known.filter(({ actions }) => actions.some(isOther));
        return (
          <>
            <p class="story" role="status">
              {known.length === items.length && <Said text={storyOf(current, actions, timeZone, now.value)} />}
            </p>
            {items.length === 0 && <p class="card">{noChain}</p>}
            {others.map(({ chainId, actions }) => (
              <p key={chainId} class="card">
                {actions.every(isOther)
                  ? 'A chain of this assignment was corrected. The chain is now about'
                  : 'A chain on this page also has steps for'}{' '}
                <a href={pageOf.chain(chainId)}>assignment {actions.find(isOther)?.assignmentId}</a>.
              </p>
            ))}
            {items.map(({ chainId, closedAt }) => (
              <Load key={`${chainId} ${closedAt}`} {...{ chainId, isOpen: closedAt === undefined, loaded }} />
            ))}
            <Timeline
              steps={steps}
              about={({ chain, action }) => (
                <a href={pageOf.chain(chain.chainId)}>
                  Chain of “{ruleOf(action.relayId) ?? action.relayId}”, received <Time at={chain.receivedAt} />
                </a>
              )}
            />
            {nextCursor && (
              <p>
                This page shows only {most} chains. <a href={pageOf.chains({ assignmentId })}>Show all chains</a>
              </p>
            )}
          </>
        );
      }}
    </PageOf>
  );
}

/** Loads one chain. A closed chain rarely changes, so it is polled less often. */
function Load({ chainId, isOpen, loaded }: { chainId: string; isOpen: boolean; loaded: Signal<Loaded> }) {
  const { data } = useResource<ChainResource>(co`/chains/${chainId}`, isOpen ? undefined : seldom);
  useEffect(() => {
    if (data.value) loaded.value = { ...loaded.peek(), [chainId]: data.value };
  }, [data.value]);
  return null;
}
