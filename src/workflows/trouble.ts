/** Reads what became of a failed activity out of what the SDK throws. */

import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { Trouble } from '../chain/outcome.js';

export type FailedAttempt = Trouble & { attempts: number };

/**
 * A failed local activity throws a bare `ApplicationFailure`, an ordinary one (and a local one's time-out) an `ActivityFailure` around its cause.
 * @throws the error itself when it is a cancellation.
 */
export function readFailure(error: unknown): FailedAttempt {
  if (isCancellation(error)) throw error;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    return {
      type: 'Timeout',
      message: 'no worker reported the end of the attempt in time',
      retryable: true,
      unknown: true,
      attempts: 1,
    };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  if (!(cause instanceof ApplicationFailure)) return { type: 'InternalError', message, retryable: true, attempts: 1 };
  const details: unknown = cause.details?.[0];
  const fact = (name: string): unknown =>
    typeof details === 'object' && details !== null ? Reflect.get(details, name) : undefined;
  const retryAfter = fact('retryAfterSeconds');
  const attempts = fact('attempt');
  return {
    type: cause.type ?? 'InternalError',
    message,
    retryable: fact('retryable') === true || (details === undefined && !cause.nonRetryable),
    ...(fact('unknown') === true && { unknown: true }),
    ...(typeof retryAfter === 'number' && { retryAfterSeconds: retryAfter }),
    attempts: typeof attempts === 'number' ? attempts : 1,
  };
}
