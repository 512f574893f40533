/** @returns the elapsed milliseconds, by the monotonic clock. */
export function stopwatch(): () => number {
  const begun = performance.now();
  return () => Math.round(performance.now() - begun);
}
