/**
 * Waits, after a reset, for a delayed action that was started before it, which may run for a year. An attempt only looks whether
 * the workflow has closed, and else fails: the next begins after a back-off, which holds no slot of the worker.
 */

import { activityInfo } from '@temporalio/activity';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import type { ActionStatus } from '../chain/action-status.js';
import { backoffSeconds } from '../chain/retry.js';
import type { Activities } from '../contract/activities.js';
import type { Deps } from './effect.js';

export function awaitDelayed({ client }: Pick<Deps, 'client'>): Activities['awaitDelayed'] {
  return async ({ workflowId }) => {
    const handle = client.workflow.getHandle<() => Promise<ActionStatus[]>>(workflowId);
    const { closeTime } = await handle.describe();
    if (!closeTime)
      throw ApplicationFailure.create({
        type: 'DelayedActionRunning',
        message: `${workflowId} has not ended yet`,
        nextRetryDelay: backoffSeconds(activityInfo().attempt) * 1000,
        category: ApplicationFailureCategory.BENIGN, // Logged at level debug: it is no fault.
      });
    try {
      return await handle.result();
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      const { cause, message } = error;
      // Only a failure says what became of the actions; a cancellation or a termination carries nothing.
      const type = cause instanceof CancelledFailure ? 'DelayedActionCancelled' : 'DelayedActionEnded';
      const { type: ended, details } = cause instanceof ApplicationFailure ? cause : { type, details: [] };
      throw ApplicationFailure.nonRetryable(cause?.message ?? message, ended, ...(details ?? []));
    }
  };
}
