/** Steers many chains, one batch after another. The workflow continues even if the process that started the workflow ends. */

import { proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../contract/activities.js';
import { addProgress, type BulkOrder, mostAttempts, noProgress } from '../contract/bulk.js';
import type { BulkProgress } from '../contract/chain-resource.js';
import { readFailure } from '../contract/failures.js';
import { progressQuery } from '../contract/messages.js';

/** Part of the replay contract. */
const batchSize = 20;

export async function BulkSteering(order: BulkOrder, workflowIds: string[]): Promise<BulkProgress> {
  let progress = noProgress;
  setHandler(progressQuery, () => progress);
  for (let from = 0; from < workflowIds.length; from += batchSize) {
    const { steerChains } = proxyActivities<Activities>({
      startToCloseTimeout: '2 minutes',
      heartbeatTimeout: '30 seconds', // detects a worker that was lost, or a task that reached no worker
      retry: { maximumAttempts: mostAttempts, backoffCoefficient: 3 }, // A bad batch must not crash all workers one after another.
      summary: `${order.verb}: chains ${from + 1} to ${Math.min(from + batchSize, workflowIds.length)} of ${workflowIds.length}`,
    });
    const batch = workflowIds.slice(from, from + batchSize);
    const steered = await steerChains({ order, workflowIds: batch }).catch((error: unknown) => {
      const { failure } = readFailure(error);
      const failures = batch.map((workflowId) => ({ workflowId, error: failure.message }));
      return { ...noProgress, done: batch.length, failed: batch.length, failures };
    });
    progress = addProgress(progress, steered);
  }
  return progress;
}
