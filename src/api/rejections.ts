/** Stores refused requests of known senders, so that a person can send them again. Notifies the contacts of the rules. */

import { setTimeout } from 'node:timers/promises';
import type { Issue } from '../chain/request.js';
import { needsConfirmation, Problem } from '../contract/problem.js';
import type { RuleNotices } from '../notices/start.js';
import { Shares } from '../service/shares.js';
import type { Metrics } from '../service/telemetry.js';
import type { Keeping, NewRejectedRequest } from '../store/rejected.js';
import type { Store } from '../store/store.js';
import type { ApiOptions } from './route.js';

/** `mistakes` is not empty. The pointer of a mistake names an action. The contacts of its rule (`ruleOf`) get a notice. */
export type RefusedRequest = Omit<NewRejectedRequest, 'receivedAt'> & {
  mistakes: readonly Issue[];
  ruleOf(index: number): string;
};

/** The facts about a request that are known before the relay prepares the request for storage. */
type Known = Pick<RefusedRequest, 'companyId' | 'reason' | 'signature'>;

interface RejectionsOptions extends Pick<ApiOptions, 'taskQueue' | 'log'> {
  store: { rejected: Pick<Store['rejected'], 'keep'> };
  notices: Pick<RuleNotices, 'start'>;
  metrics: Pick<Metrics, 'refused'>;
}

const maxWaiting = 200; // the maximum number of waiting requests in all queues; one request of each company may always wait
const keptAtOnce = 100; // for each company and reason: this many requests that need `confirm`, then one in each `keptEveryMs`
const keptEveryMs = 36_000;
const saidEveryMs = 3_600_000; // at most one log line an hour for each company and reason
const answerMs = 50; // the delay before the relay stores a request, so that the sender gets the answer first
const fullMs = 10_000; // if the store has no room, the relay tries to store again after this time
const maxRules = 5; // the maximum number of rules that get a notice of one request

export class Rejections {
  readonly #shares = new Shares(keptAtOnce, keptEveryMs);
  readonly #said = new Shares(1, saidEveryMs);
  /** Each company has two queues: one queue for requests stored before the answer, one queue for requests stored later. */
  readonly #queues = new Map<string, { waiting: number; last: Promise<unknown> }>();
  /** By company, rule and reason, if the store has no room. `notKept`: the number of requests dropped since then. */
  readonly #full = new Map<string, { until: number; notKept: number }>();

  constructor(private readonly options: RejectionsOptions) {}

  /** Stores or counts the request before its answer. @returns what is stored. @throws Problem 503 if storing fails */
  async keepFirst(request: RefusedRequest): Promise<Keeping | undefined> {
    const { log } = this.options;
    const { companyId, reason } = request;
    // This queue needs no limit: each waiting request has an open connection, and the server limits the connections.
    return this.#enqueue(request, 'first', async () => request).catch((error: unknown) => {
      log.error({ err: error, companyId, reason }, 'a refused request could not be stored');
      const lost = 'The request was refused and cannot be stored at the moment. Nothing has run. Send the request again.';
      throw new Problem('database-unavailable', lost);
    });
  }

  /** Stores the request after its answer, so that the duration of a 401 reveals nothing. `whole` prepares it, also later. */
  keepAfter(request: Known, whole: () => Promise<RefusedRequest>): void {
    const { log, metrics } = this.options;
    const { companyId, reason } = request;
    const waiting = this.#queues.get(`${companyId} after`)?.waiting ?? 0;
    const isFull = waiting >= Math.max(1, maxWaiting / (this.#queues.size + 1));
    if (isFull || (needsConfirmation(request) && !this.#shares.take(`${companyId} ${reason}`))) {
      metrics.refused.inc({ reason, result: 'dropped' });
      this.#say(request);
      return;
    }
    this.#enqueue(request, 'after', () => setTimeout(answerMs).then(whole)).catch((error: unknown) =>
      log.error({ err: error, companyId, reason }, 'a refused request could not be stored'),
    );
  }

  #say({ companyId, reason }: Known): void {
    const words = 'too many requests were refused: not all are stored, but relay_refused_requests_total counts all';
    if (this.#said.take(`${companyId} ${reason}`)) this.options.log.warn({ companyId, reason }, words);
  }

  /** Stores the requests of a company in order. */
  #enqueue({ companyId }: Known, when: 'first' | 'after', whole: () => Promise<RefusedRequest>): Promise<Keeping | undefined> {
    const name = `${companyId} ${when}`;
    const queue = this.#queues.get(name) ?? { waiting: 0, last: Promise.resolve() };
    const receivedAt = new Date();
    queue.waiting += 1;
    this.#queues.set(name, queue);
    const kept = Promise.all([whole(), queue.last])
      .then(([request]) => this.#keep(request, receivedAt))
      .finally(() => {
        queue.waiting -= 1;
        if (queue.waiting === 0) this.#queues.delete(name);
      });
    queue.last = kept.catch(() => {});
    return kept;
  }

  /** Waits until earlier refused requests are stored. @param companyId - if missing, waits for all companies */
  async settled(companyId?: string): Promise<void> {
    const queues = [...this.#queues].filter(([name]) => companyId === undefined || name.startsWith(`${companyId} `));
    await Promise.all(queues.map(([, queue]) => queue.last));
  }

  async #keep({ mistakes, ruleOf, ...request }: RefusedRequest, receivedAt: Date): Promise<Keeping | undefined> {
    const { store, metrics } = this.options;
    const { companyId, reason, relayIds } = request;
    const name = `${companyId} ${relayIds[0]} ${reason}`;
    const full = this.#full.get(name);
    if (full && performance.now() < full.until) {
      full.notKept += 1;
      metrics.refused.inc({ reason, result: 'dropped' });
      return undefined;
    }
    this.#full.delete(name);
    const keeping = await store.rejected.keep({ ...request, receivedAt }, full?.notKept);
    if (!keeping) return undefined;
    metrics.refused.inc({ reason, result: keeping.kept ? (keeping.repeated ? 'repeated' : 'kept') : 'dropped' });
    if (keeping.repeated) return keeping;
    if (!keeping.kept) {
      if (this.#full.size > 10_000) this.#full.clear();
      this.#full.set(name, { until: performance.now() + fullMs, notKept: 0 });
      this.#say(request);
    }
    this.#tell({ mistakes, ruleOf, ...request }, keeping, receivedAt.toISOString());
    return keeping;
  }

  #tell({ companyId, reason, mistake, mistakes, ruleOf }: RefusedRequest, keeping: Keeping, at: string): void {
    const { notices, taskQueue } = this.options;
    const { rejectedId, kept, inADay, notKept } = keeping;
    const more = { ...(mistake !== undefined && { mistake, inADay }), ...(!kept && { notKept }) };
    for (const [relayId, ofRule] of [...byRule(mistakes, ruleOf)].slice(0, maxRules))
      notices.start({ kind: 'rejected', companyId, relayId, at, rejectedId, reason, mistakes: ofRule, ...more }, taskQueue);
  }
}

/** Groups mistakes by rule. A mistake in the whole request belongs to the rule of the first action. */
function byRule(mistakes: readonly Issue[], ruleOf: (index: number) => string): Map<string, Issue[]> {
  const ofRules = new Map<string, Issue[]>();
  for (const mistake of mistakes) {
    const relayId = ruleOf(Number(/^\/(\d+)/.exec(mistake.pointer)?.[1] ?? 0));
    ofRules.set(relayId, [...(ofRules.get(relayId) ?? []), mistake]);
  }
  return ofRules;
}
