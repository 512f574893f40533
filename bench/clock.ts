/** Milliseconds of the machine's monotonic clock: the same in every process on it, and untouched when the time of day is set. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
