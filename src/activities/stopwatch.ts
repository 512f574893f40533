/** @returns how many milliseconds have passed since, which no clock that is set changes. */
export function stopwatch(): () => number {
  const begun = performance.now();
  return () => Math.round(performance.now() - begun);
}
