/** What the SDK throws for a failed activity, read; and how a workflow fails when its actions did. */

import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { ActionError, ActionStatus } from '../chain/action-status.js';
import type { Chain } from '../chain/chain.js';
import { failureMessage } from '../chain/web-ui.js';
import type { FailureDetails } from '../contract/activities.js';

export interface FailedAttempt {
  attempts: number;
  failure: ActionError;
}

/** An ordinary activity, and a local one's time-out, wraps the cause in an `ActivityFailure`. @throws a cancellation again. */
export function readFailure(error: unknown): FailedAttempt {
  if (isCancellation(error)) throw error;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    const message = 'no worker reported the end of the attempt in time; see whether workers run';
    return { attempts: 1, failure: { type: 'Timeout', message, retryable: true, unknown: true } };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  const failed = cause instanceof ApplicationFailure ? cause : undefined;
  const details = failed?.details?.[0] as Partial<FailureDetails> | undefined;
  if (!failed || (!details && !failed.nonRetryable)) {
    const words = `the relay itself failed: ${message}; see the log of its workers`;
    return { attempts: 1, failure: { type: 'InternalError', message: words, retryable: true } };
  }
  const { retryable = false, unknown, retryAfterSeconds, paused, attempt = 1 } = details ?? {};
  return {
    attempts: attempt,
    failure: { type: failed.type ?? 'InternalError', message, retryable, unknown, retryAfterSeconds, paused },
  };
}

/** Whether the outside system was called. If not, neither attempt nor budget is used. */
export function wasTried({ type, paused }: ActionError): boolean {
  return !paused && type !== 'NotTried';
}

export function actionsFailed(type: string, chain: Chain, actions: ActionStatus[], details: unknown): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(failureMessage(chain, actions), type, details);
  failure.stack = ''; // Where in the code it arose says nothing, and would hide the details in the Web UI.
  return failure;
}
