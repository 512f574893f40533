/** Shares that refill steadily, one for each key. Of more keys than are remembered, those not used for longest have full ones. */
export class Shares {
  /** When the share of a key is full again, by the monotonic clock; those used last come last. */
  readonly #fullAt = new Map<string, number>();

  constructor(
    private readonly size: number,
    private readonly refillMs: number, // for one
    private readonly remembered = 50_000, // keys
  ) {}

  /** Milliseconds until there is one to take; 0 where there is. */
  wait(key: string): number {
    return Math.max(0, (this.#fullAt.get(key) ?? 0) - performance.now() - (this.size - 1) * this.refillMs);
  }

  /** Takes one, also one that will be there that soon. @returns whether there was one to take. */
  take(key: string, soonMs = 0): boolean {
    if (this.wait(key) > soonMs) return false;
    remember(this.#fullAt, key, Math.max(this.#fullAt.get(key) ?? 0, performance.now()) + this.refillMs, this.remembered);
    return true;
  }
}

/** Sets what is known of a key, and forgets the key that was set longest ago where there are too many. */
export function remember<Known>(known: Map<string, Known>, key: string, value: Known, most: number): void {
  known.delete(key);
  known.set(key, value);
  const [oldest] = known.size > most ? known.keys() : [];
  if (oldest !== undefined) known.delete(oldest);
}
