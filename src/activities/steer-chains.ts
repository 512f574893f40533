/** Steers a batch of the chains of a bulk order: asks each for its status and signals the actions that are meant. */

import { activityInfo, Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import { chainOfWorkflow } from '../chain/chain.js';
import { isRetry } from '../chain/outcome.js';
import { usesRoom } from '../chain/room.js';
import type { Activities } from '../contract/activities.js';
import { actionsMeant, addProgress, type BulkOrder, noProgress } from '../contract/bulk.js';
import type { BulkProgress } from '../contract/chain-resource.js';
import { signalOf, statusQuery } from '../contract/messages.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { heldForCause } from '../temporal/bulk.js';
import { correctAction } from '../temporal/mend.js';
import { describeChain, isBusy } from '../temporal/read.js';
import { retryChain } from '../temporal/steer.js';
import type { Deps } from './effect.js';

interface SteeringDeps extends Pick<Deps, 'client' | 'log'> {
  store: { causes: Pick<Store['causes'], 'heldFor'>; usage: Pick<Store['usage'], 'add'> };
}

/** For each chain. One that has a workflow task under way, in which an effect may be tried, is waited for. */
const answerTimeoutMs = 10_000;
/** For all that a chain is asked and told; less than the heartbeat timeout of workflows/bulk-steering.ts. */
const chainTimeoutMs = 20_000;
/** After so many, chains that do not answer count as failed. */
const mostAttempts = 5;

/** What an attempt leaves to the next by its heartbeat: how many actions it has steered in each chain. */
const steeredSchema = z.record(z.string(), z.number());

export function steerChains({ client, log, store }: SteeringDeps): Activities['steerChains'] {
  return async ({ order, workflowIds }) => {
    const { attempt, heartbeatDetails } = activityInfo();
    const { bulkId, verb } = order;
    const heldOf = await heldForCause(store, order.companyId, order.actions);
    const steered = steeredSchema.safeParse(heartbeatDetails).data ?? {};
    const settled = await Promise.allSettled(
      workflowIds.map(async (workflowId) => {
        steered[workflowId] ??= await client.withDeadline(Date.now() + chainTimeoutMs, () =>
          steer({ client, store, heldOf }, workflowId, order),
        );
        Context.current().heartbeat(steered satisfies z.infer<typeof steeredSchema>);
        return steered[workflowId];
      }),
    );
    const refused = settled.find((result) => result.status === 'rejected');
    if (refused && attempt < mostAttempts) throw refused.reason;
    return settled
      .map((result, place): BulkProgress => {
        const workflowId = workflowIds[place] ?? '';
        if (result.status === 'fulfilled')
          return { ...noProgress, done: 1, ...(result.value > 0 ? { steered: 1, actions: result.value } : { unchanged: 1 }) };
        log.warn({ err: result.reason, workflowId, bulkId, verb }, 'a chain could not be steered');
        const error = result.reason instanceof Error ? result.reason.message : String(result.reason);
        return { ...noProgress, done: 1, failed: 1, failures: [{ workflowId, error }] };
      })
      .reduce(addProgress, noProgress);
  };
}

async function steer(
  { client, store, heldOf }: Pick<SteeringDeps, 'client' | 'store'> & { heldOf: Awaited<ReturnType<typeof heldForCause>> },
  workflowId: string,
  { verb, actions, by, bulkId, correction }: BulkOrder,
): Promise<number> {
  const handle = client.workflow.getHandle(workflowId);
  const description = await describeChain(client, workflowId, Date.now() + answerTimeoutMs);
  const status = description?.status.name;
  const isOpen = status === 'RUNNING' || (actions.failed === true && status === 'FAILED');
  const { attempt, scheduledTimestampMs } = activityInfo();
  if (!description || (!isOpen && attempt === 1)) return 0;
  if (isBusy(description)) throw new Error(`${workflowId} was busy with a workflow task`);
  try {
    const view = await handle.query(statusQuery);
    // What an attempt has done whose worker was lost: its last heartbeat may have been lost too.
    const bulk = `${by} (bulk ${bulkId})`;
    const done = view.actions.filter(({ steered }) => steered?.some(({ by }) => by === bulk)).length;
    const cancelled = (description.closeTime?.getTime() ?? 0) > scheduledTimestampMs && status === 'CANCELLED';
    if (!isOpen) return verb === 'cancel' && cancelled ? view.actions.filter(({ state }) => state === 'cancelled').length : done;
    if (view.historyFull && usesRoom(verb)) return done;
    const { companyId, chainId } = chainOfWorkflow(workflowId) ?? { companyId: '', chainId: '' };
    const { indexes, whole } = actionsMeant(verb, actions, view.actions, heldOf(chainId));
    if (whole) await handle.cancel();
    if (whole) return done + indexes.length;
    const chain = { chainId: workflowId, workflowId };
    let steered = 0;
    for (const index of indexes) {
      const action = view.actions.find((action) => action.index === index);
      const mended = action && correction ? await correctAction(client, chain, action, correction) : undefined;
      if (verb === 'mend' && !mended?.changes) continue;
      const steering = { index, by: bulk, fields: mended?.changes };
      if (isRetry(verb) && actions.failed) await retryChain(client, chain, steering, verb);
      else await handle.signal(signalOf(verb), steering);
      if (mended?.recipients) store.usage.add(companyId, { actions: 0, recipients: mended.recipients });
      steered += 1;
    }
    return done + steered;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || error instanceof Problem) return 0;
    throw error;
  }
}
