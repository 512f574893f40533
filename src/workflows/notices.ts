/** Reports the failures and recoveries of one chain to the `Notifier` of the cause, which decides when people get a notice. */

import { getExternalWorkflowHandle, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import { foundNobody } from '../chain/outcome.js';
import { summaryOf } from '../chain/web-ui.js';
import type { Activities } from '../contract/activities.js';
import { overSignal } from '../contract/messages.js';
import { dayOfAttempts, type NoticeKind, noticeAbout, noticeTimeout, type Over } from '../contract/notices.js';
import type { ActionStates } from './action/states.js';
import type { Alarm, Engine } from './engine/engine.js';

interface Hold {
  index: number;
  /** The workflow id of the notifier that received the failure. */
  notifier?: string | undefined;
  /** The next hold of the same action. Set when a notifier has received the next hold. */
  next?: Hold;
  over: Alarm;
}

/** Only the holder of the lock may call these methods. The methods never throw. */
export class ChainNotices {
  readonly #holds: Hold[] = [];

  constructor(
    protected readonly states: ActionStates,
    protected readonly engine: Engine,
  ) {}

  tell(kind: NoticeKind, index: number): void {
    this.engine.start(() => this.#tell(kind, index));
  }

  /** If a hold is over, wakes the code that waits for the end of the hold. Called whenever all code of the workflow waits again. */
  publish(): void {
    for (const hold of this.#holds) if (this.#isOver(hold)) hold.over.ring?.();
  }

  /** Resolves when a notifier has received the failure or recovery and, for a hold, also the end of the hold. */
  async #tell(kind: NoticeKind, index: number): Promise<void> {
    const before = this.#holds.findLast((hold) => hold.index === index);
    const hold: Hold = { index, over: {} };
    if (kind === 'needs-attention') this.#holds.push(hold);
    hold.notifier = await this.#hand(kind, index, kind === 'recovered' ? before?.notifier : undefined);
    if (kind !== 'needs-attention' || hold.notifier === undefined) return;
    if (before) before.next = hold;
    while (!this.#isOver(hold)) await this.engine.wait(hold.over);
    // The action is held again for the same cause, so the notifier gets only the end of the new hold.
    if (hold.next?.notifier === hold.notifier) return;
    const action = this.states.of(index);
    const about = { chainId: this.states.chain.chainId, index, state: action.state, at: this.engine.time() };
    const over: Over = foundNobody(action) ? { ...about, nobody: true } : about;
    try {
      await this.engine.outside(getExternalWorkflowHandle(hold.notifier).signal(overSignal, over));
    } catch {
      // The notifier has closed, because no other action had this cause.
    }
  }

  #isOver({ index, next }: Hold): boolean {
    // If the action is scheduled, a person gave it a new delay, so the hold is over.
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
