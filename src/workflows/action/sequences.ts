/**
 * Runs the sequences of a `RuleChain` or a `DelayedAction`. A sequence runs its actions strictly in order, when they are due. The
 * immediate actions of a chain form one sequence. All actions with the same delay form another. A rescheduled or retried action
 * has its own sequence.
 */

import { isCancellation } from '@temporalio/workflow';
import type { Later } from '../../chain/attempt.js';
import type { ChainAction } from '../../chain/chain.js';
import { isToRedo, reachedSome } from '../../chain/outcome.js';
import { shownTime, summaryOf } from '../../chain/web-ui.js';
import { type Decision, together } from '../../contract/messages.js';
import type { Alarm } from '../engine/engine.js';
import type { ChainNotices } from '../notices.js';
import { Act, Shared } from './act.js';
import { live } from './life.js';

/** Due times are in Unix milliseconds. 0 means now. */
export class Sequences<Notices extends ChainNotices = ChainNotices> extends Shared<Notices> {
  cancelled = false;
  readonly #acts = new Map<number, Act>();
  /** The sequences that are not yet due. The key is the list of actions. The value is the alarm that ends the wait. */
  readonly #waiting = new Map<ChainAction[], Alarm>();

  get mayBeRetried(): boolean {
    return !this.cancelled && this.states.actions.some(({ state }) => isToRedo(state));
  }

  /** Starts a sequence concurrently with the others. @param before - called before the wait, even if the sequence is overdue. */
  open(actions: readonly ChainAction[], dueAt = 0, before?: () => Promise<void>): void {
    if (actions.length > 0) this.engine.start(() => this.run(actions, dueAt, before));
  }

  async run(given: readonly ChainAction[], dueAt = 0, before?: () => Promise<void>): Promise<void> {
    const actions = [...given];
    if (dueAt > 0) await this.#untilDue(actions, dueAt, before);
    for (let action = actions.shift(); action && !this.cancelled; action = actions.shift()) {
      if (this.states.hasEnded(action.index)) continue;
      const later = await this.#live(action, actions);
      if (later?.alone) this.schedule([action], later.dueAt);
      else if (later) return this.schedule([action, ...actions], later.dueAt);
    }
  }

  /** Gives a scheduled action another due time. The other actions of its sequence keep their due time. */
  move(index: number, dueAt: number): void {
    const isMoved = (action: ChainAction) => action.index === index;
    const actions = [...this.#waiting.keys()].find((actions) => actions.some(isMoved));
    const [action] = actions?.splice(actions.findIndex(isMoved), 1) ?? [];
    if (action) this.schedule([action], dueAt);
  }

  /** If the action's turn has not come, the decision waits for that turn. */
  decide(index: number, decision: Decision): void {
    const act = this.#acts.get(index);
    if (act) act.decide(decision);
    else this.decisions.set(index, together(this.decisions.get(index), decision));
  }

  /** Ends an action as `cancelled`. If its effect is running, first waits for the outcome. The later actions continue. */
  cancel(index: number, why: string): void {
    const act = this.#acts.get(index);
    if (act) act.cancel(why);
    else this.states.end(index, { state: 'cancelled', reason: why });
  }

  cancelAll(): void {
    this.cancelled = true;
    for (const act of this.#acts.values()) act.cancel();
  }

  resume(overdueNow: boolean): void {
    for (const act of this.#acts.values()) act.resume(overdueNow);
  }

  /** Ends the wait of each sequence whose actions have all ended. */
  protected override wakeEmpty(): void {
    for (const [actions, alarm] of this.#waiting) if (this.#left(actions).length === 0) alarm.ring?.();
  }

  async #untilDue(actions: ChainAction[], dueAt: number, before?: () => Promise<void>): Promise<void> {
    const alarm: Alarm = {};
    this.#waiting.set(actions, alarm);
    await before?.();
    const wait = dueAt - this.engine.now;
    const left = this.#left(actions);
    const due = `due ${shownTime(new Date(dueAt).toISOString())}`;
    if (wait > 0 && left.length > 0) await this.engine.wait(alarm, wait, summaryOf(left, due));
    this.#waiting.delete(actions);
    for (const { index } of this.#left(actions)) this.states.update(index, { state: 'pending' });
  }

  schedule(actions: readonly ChainAction[], dueAt: number): void {
    const left = this.#left(actions);
    for (const { index } of left) this.states.schedule(index, dueAt);
    this.open(left, dueAt);
  }

  /** The actions that have not ended. The list is empty if the whole workflow was cancelled. */
  #left(actions: readonly ChainAction[]): ChainAction[] {
    return this.cancelled ? [] : actions.filter(({ index }) => !this.states.hasEnded(index));
  }

  async #live(sent: ChainAction, behind: readonly ChainAction[]): Promise<Later | undefined> {
    const { states } = this;
    const { index } = sent;
    const act = new Act(this, states.of(index).mends ? await this.mends.current(sent) : sent, behind);
    this.#acts.set(index, act);
    try {
      return await live(act);
    } catch (error) {
      if (!isCancellation(error)) throw error;
      act.end({ state: reachedSome(act.status) ? 'partly-failed' : 'cancelled', reason: act.cancelled?.why });
      return undefined;
    } finally {
      this.#acts.delete(index);
      if (act.decision && !states.hasEnded(index)) this.decide(index, act.decision);
      else if (act.decision?.verb === 'mend') states.ignore(`mend [${index}]: action ${index} is ${states.of(index).state}`);
    }
  }
}
