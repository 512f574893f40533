/** Failures: what became of a failed activity, read out of what the SDK throws; and how a workflow fails when its actions did. */

import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { ActionError, ActionStatus } from '../chain/action-status.js';
import type { Chain } from '../chain/chain.js';
import { connectors } from '../chain/pause.js';
import { failureMessage } from '../chain/web-ui.js';

export type FailedAttempt = ActionError & { attempts: number };

/**
 * A failed local activity throws a bare `ApplicationFailure`, an ordinary one (and a local one's time-out) an `ActivityFailure`
 * around its cause.
 * @throws the error itself when it is a cancellation.
 */
export function readFailure(error: unknown): FailedAttempt {
  if (isCancellation(error)) throw error;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    return {
      type: 'Timeout',
      message: 'no worker reported the end of the attempt in time; see whether workers run',
      retryable: true,
      unknown: true,
      attempts: 1,
    };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  if (!(cause instanceof ApplicationFailure) || (details === undefined && !cause.nonRetryable)) {
    const words = `the relay itself failed: ${message}; see the log of its workers`;
    return { type: 'InternalError', message: words, retryable: true, attempts: 1 };
  }
  const fact = (name: string): unknown =>
    typeof details === 'object' && details !== null ? Reflect.get(details, name) : undefined;
  const retryAfter = fact('retryAfterSeconds');
  const attempts = fact('attempt');
  const paused = connectors.find((connector) => connector === fact('paused'));
  return {
    type: cause.type ?? 'InternalError',
    message,
    retryable: fact('retryable') === true,
    ...(fact('unknown') === true && { unknown: true }),
    ...(typeof retryAfter === 'number' && { retryAfterSeconds: retryAfter }),
    ...(paused && { paused }),
    attempts: typeof attempts === 'number' ? attempts : 1,
  };
}

/** Whether the outside system was called. If not, neither attempt nor budget is used. */
export function wasTried({ type, paused }: ActionError): boolean {
  return !paused && type !== 'NotTried';
}

/** The facts of a failure that are shown, without those of one attempt. */
export function shownFailure({ type, message, retryable, unknown, retryAfterSeconds }: ActionError): ActionError {
  return { type, message, retryable, ...(unknown && { unknown }), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

/** How a workflow ends when an action of it ended `failed` or `not-run`. */
export function actionsFailed(type: string, chain: Chain, actions: ActionStatus[], details: unknown): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(failureMessage(chain, actions), type, details);
  failure.stack = ''; // Where in the code it arose says nothing, and would hide the details in the Web UI.
  return failure;
}
