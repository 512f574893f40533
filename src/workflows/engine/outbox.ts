/** Temporal fails every workflow task that leaves more than 2,000 activities, children or signals pending. These keep below that. */

import { type ExternalWorkflowHandle, getExternalWorkflowHandle, log } from '@temporalio/workflow';
import { type Steering, type SteeringName, steeringSignals } from '../../contract/messages.js';
import type { Alarm, Lock } from './lock.js';

/** Sends signals to another workflow one after another, since Temporal does not keep their order. */
export class Outbox {
  readonly #unsent: (() => Promise<unknown>)[] = [];
  readonly #opened: Alarm = {};

  /** @param isOpen - false: nothing is sent before `open`. */
  constructor(
    private readonly lock: Lock,
    readonly workflowId: string,
    private isOpen = true,
  ) {}

  open(): void {
    this.isOpen = true;
    this.#opened.ring?.();
  }

  add(send: () => Promise<unknown>): void {
    this.#unsent.push(send);
    if (this.#unsent.length === 1) this.lock.start(() => this.#sendAll());
  }

  /** @param what - for the log. @returns false if the workflow is gone. */
  async reach(what: string, call: (workflow: ExternalWorkflowHandle) => Promise<void>): Promise<boolean> {
    try {
      await this.lock.outside(call(getExternalWorkflowHandle(this.workflowId)));
      return true;
    } catch (error) {
      log.warn(`${what} did not reach ${this.workflowId}`, { error });
      return false;
    }
  }

  /** Passes a person's signal on. @returns false if the workflow is gone. */
  steer(name: SteeringName, steering: Steering): Promise<boolean> {
    return this.reach(`the signal ${name}`, (workflow) => workflow.signal(steeringSignals[name], steering));
  }

  async #sendAll(): Promise<void> {
    while (!this.isOpen) await this.lock.wait(this.#opened);
    for (let [send] = this.#unsent; send; [send] = this.#unsent) {
      await send();
      this.#unsent.shift();
    }
  }
}

/** Concurrent activities of a workflow whose actions have hundreds each. Part of the replay contract. */
const most = 1000;

export class Places {
  #taken = 0;
  readonly #waiting = new Set<Alarm>();

  /** @returns whether the places were free. If not, the alarm rings when some become free. */
  take(count: number, alarm: Alarm): boolean {
    const areFree = this.#taken === 0 || this.#taken + count <= most;
    if (areFree) this.#taken += count;
    this.#waiting[areFree ? 'delete' : 'add'](alarm);
    return areFree;
  }

  free(count: number): void {
    this.#taken -= count;
    for (const alarm of this.#waiting) alarm.ring?.();
  }
}
