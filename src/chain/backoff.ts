/** How long the relay waits before it retries a failed effect or a held action. Part of the replay contract. */

const longestBackoff = 60; // in seconds

/** The seconds before a retry: 1 before the first retry, then 2, 4, … up to 60. */
export const backoffSeconds = (retry: number) => Math.min(2 ** (retry - 1), longestBackoff);

/** @param skip - the number of earlier retries. The next waits are longer than the waits of these retries. */
export function retryPolicy(maximumAttempts: number, skip: number) {
  return {
    initialInterval: backoffSeconds(skip + 1) * 1000,
    backoffCoefficient: 2,
    maximumInterval: longestBackoff * 1000,
    maximumAttempts,
  };
}

/** The number of attempts that begin within the budget, including the first attempt. */
export function attemptsWithin(budgetSeconds: number): number {
  let attempts = 1;
  for (let waited = backoffSeconds(1); waited <= budgetSeconds; waited += backoffSeconds(attempts)) attempts += 1;
  return attempts;
}

/** The seconds before an automatic retry of a held action: 30 before the first retry, then 60, 120, … up to 1800. */
export const automaticRetrySeconds = (retry: number) => Math.min(30 * 2 ** (retry - 1), 1800);

/** Whether a `Retry-After` is longer than the retry budget, and longer than 60 s. If so, people get a notice immediately. */
export const waitsTooLong = (waitSeconds: number, budgetSeconds: number) => waitSeconds > Math.max(budgetSeconds, longestBackoff);
