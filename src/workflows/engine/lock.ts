/** Only the holder of the lock issues commands, so a replay issues commands in the same order as the first run (see engine.ts). */

import { CancellationScope, isCancellation, log, sleep, workflowInfo } from '@temporalio/workflow';
import type { History } from '../../chain/room.js';

export interface Alarm {
  ring?: () => void;
}

export class Lock {
  /** How long local activities have kept the lock since its last release, in milliseconds. Queries and events wait that long. */
  protected keptMs = 0;
  /** The events from outside, in order of arrival. An event returns true if its code keeps the lock and releases the lock later. */
  protected readonly queue: (() => boolean)[] = [];
  protected fired = 0; // the number of timers that have fired
  #held = true;
  #fibers = 0;
  #cancelled = false;
  #moment = momentNow();
  readonly #scope = CancellationScope.current();
  readonly #allOver: Alarm = {};
  /** Steps that the holder caused. These steps run before all events from outside. */
  readonly #inside: (() => void)[] = [];

  /**
   * The workflow's main function is the first holder.
   * @param publish - runs whenever all code of the workflow waits again. `publish` may issue commands.
   * @param show - runs when the queue is empty, so `show` runs only once for thousands of signals. A replay may call `show` at
   * other times, so `show` must not issue commands.
   */
  constructor(
    private readonly publish: () => void,
    private readonly show = () => {},
  ) {}

  /** The arrival time of the current event, plus the duration of later local activities, in Unix milliseconds. */
  get now(): number {
    return this.#moment.now;
  }

  /** `now` in ISO 8601, UTC. @param fromNow - milliseconds to add */
  time(fromNow = 0): string {
    return new Date(this.now + fromNow).toISOString();
  }

  get history(): History {
    return this.#moment;
  }

  passed(milliseconds: number): void {
    this.keptMs += milliseconds;
    this.#moment.now += milliseconds;
  }

  /** Runs `step` for an event from outside, after all earlier events. `step` must not wait. */
  arrive(step: () => void): void {
    this.#enter(() => {
      step();
      return false;
    });
  }

  /** Starts `fiber` when the holder waits. `fiber` then runs concurrently with other code. Logs the errors of `fiber`. */
  start(fiber: () => Promise<unknown>): void {
    this.#fibers += 1;
    this.#inside.push(() => {
      const ended = this.#scope.run(fiber).catch((error: unknown) => {
        if (!isCancellation(error)) log.error('something beside the sequence of actions failed', { error });
      });
      void ended.then(() => {
        this.#fibers -= 1;
        if (this.#fibers === 0) this.#allOver.ring?.();
        this.#letGo();
      });
    });
  }

  /** Releases the lock, and awaits an ordinary activity, a child workflow or the acknowledgement of a signal. */
  outside<Value>(promise: Promise<Value>): Promise<Value> {
    this.#letGo();
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.#enter(goOn(() => resolve(value))),
        (error: unknown) => this.#enter(goOn(() => reject(error))),
      );
    });
  }

  /**
   * Releases the lock until the alarm rings or the time is over. Then the caller must check the state again. If the alarm rings
   * first, the timer still fires, but has no effect.
   */
  wait(alarm: Alarm, milliseconds?: number, summary = ''): Promise<void> {
    return new Promise((run) => {
      const ring = () => {
        alarm.ring = undefined;
        this.#inside.push(run);
      };
      alarm.ring = ring;
      // An earlier event in the queue may ring the alarm after the timer has fired. Then the timer has no effect.
      const turn = () => {
        this.fired += 1;
        if (alarm.ring !== ring) return false;
        alarm.ring = undefined;
        return goOn(run)();
      };
      if (milliseconds !== undefined) void sleep(milliseconds, { summary }).then(() => this.#enter(turn));
      this.#letGo();
    });
  }

  cancel(scope: CancellationScope | undefined): void {
    this.#cancelled = true;
    scope?.cancel();
  }

  /** Releases the lock until all fibers have ended. Events may still be in the queue. To handle these events, wait once more. */
  async allOver(): Promise<void> {
    // `publish` may start new fibers.
    for (this.publish(); this.#fibers > 0; this.publish()) await this.wait(this.#allOver);
    this.show();
  }

  /** @param run - returns true if its code keeps the lock and releases the lock later */
  #enter(run: () => boolean): void {
    const moment = momentNow();
    const turn = () => {
      this.#moment = moment;
      return run();
    };
    if (this.#held) this.queue.push(turn);
    else {
      this.#held = true;
      if (!turn()) this.#letGo();
    }
  }

  /** Uses a loop, because a recursion over thousands of events would overflow the stack. */
  #letGo(): void {
    for (;;) {
      this.keptMs = 0;
      if (this.#inside.length === 0) this.publish();
      const next = this.#inside.shift();
      if (next) {
        next();
        return;
      }
      if (this.#cancelled && this.queue.length > 0) break;
      const event = this.queue.shift();
      this.#held = event !== undefined;
      if (!event) this.show();
      if (!event || event()) return;
    }
    void this.#admitLater();
  }

  /** Waits three microtasks, so that a cancelled scope issues its commands before the next event. Part of the replay contract. */
  async #admitLater(): Promise<void> {
    this.#cancelled = false;
    for (let microtask = 0; microtask < 3; microtask += 1) await undefined;
    if (!this.queue.shift()?.()) this.#letGo();
  }
}

const goOn = (run: () => void) => () => {
  run();
  return true;
};

export function momentNow() {
  const { historyLength, historySize } = workflowInfo();
  return { now: Date.now(), events: historyLength, bytes: historySize };
}
