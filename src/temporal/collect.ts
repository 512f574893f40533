/**
 * Compares the rows of chains in the store with Temporal. Only the worker with the lease does this. Each pass lists the runs that
 * closed since the last pass (with an overlap), and completes the rows that temporal/ended.ts has not completed. Some passes also
 * correct the rows of open chains. All writes are idempotent.
 */

import { setTimeout } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { chainOfWorkflow, chainWorkflowId, type Links, ticketIdsOf } from '../chain/chain.js';
import type { Log, Metrics } from '../service/telemetry.js';
import { reasonOf } from '../service/temporal.js';
import { type KnownRow, keyOf, type NewChainRow } from '../store/chains.js';
import type { Store } from '../store/store.js';
import { endOf } from './ended.js';
import { listed, type Run, read, readMemo, runsOf, searchAttributesSchema } from './list.js';
import { describeChain, isoTime, readClosed, readInput, statusOf } from './read.js';

export interface CollectOptions {
  client: Client;
  store: Pick<Store, 'chains' | 'leases'>;
  taskQueue: string;
  links: Links;
  metrics: Pick<Metrics, 'collectorLag' | 'retention' | 'forgotten'>;
  log: Pick<Log, 'warn' | 'error'>;
  endedMs?: number; // a worker that ends a chain writes the row within this time. Default: 3.5 seconds
  addedMs?: number; // the API writes the row of an open chain within this time. Default: 15 seconds
}

const everyMs = 1000;
const busyEveryMs = 5000; // the pause after a pass with many runs. Fewer passes save work, because each lists old runs again.
const manyRuns = 50;
const leaseMs = 60_000;
const passMs = 15_000; // A pass ends after this time, which is before the lease ends.
const clocksMs = 1_000; // The clocks of a worker and of Temporal usually differ by less than this time.
const overlapMs = 2_000; // Closed runs are usually visible after this time. The deep overlap finds runs that are visible later.
const openEveryMs = 5_000;
const mostOpenEveryMs = 60_000; // The first reading lists all open chains, and can take long. The next readings list only new chains.
const deepOverlapMs = 600_000;
const deepEveryMs = 300_000;
const dayMs = 86_400_000;
const chunk = 500;
const readAtOnce = 2; // More reads at once would delay the starts of chains in Temporal.
const sayEveryMs = 3_600_000;

export function startCollector(options: CollectOptions): { stop(): Promise<void> } {
  const { log } = options;
  const stopped = new AbortController();
  const { signal } = stopped;
  const collector = new Collector(options, signal);
  let saidAt = 0;
  const run = async () => {
    while (!signal.aborted) {
      await collector.pass().catch((error: unknown) => {
        if (signal.aborted || Date.now() < saidAt + 60_000) return;
        saidAt = Date.now();
        log.warn(`the rows of closed chains cannot be completed now: ${reasonOf(error)}`);
      });
      collector.watch();
      await setTimeout(collector.pauseMs, undefined, { signal }).catch(() => {});
    }
  };
  const running = run();
  return {
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

export class Collector {
  #until = Date.now(); // Unix milliseconds: runs that closed before this time have been read
  #retentionMs = 0;
  #retentionReadAt = 0;
  #windowMs = 60_000;
  #alarmedAt = 0;
  /** The runs that this pass has listed as closed. */
  readonly #closed = new Set<string>();
  /** Companies that were in the store since the last deep pass. The store refuses rows of a company that was deleted. */
  readonly #companies = new Set<string>();
  // Times of `performance.now()`, because a change of the clock must not delay these steps.
  #deepAt = 0;
  #openAt = 0;
  #openBegan = 0;
  #compareAt = 0;
  #heldAt = 0;

  constructor(
    private readonly options: CollectOptions,
    private readonly signal?: AbortSignal,
  ) {}

  pauseMs = everyMs;

  /** Sets the metrics. Logs an hourly error if chains are unread for half of the retention, because Temporal will delete them. */
  watch(): void {
    const { metrics, log } = this.options;
    const lagMs = Math.max(0, Date.now() - this.#until);
    metrics.collectorLag.set(lagMs / 1000);
    if (this.#retentionMs === 0 || lagMs < this.#retentionMs / 2 || Date.now() < this.#alarmedAt + sayEveryMs) return;
    this.#alarmedAt = Date.now();
    const hours = Math.round(lagMs / 3_600_000);
    log.error({ hours }, 'closed chains have not been read for half of the retention of Temporal: Temporal will delete them');
  }

  async pass(): Promise<void> {
    const { store, taskQueue } = this.options;
    const account = `collector:${taskQueue}`;
    const until = await store.chains.collectedUntil(taskQueue);
    if (until !== undefined) this.#until = Date.parse(until);
    const lease = await store.leases.take({ account, threads: 1, callsPerHour: 1_000_000_000, callsPerLease: 0, ms: leaseMs });
    if (!lease) return;
    try {
      await this.#collect(until !== undefined);
      await store.chains.purge();
    } finally {
      await lease.release();
    }
  }

  async #collect(hasBegun: boolean): Promise<void> {
    const { store, taskQueue, endedMs = 3_500, addedMs = 15_000 } = this.options;
    await this.#readRetention();
    const now = Date.now() - endedMs;
    const began = performance.now();
    const isDeep = began >= this.#deepAt;
    const isFast = this.#until > now; // the clock of the previous worker was ahead, or this worker's clock is behind
    const last = Math.min(this.#until, now) - (isDeep || isFast ? deepOverlapMs : overlapMs);
    const from = hasBegun ? last : now - this.#retentionMs;
    this.#until = Math.min(this.#until, hasBegun ? now : from);
    if (isDeep) this.#companies.clear();
    if (isDeep || began >= this.#openAt) {
      await this.#collectOpen(hasBegun ? from - addedMs - (began - this.#openBegan) : 0, Date.now() - addedMs);
      this.#openBegan = began;
      this.#openAt = began + Math.min(Math.max(openEveryMs, 200 * (performance.now() - began)), mostOpenEveryMs);
    }
    let most = 0;
    this.#closed.clear();
    for (let start = from; start < now && performance.now() < began + passMs && !this.signal?.aborted; ) {
      const end = Math.min(start + this.#windowMs, now);
      const found = await this.#collectClosed(start, end);
      await store.chains.setCollected(taskQueue, new Date(end).toISOString());
      this.#until = end;
      start = end;
      most = Math.max(most, found);
      if (found < 500) this.#windowMs = Math.min(this.#windowMs * 2, 30 * 86_400_000);
      else if (found > 4000) this.#windowMs = Math.max(1000, this.#windowMs / 4);
    }
    this.pauseMs = most > manyRuns && this.#until >= now ? busyEveryMs : everyMs;
    await this.#confirmClosed(Math.max(from, this.#until - deepOverlapMs));
    if (isDeep) this.#deepAt = began + deepEveryMs;
    if (began >= this.#heldAt) await this.#collectHeld();
    if (began >= this.#compareAt && this.#until >= now) await this.#compareOpen();
  }

  async #readRetention(): Promise<void> {
    const { client, metrics } = this.options;
    if (Date.now() < this.#retentionReadAt + sayEveryMs) return;
    const { config } = await client.workflowService.describeNamespace({ namespace: client.options.namespace });
    this.#retentionMs = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 30 * 86_400) * 1000;
    this.#retentionReadAt = Date.now();
    metrics.retention.set(this.#retentionMs / 1000);
  }

  /** Returns only runs of companies in the store, because another relay may use the namespace. */
  async *#runs(query: string): AsyncGenerator<Run[]> {
    const { client, store } = this.options;
    for await (const runs of chunks(runsOf(client, query))) {
      const companyOf = ({ execution }: Run) => chainOfWorkflow(execution?.workflowId ?? '')?.companyId ?? '';
      const unknown = runs.map(companyOf).filter((companyId) => !this.#companies.has(companyId));
      if (unknown.length > 0) for (const companyId of await store.chains.companiesAmong(unknown)) this.#companies.add(companyId);
      yield runs.filter((run) => this.#companies.has(companyOf(run)));
    }
  }

  #query(...conditions: string[]): string {
    return ["WorkflowType = 'RuleChain'", ...conditions].join(' AND ');
  }

  async #collectClosed(start: number, end: number): Promise<number> {
    const between = `CloseTime >= ${timeOf(start)} AND CloseTime < ${timeOf(end)}`;
    return this.#each(this.#query("ExecutionStatus != 'Running'", between), (known, { execution, status, closeTime }) => {
      this.#closed.add(execution?.runId ?? '');
      const { runId, closedAt = 0 } = known ?? {};
      const differenceMs = Math.abs(+new Date(closedAt) - +new Date(isoTime(closeTime) ?? 0));
      return runId !== execution?.runId || known?.status !== statusOf(status ?? 0) || differenceMs > 10 * clocksMs;
    });
  }

  /** Reopens rows that a worker has closed too early: Temporal refuses the end of a chain if a signal arrives at this moment. */
  async #confirmClosed(since: number): Promise<void> {
    const { client, store } = this.options;
    for (const row of await store.chains.closedBetween(textOf(since + clocksMs), textOf(this.#until - clocksMs))) {
      if (row.runId === undefined || this.#closed.has(row.runId)) continue;
      const { raw, closeTime } = (await describeChain(client, chainWorkflowId(row), 0)) ?? {};
      if (raw?.workflowExecutionInfo && !closeTime) await this.#write([raw.workflowExecutionInfo], () => true, true);
    }
  }

  /** Finds rows that a crash has lost, chains that people started by hand, and reopened chains. */
  async #collectOpen(since: number, until: number): Promise<number> {
    const conditions = [`StartTime < ${timeOf(until)}`, ...(since > 0 ? [`StartTime >= ${timeOf(since)}`] : [])];
    return this.#each(
      this.#query("ExecutionStatus = 'Running'", ...conditions),
      (known, run) => !known || (known.closedAt !== undefined && known.runId !== run.execution?.runId),
    );
  }

  /** Corrects open rows after Temporal or the store was restored. If a correction takes long, the next correction comes later. */
  async #compareOpen(): Promise<void> {
    const began = performance.now();
    const { client, store, log, metrics } = this.options;
    const describe = (workflowId: string) => describeChain(client, workflowId, 0);
    const isCurrent = async ({ execution }: Run) => {
      const { status, runId } = (await describe(execution?.workflowId ?? '')) ?? {};
      return status?.name === 'RUNNING' && runId === execution?.runId;
    };
    const running = new Set<string>();
    for await (const runs of this.#runs(this.#query("ExecutionStatus = 'Running'"))) {
      if (this.signal?.aborted) return;
      for (const { execution } of runs) running.add(execution?.workflowId ?? '');
      await this.#write(runs, async (known, run) => !known || (known.closedAt !== undefined && (await isCurrent(run))), true);
    }
    const open = await store.chains.open();
    const lost: typeof open = [];
    await inParallel(
      open.filter((row) => !running.has(chainWorkflowId(row))),
      async (row) => {
        const { raw, closeTime } = (await describe(chainWorkflowId(row))) ?? {};
        if (!raw) lost.push(row);
        else if (closeTime && raw.workflowExecutionInfo) await this.#write([raw.workflowExecutionInfo], () => true);
      },
    );
    if (lost.length > 0) {
      await store.chains.forget(lost);
      const chainIds = lost.slice(0, 100).map(({ chainId }) => chainId);
      log.error({ chains: lost.length, chainIds }, 'Temporal does not know chains that were open: they do not run');
    }
    metrics.forgotten.set(await store.chains.forgottenSince(textOf(Date.now() - dayMs)));
    this.#compareAt = performance.now() + Math.max(deepEveryMs, 50 * (performance.now() - began));
  }

  async #each(query: string, isWanted: IsWanted): Promise<number> {
    let found = 0;
    for await (const runs of this.#runs(query)) {
      found += runs.length;
      await this.#write(runs, isWanted);
    }
    return found;
  }

  async #write(runs: readonly Run[], isWanted: IsWanted, areCurrent = false): Promise<void> {
    const { store } = this.options;
    const chains = runs.flatMap((run) => {
      const chain = chainOfWorkflow(run.execution?.workflowId ?? '');
      return chain ? [{ run, chain }] : [];
    });
    const known = await store.chains.known(chains.map(({ chain }) => chain));
    const rows = new Map<string, NewChainRow>();
    await inParallel(chains, async ({ run, chain }) => {
      const key = keyOf(chain);
      const before = known.get(key);
      const isOld = (before?.startedAt ?? '') > (isoTime(run.startTime) ?? ''); // after this run, the chain was reset
      if (isOld || !(await isWanted(before, run))) return;
      const row = await this.#rowOf(run, before === undefined);
      if (!row) return;
      const other = rows.get(key);
      if (!other || (other.startedAt ?? '') < (row.startedAt ?? '')) rows.set(key, row);
    });
    if (rows.size > 0) await store.chains.collect([...rows.values()], areCurrent);
  }

  async #rowOf(run: Run, isLost: boolean): Promise<NewChainRow | undefined> {
    const { client, log } = this.options;
    const reading = readMemo(client, run);
    const shown = await listed(client, run, this.options.links, reading);
    if (!shown) return undefined;
    const { workflowId, links: _, ...chain } = shown;
    const runId = run.execution?.runId ?? '';
    const row = { ...chain, runId, startedAt: isoTime(run.startTime), ticketIds: [] };
    try {
      const ticketIds = isLost ? ticketIdsOf((await readInput(client, { workflowId, runId })).actions) : [];
      if (chain.closedAt === undefined) return { ...row, ticketIds };
      const memo = await reading;
      const view = await readClosed(client, { workflowId, runId, status: { code: run.status ?? 0 }, memo });
      return { ...row, ticketIds, ...endOf(view, memo) };
    } catch (error) {
      // 5 is the gRPC status NOT_FOUND: Temporal has just deleted the run. Other failures of Temporal end the pass.
      if (isGrpcServiceError(error) && error.code !== 5) throw error;
      log.warn({ workflowId, runId }, `the actions of a chain cannot be read: ${reasonOf(error)}`);
      return row;
    }
  }

  /** Reads which open chains are held or paused. If a reading takes long, the next reading comes later. */
  async #collectHeld(): Promise<void> {
    const began = performance.now();
    const { client, store, links } = this.options;
    const query = this.#query("ExecutionStatus = 'Running'", '(RelayNeedsAttention = true OR RelayPaused = true)');
    const held: Parameters<typeof store.chains.setHeld>[0][number][] = [];
    for await (const runs of this.#runs(query))
      await inParallel(runs, async (run) => {
        const chain = await listed(client, run, links);
        const since = searchAttributesSchema.parse(await read(client, run.searchAttributes?.indexedFields)).RelayAttentionSince;
        const heldSince = chain?.status === 'needs-attention' ? (since ?? chain.receivedAt) : undefined;
        if (chain) held.push({ ...chain, heldSince });
      });
    await store.chains.setHeld(held);
    this.#heldAt = performance.now() + 10 * (performance.now() - began);
  }
}

type IsWanted = (known: KnownRow | undefined, run: Run) => boolean | Promise<boolean>;

const textOf = (ms: number) => new Date(ms).toISOString();
const timeOf = (ms: number) => `'${textOf(ms)}'`;

async function* chunks<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let some: Item[] = [];
  for await (const item of items) {
    some.push(item);
    if (some.length < chunk) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** Each pause is as long as the work before the pause, so that these reads do not delay the starts of chains in Temporal. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) {
      const began = performance.now();
      await work(item);
      const tookMs = performance.now() - began;
      if (tookMs > 1) await setTimeout(tookMs);
    }
  };
  await Promise.all(Array.from({ length: readAtOnce }, worker));
}
