/** These activities report failures and recoveries to a notifier, and deliver notices. */

import { activityInfo } from '@temporalio/activity';
import { isGrpcServiceError } from '@temporalio/client';
import type { Activities } from '../contract/activities.js';
import { heldFor } from '../contract/causes.js';
import { type ChainNotice, deliveryId } from '../contract/notices.js';
import { deliver } from '../notices/deliver.js';
import { handToNotifier, type NewsOf, newsOf } from '../notices/start.js';
import type { Deps } from './effect.js';
import { inTime } from './in-time.js';

/** The number of attempts to reach the notifier, in 20 minutes altogether. If all fail, the last attempt delivers the notice. */
const handOverAttempts = 9;

/** Whether Temporal is overloaded. A separate delivery for each chain would then increase the load. */
const isOverloaded = (error: unknown) => isGrpcServiceError(error) && error.code === 8; // RESOURCE_EXHAUSTED

export function notifyFailure(deps: Deps): Activities['notifyFailure'] {
  return async (input) => {
    const { attempt, taskQueue, workflowExecution } = activityInfo();
    const notice = { ...input.notice, runId: workflowExecution?.runId };
    try {
      const news = await newsOf(deps.store, notice);
      const kept = keepCause(deps, notice, news);
      const notifier = await handToNotifier(deps, notice, news, input.notifier, taskQueue);
      deps.metrics.troubles.inc({ kind: notice.kind });
      await kept;
      return notifier;
    } catch (error) {
      if (attempt < handOverAttempts || isOverloaded(error)) throw error;
      const workflowId = deliveryId(notice);
      deps.log.warn({ err: error, workflowId }, 'a notifier cannot be reached: the notice is delivered without a notifier');
      deps.metrics.troubles.inc({ kind: notice.kind });
      await deliver(deps, notice, workflowId);
      return undefined;
    }
  };
}

const keepingMs = 2_000;

/** Stores why the action is held, or that its hold has ended. Ignores errors, because temporal/causes.ts corrects the store. */
async function keepCause({ store, log }: Deps, { kind, at }: ChainNotice, { cause, member }: NewsOf): Promise<void> {
  const { id: causeId, companyId } = cause;
  const keep = async () => {
    if (kind !== 'needs-attention') return store.causes.end(companyId, [member], at);
    return store.causes.hold(heldFor(cause), { ...member, since: at });
  };
  await inTime(keep(), keepingMs).catch((err: unknown) => {
    log.warn(
      { err, companyId, chainId: member.chainId, causeId },
      'the cause of an action that needs attention could not be stored',
    );
  });
}

export function deliverNotice(deps: Deps): Activities['deliverNotice'] {
  return (notice) => deliver(deps, notice, activityInfo().workflowExecution?.workflowId ?? '');
}
