/**
 * One lock for everything in a workflow that may issue commands, so that a replay issues them in the same order. Temporal can
 * tell a workflow one task late that a local activity has ended (when somebody queries it at that moment), after the events of
 * that task; a replay tells it before them. So whoever awaits a local activity keeps the lock, and what comes from outside
 * (signals, cancels, timers, results) queues: each event is dealt with until everything waits again, then the next one enters.
 * Time and history size are those at which the event arrived, since these too differ between the two tasks.
 */

import { CancellationScope, isCancellation, log, sleep, workflowInfo } from '@temporalio/workflow';
import type { History } from '../chain/room.js';

export interface Alarm {
  ring?: () => void;
}

export class Lock {
  #held = true;
  #fibers = 0;
  #keptMs = 0;
  #cancelled = false;
  #moment = momentNow();
  readonly #scope = CancellationScope.current();
  readonly #allOver: Alarm = {};
  /** What the holder itself has brought about: goes before everything from outside. */
  readonly #inside: (() => void)[] = [];
  /** Each says whether it goes on, and lets go by itself. */
  readonly #outside: (() => boolean)[] = [];

  /**
   * The workflow's main function holds it from then on.
   * @param publish - called whenever everything waits again; may issue commands.
   * @param show - called when nothing is queued any more: thousands of signals are shown once. A replay may call it at other
   * times: it issues no commands.
   */
  constructor(
    private readonly publish: () => void,
    private readonly show = () => {},
  ) {}

  /** Unix milliseconds at which the event arrived that is being dealt with, and what local activities have taken since. */
  get now(): number {
    return this.#moment.now;
  }

  /** The same in ISO 8601, UTC; some milliseconds from now. */
  time(fromNow = 0): string {
    return new Date(this.now + fromNow).toISOString();
  }

  get history(): History {
    return this.#moment;
  }

  /** Milliseconds of local activities since the lock was let go last: queries, signals and cancels wait so long already. */
  get keptMs(): number {
    return this.#keptMs;
  }

  passed(milliseconds: number): void {
    this.#keptMs += milliseconds;
    this.#moment.now += milliseconds;
  }

  /** Deals with an event from outside, in its turn. `step` does not wait. */
  arrive(step: () => void): void {
    this.#enter(step, false);
  }

  /** Starts something that goes on beside the holder, as soon as that waits. Its errors are logged. */
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

  /** Lets go while something outside is awaited: an ordinary activity, a child workflow, a signal's acknowledgement. */
  outside<Value>(promise: Promise<Value>): Promise<Value> {
    this.#letGo();
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.#enter(() => resolve(value)),
        (error: unknown) => this.#enter(() => reject(error)),
      );
    });
  }

  /** Lets go until the alarm rings or, if given, so many milliseconds have passed. Whoever waited then looks what has changed. */
  wait(alarm: Alarm, milliseconds?: number, summary = ''): Promise<void> {
    return new Promise((run) => {
      const timer = milliseconds === undefined ? undefined : new CancellationScope();
      alarm.ring = () => {
        alarm.ring = undefined;
        if (timer) this.cancel(timer);
        this.#inside.push(run);
      };
      const fired = () => {
        if (timer?.consideredCancelled) return;
        alarm.ring = undefined;
        this.#enter(run);
      };
      timer?.run(() => sleep(milliseconds ?? 0, { summary })).then(fired, () => {});
      this.#letGo();
    });
  }

  cancel(scope: CancellationScope | undefined): void {
    this.#cancelled = true;
    scope?.cancel();
  }

  /** Lets go until all that was started is over. What has arrived may still be queued: who has to know waits once more. */
  async allOver(): Promise<void> {
    for (;;) {
      this.publish(); // This may start something.
      if (this.#fibers === 0) {
        this.show();
        return;
      }
      await this.wait(this.#allOver);
    }
  }

  #enter(run: () => void, goesOn = true): void {
    const moment = momentNow();
    const turn = () => {
      this.#moment = moment;
      run();
      return goesOn;
    };
    if (this.#held) this.#outside.push(turn);
    else {
      this.#held = true;
      if (!turn()) this.#letGo();
    }
  }

  /** A loop, since thousands of events may wait: one that called the next would run out of stack. */
  #letGo(): void {
    for (;;) {
      this.#keptMs = 0;
      if (this.#inside.length === 0) this.publish();
      const next = this.#inside.shift();
      if (next) {
        next();
        return;
      }
      if (this.#cancelled && this.#outside.length > 0) break;
      const event = this.#outside.shift();
      this.#held = event !== undefined;
      if (!event) this.show();
      if (!event || event()) return;
    }
    void this.#admitLater();
  }

  /**
   * A cancelled scope issues its commands some microtasks later: these go before those of the next event.
   * Part of the replay contract.
   */
  async #admitLater(): Promise<void> {
    this.#cancelled = false;
    for (let microtask = 0; microtask < 3; microtask += 1) await undefined;
    if (!this.#outside.shift()?.()) this.#letGo();
  }
}

/** What is sent to another workflow, one after the other: Temporal keeps no order otherwise, and has room for 2,000 at once. */
export class Outbox {
  readonly #unsent: (() => Promise<unknown>)[] = [];

  constructor(private readonly lock: Lock) {}

  add(send: () => Promise<unknown>): void {
    this.#unsent.push(send);
    if (this.#unsent.length === 1) this.lock.start(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    for (let [send] = this.#unsent; send; [send] = this.#unsent) {
      await send();
      this.#unsent.shift();
    }
  }
}

function momentNow() {
  const { historyLength, historySize } = workflowInfo();
  return { now: Date.now(), events: historyLength, bytes: historySize };
}
