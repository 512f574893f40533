/** CPU and memory of processes, from Linux's `/proc`. */

import { readdirSync, readFileSync } from 'node:fs';

/** The side under test, and the Temporal server (none if it runs elsewhere). */
export type Groups<T> = Record<'side' | 'engine', T>;

/** USER_HZ is 100 on every platform that Node supports; 4096 is the usual page size. */
const ticksPerSecond = 100;
const pageBytes = 4096;

/** The fields of `/proc/<pid>/stat` from the third on. The second is a name in brackets. Empty if the process has ended. */
function stat(pid: number): string[] {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** These processes and all their descendants. */
export function withDescendants(pids: readonly number[]): number[] {
  const family = new Set(pids);
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map(all.map((name) => [Number(name), Number(stat(Number(name))[1])]));
  for (let size = -1; size < family.size; ) {
    size = family.size;
    for (const [pid, parent] of parents) if (family.has(parent)) family.add(pid);
  }
  return [...family];
}

/** Seconds of CPU so far, user and system, including children that have ended. */
export function cpuSeconds(pids: readonly number[]): number {
  return pids.flatMap((pid) => stat(pid).slice(11, 15)).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}

/** The resident memory. A page that several processes share counts once for each of them. */
export function residentMiB(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + Number(stat(pid)[21] ?? 0) * (pageBytes / 2 ** 20), 0);
}

/** Measures CPU and memory from the creation of the meter until `stop`. */
export class Meter {
  readonly #pids: Groups<number[]>;
  readonly #before: Groups<number>;
  readonly #peak: Groups<number> = { side: 0, engine: 0 };
  readonly #timer = setInterval(() => this.#sample(), 200);

  constructor(roots: Groups<readonly number[]>) {
    this.#pids = { side: withDescendants(roots.side), engine: withDescendants(roots.engine) };
    this.#before = this.#cpu();
  }

  /** @returns seconds of CPU since the start, and the most memory seen, in MiB. */
  stop(): { cpu: Groups<number>; peak: Groups<number> } {
    clearInterval(this.#timer);
    this.#sample();
    const { side, engine } = this.#cpu();
    return { cpu: { side: side - this.#before.side, engine: engine - this.#before.engine }, peak: this.#peak };
  }

  #cpu(): Groups<number> {
    return { side: cpuSeconds(this.#pids.side), engine: cpuSeconds(this.#pids.engine) };
  }

  #sample(): void {
    for (const group of ['side', 'engine'] as const)
      this.#peak[group] = Math.max(this.#peak[group], residentMiB(this.#pids[group]));
  }
}
