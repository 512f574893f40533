/** Times of retries: of a failed effect within the retry budget, and of a held action. Part of the replay contract. */

const longestBackoff = 60; // Seconds.

/** Seconds before retry 1, 2, 3, …: 1, 2, 4, … 60. */
export function backoffSeconds(retry: number): number {
  return Math.min(2 ** (retry - 1), longestBackoff);
}

/** @param skip - the number of earlier retries. */
export function retryPolicy(maximumAttempts: number, skip: number) {
  return {
    initialInterval: backoffSeconds(skip + 1) * 1000,
    backoffCoefficient: 2,
    maximumInterval: longestBackoff * 1000,
    maximumAttempts,
  };
}

/** The number of attempts, including the first, that begin within the budget. */
export function attemptsWithin(budgetSeconds: number): number {
  let attempts = 1;
  for (let waited = backoffSeconds(1); waited <= budgetSeconds; waited += backoffSeconds(attempts)) attempts += 1;
  return attempts;
}

/** Seconds before the automatic retries of a held action: 30, 60, … 1800. */
export function automaticRetrySeconds(retry: number): number {
  return Math.min(30 * 2 ** (retry - 1), 1800);
}

/** Whether a `Retry-After` is longer than the budget. People then get a notice immediately. */
export function waitsTooLong(waitSeconds: number, budgetSeconds: number): boolean {
  return waitSeconds > Math.max(budgetSeconds, longestBackoff);
}
