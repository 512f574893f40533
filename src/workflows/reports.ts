/** What a `DelayedAction` tells its chain: only what the chain has to act on or show before the child has closed. */

import { type ExternalWorkflowHandle, getExternalWorkflowHandle, log } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { type Report, reportSignal, type Steering, steeringSignals } from '../contract/messages.js';
import type { NoticeKind } from '../contract/notices.js';
import type { ActionStates } from './action-states.js';
import type { Lock } from './lock.js';

export class Reports {
  #notices: NonNullable<Report['notices']> = [];
  /** The statuses as the chain knows them. */
  readonly #told: Map<number, ActionStatus>;
  readonly #unsent: ((chain: ExternalWorkflowHandle) => Promise<void>)[] = [];

  constructor(
    private readonly chainWorkflowId: string,
    private readonly states: ActionStates,
    private readonly lock: Lock,
  ) {
    this.#told = new Map(states.actions.map((action) => [action.index, action]));
  }

  /** Asks the chain to tell people about an action. */
  notice(kind: NoticeKind, index: number): void {
    this.#notices.push({ kind, index });
  }

  /** Tells the chain of a signal that had no effect. */
  ignored(signal: string): void {
    this.#send({ actions: [], ignored: signal });
  }

  /**
   * Tells what has changed since the last time, if the chain has to know: a hold, a pause, a time that was moved, a cancellation.
   */
  publish(): void {
    const changed = this.states.actions.filter((action) => this.#told.get(action.index) !== action);
    const matters = changed.some((action) => standing(action) !== standing(this.#told.get(action.index)));
    if (!matters && this.#notices.length === 0) return;
    for (const action of changed) this.#told.set(action.index, action);
    const notices = this.#notices;
    this.#notices = [];
    this.#send({ actions: changed, ...(notices.length > 0 && { notices }) });
  }

  /** Gives the chain back what a person asked of an action that has failed. */
  passBack({ index, by }: Steering): void {
    this.#signal((chain) => chain.signal(steeringSignals.retry, { index, ...(by !== undefined && { by }) }));
  }

  #send(report: Report): void {
    this.#signal((chain) => chain.signal(reportSignal, report));
  }

  #signal(signal: (chain: ExternalWorkflowHandle) => Promise<void>): void {
    this.#unsent.push(signal);
    if (this.#unsent.length === 1) this.lock.start(() => this.#sendAll());
  }

  /** One after the other, since Temporal does not keep their order otherwise. A chain that is gone is told nothing. */
  async #sendAll(): Promise<void> {
    for (let [signal] = this.#unsent; signal; [signal] = this.#unsent) {
      try {
        await this.lock.outside(signal(getExternalWorkflowHandle(this.chainWorkflowId)));
      } catch (error) {
        log.warn('the chain could not be told of its delayed actions', { error });
      }
      this.#unsent.shift();
    }
  }
}

function standing(action: ActionStatus | undefined): string {
  const { state, pausedSince, runAt, steered } = action ?? {};
  const told = state === 'needs-attention' || state === 'cancelled' ? state : '';
  return [told, pausedSince, runAt, state === 'needs-attention' ? '' : steered?.length].join();
}
