/** Telling people: what happened is handed to a notifier, and each notice that it decides on is delivered. */

import { setTimeout } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contract/activities.js';
import { type ChainNotice, deliveryId } from '../contract/notices.js';
import { deliver } from '../notices/deliver.js';
import { handToNotifier, type NewsOf, newsOf } from '../notices/start.js';
import type { Deps } from './effect.js';

/** Attempts to reach the notifier, before the notice is delivered by itself. */
const handOverAttempts = 3;

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
      if (attempt < handOverAttempts) throw error;
      deps.log.warn(
        { err: error, workflowId: deliveryId(notice) },
        'a notifier cannot be reached: its notice is delivered by itself',
      );
      deps.metrics.troubles.inc({ kind: notice.kind });
      await deliver(deps, notice, deliveryId(notice));
      return undefined;
    }
  };
}

/** No chain waits longer for a row. */
const keepingMs = 2_000;

/** Notes in the store why the action is held, or that it is not any more. Never rejects: what is missed, temporal/causes.ts finds. */
async function keepCause({ store, log }: Deps, { kind, at }: ChainNotice, { cause, member }: NewsOf): Promise<void> {
  const { id: causeId, companyId, reason } = cause;
  const keep = async () => {
    if (kind !== 'needs-attention') return store.causes.end(companyId, [member], at);
    const why = { companyId, causeId, reason: reason.type, message: reason.message };
    return store.causes.hold(why, { ...member, since: at });
  };
  const patience = new AbortController();
  const late = setTimeout(keepingMs, undefined, patience).then(() => {
    throw new Error('no answer in time');
  });
  await Promise.race([keep(), late]).catch((err: unknown) => {
    log.warn({ err, companyId, chainId: member.chainId, causeId }, 'why an action is held could not be noted');
  });
  patience.abort();
  await late.catch(() => {});
}

/** Brings a notice to everybody whom it concerns, under the key of its workflow. */
export function deliverNotice(deps: Deps): Activities['deliverNotice'] {
  return (notice) => deliver(deps, notice, activityInfo().workflowExecution?.workflowId ?? '');
}
