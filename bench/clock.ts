/** Milliseconds of the machine's monotonic clock: all processes share it, and setting the time of day does not change it. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
