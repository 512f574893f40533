/** Waits, after a reset, for a delayed action that runs already. */

import { Context } from '@temporalio/activity';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { Activities } from '../contract/activities.js';
import type { DelayedAction } from '../workflows/delayed-action.js';
import type { Deps } from './deps.js';

export function awaitDelayed({ client }: Deps): Activities['awaitDelayed'] {
  return async ({ workflowId }) => {
    const beat = setInterval(() => Context.current().heartbeat(), 10_000);
    try {
      const handle = client.workflow.getHandle<typeof DelayedAction>(workflowId);
      return await Promise.race([handle.result(), Context.current().cancelled]);
    } catch (error) {
      // The ways in which it may end: its failure carries what became of its actions, the other ways say nothing.
      if (!(error instanceof WorkflowFailedError)) throw error;
      const { cause, message } = error;
      const ended = cause instanceof CancelledFailure ? 'DelayedActionCancelled' : 'DelayedActionEnded';
      const said = cause instanceof ApplicationFailure ? cause : { type: ended, details: [] };
      throw ApplicationFailure.nonRetryable(cause?.message ?? message, said.type, ...(said.details ?? []));
    } finally {
      clearInterval(beat);
    }
  };
}
