/** Shares that refill steadily: one for each key, or, where no key is named, one for all. Of more keys than are remembered, those not used for longest have full ones. */
export class Shares {
  /** When the share of a key is full again, by the monotonic clock; those used last come last. */
  readonly #fullAt = new Map<string, number>();

  constructor(
    private readonly size: number,
    private readonly refillMs: number, // for one
    private readonly remembered = 50_000, // keys
  ) {}

  /** Milliseconds until there is one to take; 0 where there is. */
  wait(key = ''): number {
    return Math.max(0, (this.#fullAt.get(key) ?? 0) - performance.now() - (this.size - 1) * this.refillMs);
  }

  /** Takes one, also one that will be there that soon. @returns whether there was one to take. */
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
