/** A rate limiter with a token bucket (the share) for each key. A key that is not in memory has a full share. */
export class Shares {
  /** The time at which the share of each key is full again, by the monotonic clock. The least recently used key is first. */
  readonly #fullAt = new Map<string, number>();

  constructor(
    private readonly size: number,
    private readonly refillMs: number, // milliseconds for one unit
    private readonly remembered = 50_000, // the maximum number of keys in memory; the least recently used key is removed
  ) {}

  /** Milliseconds until `take` succeeds. */
  wait(key = ''): number {
    return Math.max(0, (this.#fullAt.get(key) ?? 0) - performance.now() - (this.size - 1) * this.refillMs);
  }

  /** @param soonMs - also takes a unit that becomes free within this time. @returns whether a unit was taken. */
  take(key = '', soonMs = 0): boolean {
    if (this.wait(key) > soonMs) return false;
    const fullAt = Math.max(this.#fullAt.get(key) ?? 0, performance.now()) + this.refillMs;
    this.#fullAt.delete(key);
    this.#fullAt.set(key, fullAt);
    const [oldest] = this.#fullAt.size > this.remembered ? this.#fullAt.keys() : [];
    if (oldest !== undefined) this.#fullAt.delete(oldest);
    return true;
  }
}
