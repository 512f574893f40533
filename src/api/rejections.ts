/** Refused requests whose sender is known: they are kept, so that they can be sent again, and the rule's contacts are told. */

import { setTimeout } from 'node:timers/promises';
import { type Issue, isNearMiss } from '../chain/request.js';
import { cutShort } from '../chain/text.js';
import type { RejectedRequest, Rejection } from '../contract/problem.js';
import type { RuleNotices } from '../notices/start.js';
import type { Store } from '../store/store.js';
import { textOf } from './relay-authentication.js';
import type { ApiOptions } from './route.js';

type RefusedRequest = Pick<RejectedRequest, 'elements' | 'idempotencyKey'> & { companyId: string };

interface RejectionsOptions extends Pick<ApiOptions, 'taskQueue' | 'log'> {
  store: { rejected: Pick<Store['rejected'], 'keep'> };
  notices: Pick<RuleNotices, 'start'>;
}

const maxWaiting = 100; // requests; further ones are only counted
const answerMs = 50; // that keeping waits, so that the answer goes out first
const maxMistakes = 100; // of one request
const maxRules = 5; // whose contacts are told of one request

export class Rejections {
  #waiting = 0;
  #dropped = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly options: RejectionsOptions) {}

  /**
   * Keeps the request and has people told: requests one after the other, and each after its answer, which neither waits for it
   * nor fails with it. So the time that a 401 takes does not tell whether the sender was known.
   */
  keep(rejection: Rejection, request: RefusedRequest): void {
    if (this.#waiting >= maxWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += 1;
    const receivedAt = new Date();
    this.#last = Promise.all([this.#last, setTimeout(answerMs)])
      .then(() => this.#keep(rejection, request, receivedAt))
      .catch((error: unknown) => {
        const { companyId } = request;
        this.options.log.error({ err: error, companyId, reason: rejection.reason }, 'a refused request could not be kept');
      })
      .then(() => this.#noteKept());
  }

  /** Waits until what was refused before this call has been kept. */
  settled(): Promise<void> {
    return this.#last;
  }

  #noteKept(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0 || this.#dropped === 0) return;
    this.options.log.warn({ dropped: this.#dropped }, 'too many requests were refused at once: not all of them were kept');
    this.#dropped = 0;
  }

  async #keep(rejection: Rejection, { companyId, elements, idempotencyKey }: RefusedRequest, receivedAt: Date): Promise<void> {
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
