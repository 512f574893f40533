/**
 * Ensures that a replay of a workflow issues the same commands as the first run. Other folders need only the rules below.
 *
 * Temporal stores only the history of a workflow. A worker that does not have the workflow in memory runs its code again (a
 * replay). The replay must issue the same commands (timers, activities, signals, search attributes) in the same order. So the
 * history must determine the order of every step that issues a command.
 *
 * The history does not determine when the result of a local activity arrives. Effects begin as local activities, because an
 * effect then adds one event instead of six. If a query arrives while a local activity ends, the SDK records the end in the
 * current workflow task. But the workflow gets the result only in the next task, after the signals, the cancellation and the
 * timers of that task. In a replay, the result comes before these events. So a person who opens the page of a chain at the
 * wrong moment could change the order of the commands, and the chain would stop with the error TMPRL1100.
 *
 * The lock prevents this error. Only the holder of the lock may issue commands. The holder keeps the lock during a local
 * activity. Events from outside (signals, cancellation, timers, results) wait in a queue in the order of arrival. The lock admits
 * the next event when all code of the workflow waits. So the queued events always come after the result, even if it is late.
 *
 * This has consequences:
 * - The workflow tasks of an early and a late result differ in time and history size. So decide nothing by `Date.now()`. Use the
 *   getters of the lock: `history` has the size at the arrival of the current event, and `now` is the arrival time of that event
 *   plus the duration of later local activities.
 * - Queries, signals and cancellations wait during a local activity, so a local activity may take only 2 seconds. If consecutive
 *   local activities have taken 2 seconds, the next try is an ordinary activity, which releases the lock (see `mayTryLocally`).
 * - The SDK drops the command to cancel a timer, an activity or a child that has ended. When a late result arrives, a timer may
 *   have ended, but in a replay the timer still runs. So the code never cancels a timer, but lets the timer fire without effect.
 *   The code cancels a child by its workflow id, because the SDK never drops that command. No local activity runs while an
 *   ordinary activity can be cancelled.
 * - Do not await a promise that may already have settled. After a late result, the workflow would continue immediately. A replay
 *   would continue later. Instead, call `arrive` when the promise settles.
 * - A cancelled scope issues its commands some microtasks later. The next event waits for these commands.
 *
 * The rules:
 * 1. A handler of a signal, or of the cancellation, does its work in `arrive`.
 * 2. Start concurrent work with `start`, which logs the errors of that work.
 * 3. Await `local` directly. Use `cancellable` to await activities that can be cancelled. Otherwise, use `outside` or `wait`.
 * 4. After `wait`, check the state again.
 * 5. Await `allOver` before the workflow closes.
 */

import type { CancellationScope, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';
import type { Call, Timed } from '../../contract/activities.js';
import { longestLocalMs, readFailure } from '../../contract/failures.js';
import { Lock, momentNow } from './lock.js';

export type { Alarm } from './lock.js';
export { Outbox, Places } from './outbox.js';

export class Engine extends Lock {
  wasReset = false; // becomes true at the first signal of a run that began with a reset
  #cancellable = 0; // the number of running activities that can be cancelled

  /** Calls a local activity, which keeps the lock. If cancellable activities are running, calls an ordinary activity instead. */
  local<Value extends Timed>(summary: string, call: Call<Value>, maximumAttempts = 1): Promise<Value> {
    const options = { retry: { maximumAttempts }, summary };
    return this.#cancellable === 0
      ? this.counted(call(proxyLocalActivities({ ...options, startToCloseTimeout: longestLocalMs })))
      : this.outside(call(proxyActivities({ ...options, startToCloseTimeout: '30 seconds' })));
  }

  async counted<Value extends Timed>(local: Promise<Value>): Promise<Value> {
    try {
      const value = await local;
      this.passed(value.tookMs);
      return value;
    } catch (error) {
      this.passed(readFailure(error).tookMs);
      throw error;
    }
  }

  async cancellable<Value>(activities: Promise<Value>): Promise<Value> {
    this.#cancellable += 1;
    try {
      return await this.outside(activities);
    } finally {
      this.#cancellable -= 1;
    }
  }

  /**
   * Whether this attempt at the workflow task is surely the first. The number of events shows this, because a lost attempt adds
   * events. Commands must not depend on this value, because it may differ in a replay.
   */
  get isFirstAttempt(): true | undefined {
    // A history begins with three events. At least five more events come before the task of the first timer.
    return (this.fired < 2 && momentNow().events === 3 + 5 * this.fired) || undefined;
  }

  get mayTryLocally(): boolean {
    return this.#cancellable === 0 && this.keptMs < longestLocalMs;
  }

  /** Call this method before the first action. After a reset, first handles the decisions that people sent before the reset. */
  async letIn(): Promise<void> {
    if (this.wasReset) await this.outside(Promise.resolve());
  }

  /**
   * Call this method in the first activation, after all signals have handlers. `cancel` handles the cancellation of the workflow.
   * Part of the replay contract. @returns whether an attempt at the first workflow task may have been lost. That attempt may have
   * tried effects. In a replay, also returns true if the first task was long. Use the value only before local activities.
   */
  begin(root: CancellationScope, cancel: () => void): boolean {
    const isCancelled = root.consideredCancelled;
    // The history begins with three events. Each signal and the cancellation add one event. A lost attempt adds three events.
    const hasLostTask = momentNow().events >= 3 + Number(isCancelled) + this.queue.length + 3;
    if (isCancelled) cancel();
    else root.cancelRequested.catch(() => this.arrive(cancel));
    return hasLostTask;
  }
}

/**
 * Gives each signal handler a second argument: whether the run was reset before the signal. After a reset, Temporal changes the
 * seed of the run's random numbers. In a replay, nothing else shows the reset at the same point.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  const atFirst = getActivator().random;
  const wasReset = () => getActivator().random !== atFirst;
  return { inbound: [{ handleSignal: (input, next) => next({ ...input, args: [input.args[0], wasReset()] }) }] };
};
