/** Steers many chains, a batch after the other: what was confirmed is done, whatever happens to the process that asked for it. */

import { proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../contract/activities.js';
import { addProgress, type BulkOrder, noProgress } from '../contract/bulk.js';
import type { BulkProgress } from '../contract/chain-resource.js';
import { progressQuery } from '../contract/messages.js';

/** Part of the replay contract. */
const batchSize = 20;

export async function BulkSteering(order: BulkOrder, workflowIds: string[]): Promise<BulkProgress> {
  let progress = noProgress;
  setHandler(progressQuery, () => progress);
  for (let from = 0; from < workflowIds.length; from += batchSize) {
    const { steerChains } = proxyActivities<Activities>({
      startToCloseTimeout: '2 minutes',
      // A worker that never got the task, or was lost, is noticed by this.
      heartbeatTimeout: '30 seconds',
      summary: `${order.verb}: chains ${from + 1} to ${Math.min(from + batchSize, workflowIds.length)} of ${workflowIds.length}`,
    });
    progress = addProgress(progress, await steerChains({ order, workflowIds: workflowIds.slice(from, from + batchSize) }));
  }
  return progress;
}
