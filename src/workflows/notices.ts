/** Hands failures and recoveries of one chain to the `Notifier` of their cause, which decides what people are told. */

import { getExternalWorkflowHandle, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import { summaryOf } from '../chain/web-ui.js';
import type { Activities } from '../contract/activities.js';
import { overSignal } from '../contract/messages.js';
import { dayOfAttempts, type NoticeKind, noticeAbout, noticeTimeout } from '../contract/notices.js';
import type { ActionStates } from './action/states.js';
import type { Alarm, Engine } from './engine/engine.js';

interface Hold {
  index: number;
  /** The workflow id of the notifier that has the failure. */
  notifier?: string | undefined;
  /** The next hold of the same action, after a notifier has it. */
  next?: Hold;
  over: Alarm;
}

/** No promise of it rejects. The holder of the lock calls it. */
export class ChainNotices {
  readonly #holds: Hold[] = [];

  constructor(
    protected readonly states: ActionStates,
    protected readonly engine: Engine,
  ) {}

  tell(kind: NoticeKind, index: number): void {
    this.engine.start(() => this.#tell(kind, index));
  }

  /** Ends the holds that are over. Called whenever everything waits again. */
  publish(): void {
    for (const hold of this.#holds) if (this.#isOver(hold)) hold.over.ring?.();
  }

  /** Returns when a notifier has it; for a hold, when the notifier also knows how the hold ended. */
  async #tell(kind: NoticeKind, index: number): Promise<void> {
    const before = this.#holds.findLast((hold) => hold.index === index);
    const hold: Hold = { index, over: {} };
    if (kind === 'needs-attention') this.#holds.push(hold);
    hold.notifier = await this.#hand(kind, index, kind === 'recovered' ? before?.notifier : undefined);
    if (kind !== 'needs-attention' || hold.notifier === undefined) return;
    if (before) before.next = hold;
    while (!this.#isOver(hold)) await this.engine.wait(hold.over);
    // Held again for the same cause: its notifier hears of the end of the next hold.
    if (hold.next?.notifier === hold.notifier) return;
    const over = { chainId: this.states.chain.chainId, index, state: this.states.of(index).state, at: this.engine.time() };
    try {
      await this.engine.outside(getExternalWorkflowHandle(hold.notifier).signal(overSignal, over));
    } catch {
      // The notifier has closed: no other action had this cause.
    }
  }

  #isOver({ index, next }: Hold): boolean {
    // Scheduled: a person gave it a new delay.
    return this.states.hasEnded(index) || this.states.of(index).state === 'scheduled' || next !== undefined;
  }

  async #hand(kind: NoticeKind, index: number, notifier: string | undefined): Promise<string | undefined> {
    const notice = noticeAbout(this.states, kind, index, this.engine.time());
    const summary = summaryOf([this.states.of(index)], `notice: ${kind}`);
    const options = { startToCloseTimeout: noticeTimeout, retry: dayOfAttempts, summary };
    try {
      return await this.engine.outside(proxyActivities<Activities>(options).notifyFailure({ notice, notifier }));
    } catch (error) {
      if (!isCancellation(error)) log.error('a notice reached nobody within a day', { kind, index, error });
      return undefined;
    }
  }
}
