/**
 * Why a replay of a workflow issues the same commands as its first run. Code outside this folder needs only the rules at the end.
 *
 * Temporal keeps only the history of a workflow. A worker that does not have the workflow in memory runs its code again, which must
 * issue the same commands (timers, activities, signals, search attributes) in the same order. So the history must fix the order of
 * every step that issues a command.
 *
 * The history does not fix it for the end of a local activity. Effects begin as local activities, since these cost one event instead
 * of six. If a query arrives while one ends, the SDK records its end in this workflow task, but the workflow gets the result in the
 * next task, after the signals, the cancellation and the timers of that task. In a replay the workflow gets the result before them.
 * So a person who opens the page of a chain at the wrong moment could change the order: the chain would stop (TMPRL1100).
 *
 * The lock prevents this. One holder at a time may issue commands, and keeps the lock during a local activity. Events from outside
 * (signals, cancellation, timers, results) wait in a queue in the order of their arrival. The lock admits the next event when all
 * code of the workflow waits. So the queued events follow an early and a late result alike.
 *
 * This has consequences:
 * - The tasks of an early and a late result have different times and history sizes. So `history` is the size when the current event
 *   arrived, and `now` is the time of its arrival plus the time of local activities since. `Date.now()` must not decide anything.
 * - A local activity delays queries, signals and cancellations, so it has 2 seconds. If local tries in a row have taken 2 seconds,
 *   the next try is an ordinary activity, which lets go of the lock: `mayTryLocally`.
 * - The SDK drops the command to cancel a timer, an activity or a child that has ended. With a late result it may have ended, in a
 *   replay not yet. So timers are not cancelled, they fire without effect. A child is cancelled by its workflow id: the SDK never
 *   drops this command. While an activity can be cancelled, no local activity runs.
 * - Do not await a promise that may have settled before: the workflow would go on at once after a late result, and later in a
 *   replay. Let the promise call `arrive` when it settles.
 * - A cancelled scope issues its commands some microtasks later. The next event waits for them.
 *
 * The rules:
 * 1. A handler of a signal, or of the cancellation, does its work in `arrive`.
 * 2. Work beside the holder begins with `start`, which logs its errors.
 * 3. Await `local` directly, an activity that can be cancelled with `cancellable`, everything else with `outside` or `wait`.
 * 4. After `wait`, look at the state again.
 * 5. Close the workflow after `allOver`.
 */

import {
  type CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  type WorkflowInterceptorsFactory,
  workflowInfo,
} from '@temporalio/workflow';
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';
import type { Call, Timed } from '../../contract/activities.js';
import { longestLocalMs, readFailure } from '../../contract/failures.js';
import { Lock } from './lock.js';

export type { Alarm } from './lock.js';
export { Outbox, Places } from './outbox.js';

export class Engine extends Lock {
  /**
   * Whether an attempt at the run's first workflow task may have been lost, with its local activities. A replay also sees it after a
   * task that lasted long: nothing that a task may try locally may depend on it.
   */
  hasLostTask = false;
  /** Set by the first signal after a reset. */
  wasReset = false;
  /** Activities under way that can be cancelled. */
  #cancellable = 0;

  /** Calls a local activity, which keeps the lock, or an ordinary one while an activity that can be cancelled is under way. */
  local<Value extends Timed>(summary: string, call: Call<Value>, maximumAttempts = 1): Promise<Value> {
    const options = { retry: { maximumAttempts }, summary };
    return this.#cancellable === 0
      ? this.counted(call(proxyLocalActivities({ ...options, startToCloseTimeout: longestLocalMs })))
      : this.outside(call(proxyActivities({ ...options, startToCloseTimeout: '30 seconds' })));
  }

  /** Counts the time of a local activity. */
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

  /** Awaits ordinary activities that can be cancelled. */
  async cancellable<Value>(activities: Promise<Value>): Promise<Value> {
    this.#cancellable += 1;
    try {
      return await this.outside(activities);
    } finally {
      this.#cancellable -= 1;
    }
  }

  get mayTryLocally(): boolean {
    return this.#cancellable === 0 && this.keptMs < longestLocalMs;
  }

  /** In the first workflow task after a reset: admits the decisions that people made before the reset. */
  async letIn(): Promise<void> {
    if (this.wasReset) await this.outside(Promise.resolve());
  }

  /**
   * To be called in the first activation, when all signals have handlers. `cancel` deals with the cancellation of the workflow.
   * Part of the replay contract.
   */
  begin(root: CancellationScope, cancel: () => void): void {
    const isCancelled = root.consideredCancelled;
    // A workflow task has three events of its own; each signal and the cancellation is one more.
    this.hasLostTask = workflowInfo().historyLength >= 3 + Number(isCancelled) + this.queue.length + 3;
    if (isCancelled) cancel();
    else root.cancelRequested.catch(() => this.arrive(cancel));
  }
}

/**
 * Gives the handler of a signal a second argument: whether the run was reset before. Temporal gives such a run another seed for its
 * random numbers; nothing else shows a reset at the same place in a replay.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  const atFirst = getActivator().random;
  const wasReset = () => getActivator().random !== atFirst;
  return { inbound: [{ handleSignal: (input, next) => next({ ...input, args: [input.args[0], wasReset()] }) }] };
};
