/** What became of an assignment: one sentence, and all steps of all its chains on one timeline. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { AssignmentNow } from '../../contract/assignment.js';
import type { ChainList, ChainResource } from '../../contract/chain-resource.js';
import { pageOf, path, query } from '../addresses.js';
import { Page } from '../frame.js';
import { seldom, useResource } from '../resource.js';
import { ruleOf, useCompany } from '../session.js';
import { Verbs } from '../steer.js';
import { storyOf } from '../story.js';
import { type Step, stepsOf, Timeline } from '../timeline.js';
import { Known } from '../ui/known.js';
import { Failure, now, Said, Time, UpToDate } from '../ui/text.js';

/** Loads at most this many chains, because more requests would reach the rate limit of the key. */
const most = 20;

interface Loaded {
  chain: ChainResource;
  onDone(): void;
}

export function AssignmentPage({ assignmentId }: { assignmentId: string }) {
  const { companyId, timeZone } = useCompany();
  const list = useResource<ChainList>(path`/co/${companyId}/chains` + query({ assignmentId, limit: String(most) }));
  const current = useResource<AssignmentNow>(path`/co/${companyId}/assignments/${assignmentId}`, seldom);
  const loaded = useSignal<Record<string, Loaded>>({});
  const ids = list.data.value?.items.map(({ chainId }) => chainId) ?? [];
  const known = ids.flatMap((chainId) => loaded.value[chainId] ?? []);
  const steps = known
    .flatMap(({ chain }) => stepsOf(chain))
    .filter(({ action }) => action.assignmentId === assignmentId)
    .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  const isReady = list.data.value !== undefined && known.length === ids.length;
  const story = storyOf(
    current.data.value,
    steps.map(({ action }) => action),
    timeZone,
    now.value,
  );
  return (
    <Page title={`Assignment ${assignmentId}`}>
      <p class="story" role="status">
        {isReady && <Said text={story} />}
      </p>
      <Known of={list}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <p class="card">
              No chain for this assignment was found. Check the number. Closed chains are deleted after some time.
            </p>
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
              <Timeline steps={steps}>
                {(step) => <Told step={step} onDone={() => loaded.value[step.chain.chainId]?.onDone()} />}
              </Timeline>
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

function Told({ step: { chain, action }, onDone }: { step: Step; onDone(): void }) {
  const company = useCompany();
  const { result, reason, error, state, assignmentId } = action;
  return (
    <>
      <p class="small">
        <a href={pageOf.chain(company.companyId, chain.chainId)}>
          Chain of {ruleOf(company, action.relayId)?.name ?? action.relayId}, received <Time at={chain.receivedAt} />
        </a>
      </p>
      {reason && reason !== error?.message && <Said look="reason" text={reason} />}
      {result?.note && <Said look="small" text={`Note: ${result.note}`} />}
      {error && state !== 'done' && <Failure of={{ ...error, assignmentId }} />}
      <Verbs chain={chain} action={action} onDone={onDone} />
    </>
  );
}
