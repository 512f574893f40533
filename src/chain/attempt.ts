/** One try at an action, and its outcome. */

import type { ActionError } from './action-status.js';
import { attemptsWithin, backoffSeconds, waitsTooLong } from './backoff.js';
import { wasTried } from './outcome.js';

/** If `own` is true, this is a single automatic retry of a held action. Otherwise, attempts repeat within the retry budget. */
export interface Try {
  own: boolean;
  /** The number of earlier attempts that used the retry budget. */
  made: number;
  /** The number of waits since the last attempt. */
  waits: number;
}

export interface Tried {
  attempts: number;
  failure?: ActionError;
  skipped?: string;
  recipients?: number;
  note?: string;
}

/** `dueAt` is the new due time of an action, in Unix milliseconds. With `alone`, the next actions do not wait for this action. */
export type Later = { dueAt: number; alone: boolean };

export const attemptsLeft = (retryBudgetSeconds: number, { own, made }: Try) =>
  own ? 1 : Math.max(1, attemptsWithin(retryBudgetSeconds) - made);

/** The seconds until the next attempt. Undefined if the retry budget allows no other attempt. */
export function retryWait(failure: ActionError, retryBudgetSeconds: number, { made }: Try): number | undefined {
  const { retryable, retryAfterSeconds = 0 } = failure;
  const isLast = !retryable || !wasTried(failure) || waitsTooLong(retryAfterSeconds, retryBudgetSeconds);
  return isLast ? undefined : Math.max(backoffSeconds(made + 1), retryAfterSeconds);
}

export function dataMistake(message: string): Tried {
  return { attempts: 0, failure: { type: 'DataMistake', message, retryable: false } };
}

/** Combines the outcomes of an action's parts. Of several failures, chooses one from before the call, or else a retryable one. */
export function outcomeOf(parts: readonly Tried[], recipients: number): Tried {
  const failures = parts.flatMap(({ failure }) => failure ?? []);
  const failure = failures.find((failure) => !wasTried(failure)) ?? failures.find(({ retryable }) => retryable) ?? failures[0];
  const attempts = Math.max(0, ...parts.map(({ attempts }) => attempts));
  const skipped = parts.find(({ skipped }) => skipped !== undefined)?.skipped;
  return failure ? { attempts, failure } : { attempts, skipped, recipients };
}
