/** After a reset, waits for a delayed action of an earlier run. Each attempt checks only once, so waiting uses no worker slot. */

import { activityInfo } from '@temporalio/activity';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import type { ActionStatus } from '../chain/action-status.js';
import type { Activities } from '../contract/activities.js';
import type { Deps } from './effect.js';

/** The longest pause between two attempts. If a thousand chains wait, they send Temporal two requests a second. */
const longestSeconds = 600;

export function awaitDelayed({ client }: Pick<Deps, 'client'>): Activities['awaitDelayed'] {
  return async ({ workflowId }) => {
    const handle = client.workflow.getHandle<() => Promise<ActionStatus[]>>(workflowId);
    const { closeTime } = await handle.describe();
    if (!closeTime)
      throw ApplicationFailure.create({
        type: 'DelayedActionRunning',
        message: `${workflowId} has not ended yet`,
        nextRetryDelay: Math.min(2 ** (activityInfo().attempt - 1), longestSeconds) * 1000,
        category: ApplicationFailureCategory.BENIGN, // the SDK logs benign failures at level debug
      });
    try {
      return await handle.result();
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      const { cause, message } = error;
      // A failure contains the states of the actions. A cancellation or a termination contains no states.
      const type = cause instanceof CancelledFailure ? 'DelayedActionCancelled' : 'DelayedActionEnded';
      const { type: ended, details } = cause instanceof ApplicationFailure ? cause : { type, details: [] };
      throw ApplicationFailure.nonRetryable(cause?.message ?? message, ended, ...(details ?? []));
    }
  };
}
