/** Milliseconds of the machine's monotonic clock. All processes share this clock. Changes of the time of day do not affect it. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
