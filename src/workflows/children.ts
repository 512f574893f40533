/** The delayed actions of a chain: armed first, awaited to the end, and found again after a reset. */

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { type Chain, type ChainAction, delayedWorkflowId, dueAt } from '../chain/chain.js';
import { chainDetails } from '../chain/details.js';
import { delayedSummary } from '../chain/summary.js';
import type { Activities } from '../contract/activities.js';
import { type Steering, type SteeringName, steeringSignals } from '../contract/messages.js';
import { searchAttributesOf } from '../contract/search-attributes.js';
import type { DelayedAction } from './delayed-action.js';

/** Longer than a local activity takes. */
const momentMs = 3000;

export interface Child {
  actions: ChainAction[];
  /** Whether it has closed. */
  closed: boolean;
  /** Whether it may tell of itself in the next moments: it is as good as due, or somebody has steered it, and has not closed. */
  stirs(): boolean;
  /** Resolves when it has closed, however it did, to what it says became of its actions; never rejects. */
  ended: Promise<{ actions: ActionStatus[]; how?: string }>;
  /** Passes a person's signal on, once it is armed. @returns false where it is gone. */
  signal(name: SteeringName, steering: Steering): Promise<boolean>;
}

/** Issues the start of a `DelayedAction`; the command goes out with the workflow task. */
export function armDelayed(chain: Chain, actions: ChainAction[]): Child {
  const workflowId = delayedWorkflowId(chain, actions[0]?.index ?? 0);
  const started = startChild<typeof DelayedAction>('DelayedAction', {
    workflowId,
    args: [{ ...chain, actions }],
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    typedSearchAttributes: searchAttributesOf(chain, actions),
    staticSummary: delayedSummary(actions),
    staticDetails: chainDetails(chain, actions),
  });
  const armed = started.then(
    () => {},
    () => {},
  );
  const due = Math.min(...actions.map((action) => dueAt(chain, action)));
  let steered = false;
  const child: Child = {
    actions,
    closed: false,
    stirs: () => !child.closed && (steered || due <= Date.now() + momentMs),
    ended: awaitEnd(started, workflowId).finally(() => {
      child.closed = true;
    }),
    async signal(name, { index, seconds, by }) {
      steered = true;
      await armed;
      try {
        const argument = { index, ...(seconds !== undefined && { seconds }), ...(by !== undefined && { by }) };
        await getExternalWorkflowHandle(workflowId).signal(steeringSignals[name], argument);
        return true;
      } catch (error) {
        log.warn(`the signal ${name} could not be passed on to ${workflowId}`, { error });
        return false;
      }
    },
  };
  return child;
}

async function awaitEnd(
  started: Promise<ChildWorkflowHandle<typeof DelayedAction>>,
  workflowId: string,
): Promise<{ actions: ActionStatus[]; how?: string }> {
  try {
    const child = await started;
    return { actions: await child.result() };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return awaitRunning(workflowId);
    return readEnd(error);
  }
}

/** After a reset: the child runs already, or has closed, without being a child of this run. */
async function awaitRunning(workflowId: string): Promise<{ actions: ActionStatus[]; how?: string }> {
  const run = CancellationScope.current();
  run.cancelRequested.catch(() =>
    CancellationScope.nonCancellable(() => getExternalWorkflowHandle(workflowId).cancel()).catch((error: unknown) =>
      log.warn(`${workflowId} could not be cancelled`, { error }),
    ),
  );
  const { awaitDelayed } = proxyActivities<Activities>({
    startToCloseTimeout: '400 days',
    heartbeatTimeout: '1 minute',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary: `waits for the end of ${workflowId}, which was started before the reset`,
  });
  try {
    return { actions: await CancellationScope.nonCancellable(() => awaitDelayed({ workflowId })) };
  } catch (error) {
    return readEnd(error);
  }
}

/** A child that did not complete says in its failure what became of its actions, or has said so by signal. */
function readEnd(error: unknown): { actions: ActionStatus[]; how?: string } {
  const cause = error instanceof ChildWorkflowFailure || error instanceof ActivityFailure ? error.cause : error;
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  if (cause instanceof ApplicationFailure && type === 'ActionsFailed')
    return { actions: (cause.details ?? []).flat() as ActionStatus[] };
  const cancelled = isCancellation(error) || type === 'DelayedActionCancelled';
  return {
    actions: [],
    how: cancelled
      ? 'cancelled'
      : `ended early, and what it had done by then is not known: ${cause instanceof Error ? cause.message : String(cause)}`,
  };
}
