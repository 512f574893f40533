/** How the actions of a workflow stand, shown where the Web UI and the lists read it. */

import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { type Chain, initialStatus } from '../chain/chain.js';
import type { ActionStatus } from '../chain/outcome.js';
import { actionTable } from '../chain/summary.js';
import { needsAttentionKey } from './search-attributes.js';

/** A change of an action's standing; `undefined` takes a fact away. */
export type Change = { [Fact in keyof Omit<ActionStatus, 'index'>]?: ActionStatus[Fact] | undefined };

export class Board {
  readonly #actions: Map<number, ActionStatus>;
  #attention = false;

  /** @param onChange - called after every change with the action as it stood and as it stands. */
  constructor(
    chain: Chain,
    private readonly onChange: (before: ActionStatus, after: ActionStatus) => void = () => {},
  ) {
    this.#actions = new Map(chain.actions.map((action) => [action.index, initialStatus(chain, action)]));
    setCurrentDetails(actionTable(this.actions));
  }

  /** All actions in array order. */
  get actions(): ActionStatus[] {
    return [...this.#actions.values()];
  }

  has(index: number): boolean {
    return this.#actions.has(index);
  }

  of(index: number): ActionStatus {
    const status = this.#actions.get(index);
    if (!status) throw new RangeError(`no action ${index}`);
    return status;
  }

  update(index: number, change: Change): void {
    const after: ActionStatus = Object.assign({ ...this.of(index) }, change);
    for (const [fact, value] of Object.entries(change)) if (value === undefined) Reflect.deleteProperty(after, fact);
    this.replace(after);
  }

  /** Puts an action's standing as a whole, as another workflow tells it. */
  replace(after: ActionStatus): void {
    const before = this.of(after.index);
    this.#actions.set(after.index, after);
    const attention = this.actions.some(({ state }) => state === 'needs-attention');
    if (attention !== this.#attention) upsertSearchAttributes([{ key: needsAttentionKey, value: attention }]);
    this.#attention = attention;
    setCurrentDetails(actionTable(this.actions));
    this.onChange(before, after);
  }
}
