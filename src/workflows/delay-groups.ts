/** Groups of actions that run when they are due: all of a `DelayedAction`, and in a chain those whose delay was mended. */

import type { ChainAction } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import { shownTime, summaryOf } from '../chain/web-ui.js';
import type { ActionRunner } from './action-runner.js';
import type { Alarm } from './lock.js';

/** Actions that are due together run in order. One that somebody moves gets a group of its own. */
export class DelayGroups {
  readonly #groups: { actions: ChainAction[]; alarm: Alarm }[] = [];

  constructor(private readonly runner: ActionRunner) {}

  open(actions: ChainAction[], dueAt: number): void {
    const alarm = {};
    this.#groups.push({ actions, alarm });
    this.runner.lock.start(() => this.#run(actions, dueAt, alarm));
  }

  move(index: number, dueAt: number): void {
    const isMoved = (action: ChainAction) => action.index === index;
    const group = this.#groups.find(({ actions }) => actions.some(isMoved));
    const [action] = group?.actions.splice(group.actions.findIndex(isMoved), 1) ?? [];
    if (!action) return;
    this.runner.states.update(index, { runAt: new Date(dueAt).toISOString() });
    this.open([action], dueAt);
  }

  wakeEmpty(): void {
    for (const { actions, alarm } of this.#groups) if (this.#left(actions).length === 0) alarm.ring?.();
  }

  async #run(actions: ChainAction[], dueAt: number, alarm: Alarm): Promise<void> {
    const { runner } = this;
    const { lock, states } = runner;
    const due = `due ${shownTime(new Date(dueAt).toISOString())}`;
    const wait = dueAt - lock.now;
    const waiting = this.#left(actions);
    if (wait > 0 && waiting.length > 0) await lock.wait(alarm, wait, summaryOf(waiting, due));
    for (const { index } of this.#left(actions)) states.update(index, { state: 'pending' });
    await runner.run(actions);
  }

  /** Nothing is left to do where everything was cancelled. */
  #left(actions: ChainAction[]): ChainAction[] {
    return this.runner.cancelled ? [] : actions.filter(({ index }) => !hasEnded(this.runner.states.of(index).state));
  }
}
