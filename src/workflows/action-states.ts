/** How the actions of a workflow stand, published where the Web UI and the lists read it. */

import { log, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { type Chain, type ChainAction, initialStatus } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import { hasRoomForOwn, isFull } from '../chain/room.js';
import { currentDetails, shownTime } from '../chain/web-ui.js';
import { standingOf, withAttentionSince } from '../contract/search-attributes.js';
import type { Lock } from './lock.js';

/** A change of an action's status; `undefined` takes a fact away. */
export type Change = Partial<Omit<ActionStatus, 'index'>>;

export class ActionStates {
  /** The last three signals that had no effect, with why. */
  ignored: string[] = [];
  #ignores = 0;
  readonly #actions: Map<number, ActionStatus>;
  #changed = true;
  #shown = false;
  /** What the search attributes say, each as JSON. */
  #searchable: string[];

  constructor(
    private readonly chain: Chain,
    private readonly lock: Lock,
    private readonly tellIgnored = (_signal: string) => {},
  ) {
    this.#actions = new Map(chain.actions.map((action) => [action.index, initialStatus(chain, action)]));
    this.#searchable = standingOf(this.actions).map(({ value }) => JSON.stringify(value));
  }

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

  /** Whether the history has no room for tries that people ask for. */
  get isFull(): boolean {
    return isFull(this.lock.history, this.#open);
  }

  get hasRoomForOwn(): boolean {
    return hasRoomForOwn(this.lock.history, this.#open);
  }

  get #open(): ChainAction[] {
    return this.chain.actions.filter(({ index }) => !hasEnded(this.of(index).state));
  }

  update(index: number, change: Change): void {
    this.replace({ ...this.of(index), ...change });
  }

  /** Ends an action: the facts of a hold or a wait go, the last error stays. */
  end(index: number, change: Change): void {
    const over = { heldUntil: undefined, nextAttemptAt: undefined, pausedSince: undefined, reason: undefined };
    this.update(index, { ...over, endedAt: this.lock.time(), ...change });
  }

  cancelRest(): void {
    for (const { index, state } of this.actions) if (!hasEnded(state)) this.end(index, { state: 'cancelled' });
  }

  replace(after: ActionStatus): void {
    this.#actions.set(after.index, after);
    this.#changed = true;
    this.#shown = false;
  }

  /** Keeps a signal that had no effect, with why: whoever sent it was told that it succeeded. */
  ignore(signal: string): void {
    this.ignored = [...this.ignored, `${shownTime(this.lock.time())}, ${signal}`].slice(-3);
    this.#ignores += 1;
    this.#shown = false;
    this.tellIgnored(signal);
  }

  publish(): void {
    if (!this.#changed) return;
    this.#changed = false;
    const before = this.#searchable;
    const standing = standingOf(this.actions);
    this.#searchable = standing.map(({ value }) => JSON.stringify(value));
    const changed = standing.filter((_, place) => this.#searchable[place] !== before[place]);
    if (changed.length > 0) upsertSearchAttributes(withAttentionSince(changed, this.lock.now));
  }

  /** Issues no commands. */
  show(): void {
    if (this.#shown) return;
    this.#shown = true;
    // Their texts quote what was sent.
    if (this.#ignores > 0) log.warn('signals had no effect: the status of the chain says why', { signals: this.#ignores });
    this.#ignores = 0;
    setCurrentDetails(currentDetails(this.chain, this.actions, this.ignored));
  }
}
