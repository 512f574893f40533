/** How the actions of a workflow stand, shown where the Web UI and the lists read it. */

import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { type Chain, initialStatus } from '../chain/chain.js';
import { currentDetails } from '../chain/details.js';
import { shownTime } from '../chain/summary.js';
import { standingOf } from '../contract/search-attributes.js';

/** A change of an action's standing; `undefined` takes a fact away. */
export type Change = { [Fact in keyof Omit<ActionStatus, 'index'>]?: ActionStatus[Fact] | undefined };

export class Board {
  readonly #actions: Map<number, ActionStatus>;
  #ignored: string[] = [];
  /** What the search attributes say, as JSON. */
  readonly #searchable = new Map<string, string>();

  /** @param onChange - called after every change with the action as it stood and as it stands. */
  constructor(
    private readonly chain: Chain,
    private readonly onChange: (before: ActionStatus, after: ActionStatus) => void = () => {},
  ) {
    this.#actions = new Map(chain.actions.map((action) => [action.index, initialStatus(chain, action)]));
    for (const { key, value } of standingOf(this.actions)) this.#searchable.set(key.name, JSON.stringify(value));
    this.#show();
  }

  /** All actions in array order. */
  get actions(): ActionStatus[] {
    return [...this.#actions.values()];
  }

  /** The last signals that had no effect, with why; the latest last. */
  get ignored(): string[] {
    return this.#ignored;
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
    const changed = standingOf(this.actions).filter(({ key, value }) => this.#searchable.get(key.name) !== JSON.stringify(value));
    for (const { key, value } of changed) this.#searchable.set(key.name, JSON.stringify(value));
    if (changed.length > 0) upsertSearchAttributes(changed);
    this.#show();
    this.onChange(before, after);
  }

  /** Tells of a signal that had no effect, since whoever sent it was told that it succeeded. */
  ignore(signal: string): void {
    this.#ignored = [...this.#ignored, `${shownTime(new Date().toISOString())}, ${signal}`].slice(-3);
    this.#show();
  }

  #show(): void {
    setCurrentDetails(currentDetails(this.chain, this.actions, this.#ignored));
  }
}
