/**
 * Opens a chain again that has closed, so that an action of it that failed can be retried: its workflow is reset to its last workflow task, and then waits
 * a moment for the signal that says what is to be done after all (see `reopened` in workflows/rule-chain.ts). What was done is not done again, save a
 * send or ticket update in that very task, under the same key.
 */

import { randomUUID } from 'node:crypto';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { reopenedSummary, type Steering, steeringSignals } from '../workflows/messages.js';
import { Problem } from './problem.js';

// temporal.api.enums.v1.ResetReapplyExcludeType: what was signalled before is not to decide anew.
const excludeSignals = 1;

/** The chain waits for seconds; where the signal was slower than that, once more. */
const tries = 3;

/** @throws Problem 503 where the chain could not be opened. */
export async function reopen(client: Client, workflowId: string, steering: Steering): Promise<void> {
  const { namespace } = client.options;
  const handle = client.workflow.getHandle(workflowId);
  for (let tried = 0; tried < tries; tried += 1) {
    const { runId } = await handle.describe();
    const workflowExecution = { workflowId, runId };
    await client.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution,
      workflowTaskFinishEventId: await resetPoint(client, workflowExecution),
      reason: `retry of action ${steering.index} by ${steering.by ?? 'hand'}`,
      requestId: randomUUID(),
      resetReapplyExcludeTypes: [excludeSignals],
    });
    try {
      await handle.signal(steeringSignals.retry, steering);
      return;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
  throw new Problem('temporal-unavailable', 'The chain could not be opened again. Try again.', {
    headers: { 'Retry-After': '10' },
  });
}

/**
 * The event with which the last workflow task of the run was completed; of a chain that was opened before and waited in vain to be told more, the task that
 * began to wait: after it the wait begins anew.
 */
async function resetPoint(client: Client, execution: { workflowId: string; runId: string }) {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution,
    maximumPageSize: 1000,
  });
  const events = history?.events ?? [];
  const task = events.find(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  const fired = events.find(({ timerFiredEventAttributes }) => timerFiredEventAttributes)?.timerFiredEventAttributes;
  const timer = fired && events.find(({ eventId }) => String(eventId) === String(fired.startedEventId));
  const summary = timer?.userMetadata?.summary && defaultPayloadConverter.fromPayload(timer.userMetadata.summary);
  const waited = summary === reopenedSummary ? timer?.timerStartedEventAttributes?.workflowTaskCompletedEventId : undefined;
  const point = waited ?? task?.eventId;
  if (!point) throw new Error(`the history of ${execution.workflowId} ends without a workflow task`);
  return point;
}
