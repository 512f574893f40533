/** Resets of workflows, as an operator does them. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';

/** The workflow tasks of a run: the events to which it can be reset. */
export async function resetPoints(client: Client, workflowId: string, runId?: string) {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: task, eventId }) => (task && eventId ? [eventId] : []));
}

type ResetPoint = Awaited<ReturnType<typeof resetPoints>>[number];

/** @param leftOut - events that are not reapplied, by the numbers of temporal.api.enums.v1.ResetReapplyExcludeType */
export async function resetAt(client: Client, workflowId: string, runId: string, point: ResetPoint, leftOut: number[] = []) {
  await client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: point,
    reason: 'test',
    requestId: randomUUID(),
    resetReapplyExcludeTypes: leftOut,
  });
}

/** Resets a workflow to the end of its first workflow task. */
export async function resetToFirst(client: Client, workflowId: string): Promise<void> {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const [first] = await resetPoints(client, workflowId, runId);
  assert(first);
  await resetAt(client, workflowId, runId, first);
}
