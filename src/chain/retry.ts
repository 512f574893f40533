/**
 * When a failed effect is tried again: within the retry budget, and by the relay itself during a hold.
 * Part of the replay contract.
 */

const longestBackoff = 60; // Seconds.

/** Seconds to wait before a retry, counted from 1: 1, 2, 4, … 60. */
export function backoffSeconds(retry: number): number {
  return Math.min(2 ** (retry - 1), longestBackoff);
}

/** The same back-off as a Temporal retry policy. @param skip - the retries already made. */
export function retryPolicy(maximumAttempts: number, skip: number) {
  return {
    initialInterval: backoffSeconds(skip + 1) * 1000,
    backoffCoefficient: 2,
    maximumInterval: longestBackoff * 1000,
    maximumAttempts,
  };
}

/** How many attempts, the first one included, begin before their back-offs add up to more than the budget. */
export function attemptsWithin(budgetSeconds: number): number {
  let attempts = 1;
  for (let waited = backoffSeconds(1); waited <= budgetSeconds; waited += backoffSeconds(attempts)) attempts += 1;
  return attempts;
}

/** Seconds that a held action waits before an automatic retry, counted from 1: 30, 60, … 1800. */
export function automaticRetrySeconds(retry: number): number {
  return Math.min(30 * 2 ** (retry - 1), 1800);
}

/** Whether waiting as long as a `Retry-After` asks for uses up the budget, so that people are told now. */
export function waitsTooLong(waitSeconds: number, budgetSeconds: number): boolean {
  return waitSeconds > Math.max(budgetSeconds, longestBackoff);
}
