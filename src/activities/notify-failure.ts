/** Telling people: what happened is handed to a notifier, and each notice that it decides on is delivered. */

import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contract/activities.js';
import { deliveryId } from '../contract/notices.js';
import { deliver } from '../notices/deliver.js';
import { handToNotifier } from '../notices/start.js';
import type { Deps } from './effect.js';

/** Attempts to reach the notifier, before the notice is delivered by itself. */
const handOverAttempts = 3;

export function notifyFailure(deps: Deps): Activities['notifyFailure'] {
  return async (input) => {
    const { attempt, taskQueue, workflowExecution } = activityInfo();
    const notice = { ...input.notice, runId: workflowExecution?.runId };
    try {
      const notifier = await handToNotifier(deps, notice, input.notifier, taskQueue);
      deps.metrics.troubles.inc({ kind: notice.kind });
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

/** Brings a notice to everybody whom it concerns, under the key of its workflow. */
export function deliverNotice(deps: Deps): Activities['deliverNotice'] {
  return (notice) => deliver(deps, notice, activityInfo().workflowExecution?.workflowId ?? '');
}
