/** Hands what happened to the actions of one chain to the `Notifier` of its cause, which decides what people are told. */

import { getExternalWorkflowHandle, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import type { Chain } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import { summaryOf } from '../chain/web-ui.js';
import type { Activities } from '../contract/activities.js';
import { overSignal } from '../contract/messages.js';
import type { ChainNotice, NoticeKind } from '../contract/notices.js';
import type { ActionStates } from './action-states.js';
import type { Alarm, Lock } from './lock.js';
import { dayOfAttempts, noticeTimeout } from './notifier.js';

interface Hold {
  index: number;
  /** Has the failure. */
  notifier?: string | undefined;
  /** Of the same action, once a notifier has it. */
  next?: Hold;
  over: Alarm;
}

/** None of its promises rejects. Everything is called by whoever holds the lock. */
export class ChainNotices {
  readonly #holds: Hold[] = [];

  constructor(
    private readonly chain: Chain,
    private readonly states: ActionStates,
    private readonly lock: Lock,
  ) {}

  /** @returns when a notifier has it; of a hold, when the notifier also knows how that ended. */
  async tell(kind: NoticeKind, index: number): Promise<void> {
    const before = this.#holds.findLast((hold) => hold.index === index);
    const hold: Hold = { index, over: {} };
    if (kind === 'needs-attention') this.#holds.push(hold);
    hold.notifier = await this.#hand(kind, index, kind === 'recovered' ? before?.notifier : undefined);
    if (kind !== 'needs-attention' || hold.notifier === undefined) return;
    if (before) before.next = hold;
    while (!this.#isOver(hold)) await this.lock.wait(hold.over);
    // Held anew for the same cause, its notifier hears of the end of that hold.
    if (hold.next?.notifier === hold.notifier) return;
    const over = { chainId: this.chain.chainId, index, state: this.states.of(index).state, at: this.lock.time() };
    try {
      await this.lock.outside(getExternalWorkflowHandle(hold.notifier).signal(overSignal, over));
    } catch {
      // It has closed: it was about this action alone.
    }
  }

  /** Looks which holds are over. To be called whenever everything waits again. */
  look(): void {
    for (const hold of this.#holds) if (this.#isOver(hold)) hold.over.ring?.();
  }

  #isOver({ index, next }: Hold): boolean {
    const { state } = this.states.of(index);
    // Scheduled: its delay was mended, and is not over.
    return hasEnded(state) || state === 'scheduled' || next !== undefined;
  }

  async #hand(kind: NoticeKind, index: number, notifier: string | undefined): Promise<string | undefined> {
    const { companyId, chainId, receivedAt } = this.chain;
    // The recipients of the others are left out: with those of 100 e-mails a notice could be larger than Temporal takes.
    const actions = this.states.actions.map(({ deliveries, ...action }) =>
      action.index === index && deliveries ? { ...action, deliveries } : action,
    );
    const { relayId } = this.states.of(index);
    const notice: ChainNotice = { kind, companyId, relayId, chainId, index, at: this.lock.time(), receivedAt, actions };
    const { notifyFailure } = proxyActivities<Activities>({
      startToCloseTimeout: noticeTimeout,
      retry: dayOfAttempts,
      summary: summaryOf([this.states.of(index)], `tells people: ${kind}`),
    });
    try {
      return await this.lock.outside(notifyFailure({ notice, notifier }));
    } catch (error) {
      if (!isCancellation(error)) log.error('a notice reached nobody within a day', { kind, index, error });
      return undefined;
    }
  }
}
