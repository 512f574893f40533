/** Milliseconds of the machine's monotonic clock. All processes share this clock, and a change of the time of day has no effect. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
