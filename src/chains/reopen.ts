/**
 * Retries an action of a chain, also when the chain has closed: then its workflow is reset to its end, where it waits a moment
 * for the signal that says what is to be done after all (see `retries` in workflows/rule-chain.ts). What was done is not done
 * again, save a send or ticket update in its very last workflow task, under the same key.
 */

import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { reopenedSummary, type Steering, steeringSignals } from '../contract/messages.js';

/** The chain waits for seconds; where the signal was slower than that, once more. */
const tries = 4;

/** A chain that was cancelled stays so: opened again, it would begin cancelled, and cancel what is to be done after all. */
export class ChainCancelled extends Error {
  override readonly name = 'ChainCancelled';
}

/**
 * @throws WorkflowNotFoundError where the chain is gone, or could not be opened; ChainCancelled where it has closed and was
 * cancelled before.
 */
export async function retryChain(client: Client, workflowId: string, steering: Steering): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  for (let tried = 1; ; tried += 1) {
    try {
      await handle.signal(steeringSignals.retry, steering);
      return;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError) || tried === tries) throw error;
    }
    await open(client, workflowId, `retry of action ${steering.index} by ${steering.by ?? 'hand'}`);
  }
}

async function open(client: Client, workflowId: string, reason: string): Promise<void> {
  const { runId, status, raw } = await client.workflow.getHandle(workflowId).describe();
  if (status.name === 'RUNNING') return; // Somebody else has opened it meanwhile.
  if (raw.workflowExtendedInfo?.cancelRequested) throw new ChainCancelled();
  const workflowExecution = { workflowId, runId };
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution,
    workflowTaskFinishEventId: await resetPoint(client, workflowExecution),
    reason,
    // Of several who open it at the same time, one does.
    requestId: runId,
  });
}

/**
 * The end of the run's last workflow task; of one that was opened before and waited in vain to be told more, of that with which
 * it began to wait: after it the wait begins anew.
 */
async function resetPoint(client: Client, execution: { workflowId: string; runId: string }) {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution,
    maximumPageSize: 1000,
  });
  const events = history?.events ?? [];
  const last = events.find(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  const fired = events.find(({ timerFiredEventAttributes }) => timerFiredEventAttributes)?.timerFiredEventAttributes;
  const timer = fired && events.find(({ eventId }) => String(eventId) === String(fired.startedEventId));
  const summary = timer?.userMetadata?.summary && defaultPayloadConverter.fromPayload(timer.userMetadata.summary);
  const waited = summary === reopenedSummary ? timer?.timerStartedEventAttributes?.workflowTaskCompletedEventId : undefined;
  const point = waited ?? last?.eventId;
  if (!point) throw new Error(`the history of ${execution.workflowId} ends without a workflow task`);
  return point;
}
