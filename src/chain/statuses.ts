/** The statuses of a workflow's actions, and people's signals that had no effect. Part of the replay contract. */

import type { ActionStatus } from './action-status.js';
import type { SteeringVerb } from './allowed-verbs.js';
import { type Chain, type ChainAction, initialStatus } from './chain.js';
import { hasEnded } from './outcome.js';
import { shownTime } from './web-ui.js';

/** A change of a status; `undefined` removes a field. */
export type Change = Partial<Omit<ActionStatus, 'index'>>;

/** Removes the fields of a hold or a wait. */
const over = { heldUntil: undefined, nextAttemptAt: undefined, pausedSince: undefined, reason: undefined };

export class Statuses {
  /** The last three signals without effect, each with the reason. */
  ignored: string[] = [];
  /** The number of signals without effect since the last reset of this counter. */
  ignores = 0;
  /** Increases with every change. */
  version = 0;
  readonly #actions: Map<number, ActionStatus>;

  /** @param time - returns the current time in ISO 8601, UTC */
  constructor(
    readonly chain: Chain,
    private readonly time: () => string,
  ) {
    this.#actions = new Map(chain.actions.map((action) => [action.index, initialStatus(chain, action)]));
  }

  get actions(): ActionStatus[] {
    return [...this.#actions.values()];
  }

  /** The actions that have not ended. */
  get open(): ChainAction[] {
    return this.chain.actions.filter(({ index }) => !this.hasEnded(index));
  }

  has(index: number): boolean {
    return this.#actions.has(index);
  }

  of(index: number): ActionStatus {
    const status = this.#actions.get(index);
    if (!status) throw new RangeError(`no action ${index}`);
    return status;
  }

  hasEnded(index: number): boolean {
    return hasEnded(this.of(index).state);
  }

  update(index: number, change: Change): void {
    this.replace({ ...this.of(index), ...change });
  }

  /** Ends an action. Its status keeps the last error. */
  end(index: number, change: Change): void {
    this.update(index, { ...over, endedAt: this.time(), ...change });
  }

  /** @param dueAt - Unix milliseconds */
  schedule(index: number, dueAt: number): void {
    this.update(index, { ...over, state: 'scheduled', runAt: new Date(dueAt).toISOString() });
  }

  endRest(change: Change): void {
    for (const { index } of this.open) this.end(index, change);
  }

  replace(after: ActionStatus): void {
    this.#actions.set(after.index, after);
    this.version += 1;
  }

  /** Adds a person's decision. Keeps only the last twenty decisions. @param at - the time of the decision. By default, now. */
  steer(index: number, by: string, verb: SteeringVerb, fields?: string[], at = this.time()): void {
    const steered = { at, by, verb, ...(fields && { fields }) };
    this.update(index, { steered: [...(this.of(index).steered ?? []), steered].slice(-20) });
  }

  /** Takes a report of a delayed action. Keeps the edits that wait for the action's turn, because a report lacks them. */
  report(status: ActionStatus): void {
    const { index, steered = [] } = status;
    const waiting = this.of(index).steered?.filter((one) => one.verb === 'mend' && !steered.some(({ at }) => at === one.at));
    this.replace(waiting?.length ? { ...status, steered: [...waiting, ...steered].slice(-20) } : status);
  }

  /** Records why a signal had no effect, because Temporal tells the sender only that the signal arrived. */
  ignore(signal: string): void {
    this.ignored = [...this.ignored, `${shownTime(this.time())}, ${signal}`].slice(-3);
    this.ignores += 1;
    this.version += 1;
  }
}

/** Returns a text. If the text changes, a delayed action must report its status to the chain. */
export function reported({ state, pausedSince, runAt, steered }: Partial<ActionStatus> = {}): string {
  const told = state === 'needs-attention' || state === 'cancelled' ? state : '';
  return [told, pausedSince, runAt, state === 'needs-attention' ? '' : steered?.length].join();
}
