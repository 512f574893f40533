/** Refused requests whose sender is known: they are kept, so that they can be sent again, and the rule's contacts are told. */

import { setTimeout } from 'node:timers/promises';
import { type Issue, isNearMiss } from '../chain/request.js';
import { cutShort } from '../chain/text.js';
import type { RejectedRequest, Rejection } from '../contract/problem.js';
import type { RuleNotices } from '../notices/start.js';
import { Shares } from '../service/shares.js';
import type { Metrics } from '../service/telemetry.js';
import type { Store } from '../store/store.js';
import { textOf } from './relay-authentication.js';
import type { ApiOptions } from './route.js';

type RefusedRequest = Pick<RejectedRequest, 'elements' | 'idempotencyKey' | 'signature'> & { companyId: string };

interface RejectionsOptions extends Pick<ApiOptions, 'taskQueue' | 'log'> {
  store: { rejected: Pick<Store['rejected'], 'keep'> };
  notices: Pick<RuleNotices, 'start'>;
  metrics: Pick<Metrics, 'refused'>;
}

const maxWaiting = 200; // requests, shared by the companies that wait; one of each may always
const keptAtOnce = 100; // of a company and reason, as many as the store keeps; then one every
const keptEveryMs = 36_000;
const saidEveryMs = 3_600_000; // that requests of a company and reason are dropped
const answerMs = 50; // that keeping waits, so that the answer goes out first
const maxMistakes = 100; // of one request
const maxRules = 5; // whose contacts are told of one request

export class Rejections {
  readonly #shares = new Shares(keptAtOnce, keptEveryMs);
  readonly #said = new Shares(1, saidEveryMs);
  /** By company: how many of its requests wait, and until when. */
  readonly #queues = new Map<string, { waiting: number; last: Promise<void> }>();

  constructor(private readonly options: RejectionsOptions) {}

  /**
   * Keeps the request and has people told: those of a company one after the other, and each after its answer, which neither waits
   * for it nor fails with it. So the time that a 401 takes does not tell whether the sender was known.
   */
  keep(rejection: Rejection, request: RefusedRequest): void {
    const { log, metrics } = this.options;
    const { companyId } = request;
    const { reason } = rejection;
    const share = `${companyId} ${reason}`;
    const queue = this.#queues.get(companyId) ?? { waiting: 0, last: Promise.resolve() };
    const isFull = queue.waiting >= Math.max(1, maxWaiting / (this.#queues.size + 1));
    const isKept = !isFull && this.#shares.take(share);
    metrics.refused.inc({ reason, result: isKept ? 'kept' : 'dropped' });
    if (!isKept) {
      if (this.#said.take(share))
        log.warn(
          { companyId, reason },
          'too many requests were refused: not all are kept, relay_refused_requests_total counts them',
        );
      return;
    }
    const receivedAt = new Date();
    queue.waiting += 1;
    this.#queues.set(companyId, queue);
    queue.last = Promise.all([queue.last, setTimeout(answerMs)])
      .then(() => this.#keep(rejection, request, receivedAt))
      .catch((error: unknown) => log.error({ err: error, companyId, reason }, 'a refused request could not be kept'))
      .then(() => {
        queue.waiting -= 1;
        if (queue.waiting === 0) this.#queues.delete(companyId);
      });
  }

  /** Waits until what was refused before this call, of a company or of all, has been kept. */
  async settled(companyId?: string): Promise<void> {
    const queues = companyId === undefined ? [...this.#queues.values()] : [this.#queues.get(companyId)];
    await Promise.all(queues.map((queue) => queue?.last));
  }

  async #keep(rejection: Rejection, request: RefusedRequest, receivedAt: Date): Promise<void> {
    const { companyId, elements, idempotencyKey, signature } = request;
    const { store, notices, taskQueue } = this.options;
    const { reason, slug, title, status, detail } = rejection;
    const mistakes = rejection.mistakes.slice(0, maxMistakes);
    const told = status === 401 ? mistakes.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ') : detail;
    const relayIds = elements.map(({ relayId }) => textOf(relayId));
    const rejectedId = await store.rejected.keep({
      companyId,
      receivedAt,
      reason,
      problem: { type: `/problems/${slug}`, title, status, detail: cutShort(told, 4000), errors: [...mistakes] },
      ...(signature !== undefined && { signature }),
      relayIds: [...new Set(relayIds)],
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      elements: withoutTokens(elements),
    });
    if (rejectedId === undefined) return;
    const at = receivedAt.toISOString();
    for (const [relayId, ofRule] of [...byRule(mistakes, relayIds)].slice(0, maxRules))
      notices.start({ kind: 'rejected', companyId, relayId, at, rejectedId, reason, mistakes: ofRule }, taskQueue);
  }
}

/** What concerns the request as a whole is told to the rule of its first action. */
function byRule(mistakes: readonly Issue[], relayIds: readonly string[]): Map<string, Issue[]> {
  const ofRules = new Map<string, Issue[]>();
  for (const mistake of mistakes) {
    const relayId = relayIds[Number(/^\/(\d+)/.exec(mistake.pointer)?.[1] ?? 0)] ?? '';
    ofRules.set(relayId, [...(ofRules.get(relayId) ?? []), mistake]);
  }
  return ofRules;
}

/** Without the tokens, and without what was meant to be one but for a typing error in the name. */
function withoutTokens(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTokens);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !isNearMiss(name, 'relayAccessToken'))
      .map(([name, inner]) => [name, withoutTokens(inner)]),
  );
}
