/** Temporal fails a workflow task with more than 2,000 pending activities, children or signals. These classes limit the number. */

import { type ExternalWorkflowHandle, getExternalWorkflowHandle, log } from '@temporalio/workflow';
import { type Steering, type SteeringName, steeringSignals } from '../../contract/messages.js';
import type { Alarm, Lock } from './lock.js';

/** Sends signals to another workflow one after another, because Temporal does not keep the order of concurrent signals. */
export class Outbox {
  readonly #unsent: (() => Promise<unknown>)[] = [];
  readonly #opened: Alarm = {};

  /** @param isOpen - if false, the outbox sends nothing before `open` is called. */
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

  /** @param what - names the message in the log. @returns false if the workflow cannot be reached. */
  async reach(what: string, call: (workflow: ExternalWorkflowHandle) => Promise<void>): Promise<boolean> {
    try {
      await this.lock.outside(call(getExternalWorkflowHandle(this.workflowId)));
      return true;
    } catch (error) {
      log.warn(`${what} did not reach ${this.workflowId}`, { error });
      return false;
    }
  }

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

/** The maximum number of concurrent activities. A workflow can have more recipients than this. Part of the replay contract. */
const most = 1000;

export class Places {
  #taken = 0;
  readonly #waiting = new Set<Alarm>();

  /** @returns whether enough places were free. If not, the alarm rings when places become free. */
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
