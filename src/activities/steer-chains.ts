/** Steers some of many chains: asks each how it stands and signals what concerns it. */

import { activityInfo } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { ChainCancelled, retryChain } from '../chains/reopen.js';
import type { Activities } from '../contract/activities.js';
import { actionsMeant, addProgress, type BulkOrder, type BulkProgress, noProgress } from '../contract/bulk.js';
import { signalOf, statusQuery, steeringSignals } from '../contract/messages.js';
import type { Deps } from './deps.js';

/** A chain answers nothing while a local try of an effect runs. */
const answerTimeoutMs = 10_000;
/** Attempts before chains that do not answer are given up. */
const attempts = 5;

export function steerChains({ client, log }: Pick<Deps, 'client' | 'log'>): Activities['steerChains'] {
  return async ({ order, workflowIds }) => {
    const settled = await Promise.allSettled(workflowIds.map((workflowId) => steer(client, workflowId, order)));
    const refused = settled.find((result) => result.status === 'rejected');
    // The next attempt finds those that are through changed, and does nothing to them.
    if (refused && activityInfo().attempt < attempts) throw refused.reason;
    return settled
      .map((result, place): BulkProgress => {
        const workflowId = workflowIds[place] ?? '';
        if (result.status === 'fulfilled')
          return { ...noProgress, done: 1, ...(result.value > 0 ? { steered: 1, actions: result.value } : { unchanged: 1 }) };
        log.warn({ err: result.reason, workflowId, ...order }, 'a chain could not be steered');
        const error = result.reason instanceof Error ? result.reason.message : String(result.reason);
        return { ...noProgress, done: 1, failed: 1, failures: [{ workflowId, error }] };
      })
      .reduce(addProgress, noProgress);
  };
}

/** @returns how many actions were steered. */
async function steer(client: Client, workflowId: string, { verb, actions, by, bulkId }: BulkOrder): Promise<number> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    const { status } = await handle.describe();
    if (status.name !== 'RUNNING' && !(actions.failed && status.name === 'FAILED')) return 0;
    const view = await client.withDeadline(Date.now() + answerTimeoutMs, () => handle.query(statusQuery));
    const { indexes, whole } = actionsMeant(verb, actions, view.actions);
    if (whole) await handle.cancel();
    else
      for (const index of indexes) {
        const steering = { index, by: `${by} (bulk ${bulkId})` };
        if (verb === 'retry' && actions.failed) await retryChain(client, workflowId, steering);
        else await handle.signal(steeringSignals[signalOf[verb]], steering);
      }
    return indexes.length;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || error instanceof ChainCancelled) return 0;
    throw error;
  }
}
