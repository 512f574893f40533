/** Runs the actions of one delay when they are due: the child workflow of a `RuleChain`. */

import { CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { type Chain, type ChainAction, chainWorkflowId, dueAt } from '../chain/chain.js';
import { chainStatus, hasEnded, isToRedo } from '../chain/outcome.js';
import { shownTime, summaryOf } from '../chain/summary.js';
import { ActionRunner } from './action-runner.js';
import { ActionStates } from './action-states.js';
import { actionsFailed } from './failures.js';
import { Alarm, Lock } from './lock.js';
import { Reports } from './reports.js';
import { lastSummary, takeSteering } from './steering.js';

/**
 * @param chain - the chain with the actions of this delay only.
 * @returns what became of them.
 * @throws ApplicationFailure `ActionsFailed` with the same as details when one ended `failed` or `not-run`.
 */
export async function DelayedAction(chain: Chain): Promise<ActionStatus[]> {
  const root = CancellationScope.current();
  return CancellationScope.nonCancellable(async () => {
    const lock = new Lock(() => {
      states.publish();
      reports.publish();
      groups.wakeEmpty();
    });
    const states: ActionStates = new ActionStates(chain, lock);
    const reports: Reports = new Reports(chainWorkflowId(chain), states, lock);
    const runner = new ActionRunner(chain, states, lock, (kind, index) => reports.notice(kind, index));
    const groups: DelayGroups = new DelayGroups(states, lock, runner);

    const [first] = chain.actions;
    if (first) groups.open([...chain.actions], dueAt(chain, first));
    takeSteering({
      lock,
      states,
      runner,
      ignored: (signal) => reports.ignored(signal),
      // The chain passed it on before it had heard that the action has failed, and does it again itself.
      passOn(name, steering) {
        const late = name === 'retry' && states.has(steering.index) && isToRedo(states.of(steering.index).state);
        if (late) reports.passBack(steering);
        return late;
      },
      moveTo: (index, dueAt) => groups.move(index, dueAt),
    });
    if (root.consideredCancelled) runner.cancelAll();
    else root.cancelRequested.catch(() => lock.arrive(() => runner.cancelAll()));

    await lock.allOver();
    if (!runner.cancelled && states.actions.some(({ state }) => isToRedo(state))) {
      await lock.wait(1, lastSummary(states.actions)); // A retry is passed back.
      await lock.allOver();
    }
    if (runner.cancelled) {
      for (const { index, state } of states.actions) if (!hasEnded(state)) states.end(index, { state: 'cancelled' });
      await lock.allOver();
      throw new CancelledFailure('the delayed actions were cancelled');
    }
    const { actions } = states;
    if (chainStatus(actions) === 'failed') throw actionsFailed('ActionsFailed', chain, actions, actions);
    return actions;
  });
}

/** Actions that are due together and run in order. An action that somebody moves gets a group of its own. */
interface DelayGroup {
  actions: ChainAction[];
  dueAt: number;
  alarm: Alarm;
}

class DelayGroups {
  readonly #groups: DelayGroup[] = [];

  constructor(
    private readonly states: ActionStates,
    private readonly lock: Lock,
    private readonly runner: ActionRunner,
  ) {}

  /** @param dueAt - Unix milliseconds. */
  open(actions: ChainAction[], dueAt: number): void {
    const group = { actions, dueAt, alarm: new Alarm() };
    this.#groups.push(group);
    this.lock.start(() => this.#run(group));
  }

  move(index: number, dueAt: number): void {
    const group = this.#groups.find(({ actions }) => actions.some((action) => action.index === index));
    const place = group?.actions.findIndex((action) => action.index === index) ?? -1;
    const [action] = group?.actions.splice(place, 1) ?? [];
    if (!action) return;
    this.states.update(index, { runAt: new Date(dueAt).toISOString() });
    this.open([action], dueAt);
  }

  /** Ends the wait of groups that have nothing to do any more. */
  wakeEmpty(): void {
    for (const group of this.#groups) if (this.#left(group).length === 0) group.alarm.ring();
  }

  /** Waits until the group is due, or empty, then runs it. */
  async #run(group: DelayGroup): Promise<void> {
    const { lock, states, runner } = this;
    const due = `due ${shownTime(new Date(group.dueAt).toISOString())}`;
    const wait = group.dueAt - lock.now;
    if (wait > 0 && this.#left(group).length > 0) await lock.wait(wait, summaryOf(this.#left(group), due), group.alarm);
    for (const { index } of this.#left(group)) states.update(index, { state: 'pending' });
    await runner.run(group.actions);
  }

  /** Nothing is left to do where everything was cancelled. */
  #left({ actions }: DelayGroup): ChainAction[] {
    return this.runner.cancelled ? [] : actions.filter(({ index }) => !hasEnded(this.states.of(index).state));
  }
}
