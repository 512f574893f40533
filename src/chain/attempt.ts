/** One try at an action, and its outcome. */

import type { ActionError } from './action-status.js';
import { attemptsWithin, backoffSeconds, waitsTooLong } from './backoff.js';
import { wasTried } from './outcome.js';

/** `own`: the relay itself tries a held action once. Otherwise it tries within the retry budget. */
export interface Try {
  own: boolean;
  /** The number of earlier attempts that count. */
  made: number;
  /** The number of waits since the last attempt. */
  waits: number;
}

/** The outcome of a try. */
export interface Tried {
  attempts: number;
  failure?: ActionError;
  skipped?: string;
  recipients?: number;
}

/** `dueAt`: when the open action is due, in Unix milliseconds. `alone`: the actions behind it do not wait for it. */
export interface Later {
  dueAt: number;
  alone: boolean;
}

export function attemptsLeft(retryBudgetSeconds: number, { own, made }: Try): number {
  return own ? 1 : Math.max(1, attemptsWithin(retryBudgetSeconds) - made);
}

/** Seconds between the first attempt and the next one; undefined: there is none within the budget. */
export function retryWait(failure: ActionError, retryBudgetSeconds: number, { made }: Try): number | undefined {
  const { retryable, retryAfterSeconds = 0 } = failure;
  const isLast = !retryable || !wasTried(failure) || waitsTooLong(retryAfterSeconds, retryBudgetSeconds);
  return isLast ? undefined : Math.max(backoffSeconds(made + 1), retryAfterSeconds);
}

export function dataMistake(message: string): Tried {
  return { attempts: 0, failure: { type: 'DataMistake', message, retryable: false } };
}

/** The outcome of a try with several parts. The failure of a part that was not tried comes first, then a retryable failure. */
export function outcomeOf(parts: readonly Tried[], recipients: number): Tried {
  const failures = parts.flatMap(({ failure }) => failure ?? []);
  const failure = failures.find((failure) => !wasTried(failure)) ?? failures.find(({ retryable }) => retryable) ?? failures[0];
  const attempts = Math.max(0, ...parts.map(({ attempts }) => attempts));
  const skipped = parts.find(({ skipped }) => skipped !== undefined)?.skipped;
  return failure ? { attempts, failure } : { attempts, skipped, recipients };
}
