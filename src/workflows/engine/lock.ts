/** One holder at a time issues commands, so a replay issues them in the same order as the first run. engine.ts explains it. */

import { CancellationScope, isCancellation, log, sleep, workflowInfo } from '@temporalio/workflow';
import type { History } from '../../chain/room.js';

export interface Alarm {
  ring?: () => void;
}

export class Lock {
  /** Milliseconds of local activities since the lock was last let go. Queries, signals and cancellations wait meanwhile. */
  protected keptMs = 0;
  /** The events from outside. Each returns true if its code goes on as the holder and lets go later. */
  protected readonly queue: (() => boolean)[] = [];
  #held = true;
  #fibers = 0;
  #cancelled = false;
  #moment = momentNow();
  readonly #scope = CancellationScope.current();
  readonly #allOver: Alarm = {};
  /** Steps that the holder caused. They precede all events from outside. */
  readonly #inside: (() => void)[] = [];

  /**
   * The workflow's main function is the first holder.
   * @param publish - called whenever everything waits again; may issue commands.
   * @param show - called when the queue is empty, so thousands of signals are shown once. A replay may call it at other times: it
   * must issue no command.
   */
  constructor(
    private readonly publish: () => void,
    private readonly show = () => {},
  ) {}

  /** Unix milliseconds: the arrival of the current event, plus the time of local activities since. */
  get now(): number {
    return this.#moment.now;
  }

  /** In ISO 8601, UTC. @param fromNow - milliseconds */
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

  /** Runs `step` for an event from outside, in its turn. `step` must not wait. */
  arrive(step: () => void): void {
    this.#enter(() => {
      step();
      return false;
    });
  }

  /** Runs `fiber` beside the holder, as soon as the holder waits. Logs its errors. */
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

  /** Lets go and awaits something outside: an ordinary activity, a child workflow, the acknowledgement of a signal. */
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
   * Lets go until the alarm rings or the time is over. The caller then looks at what has changed. If the alarm rings, the timer is
   * not cancelled: it fires without effect.
   */
  wait(alarm: Alarm, milliseconds?: number, summary = ''): Promise<void> {
    return new Promise((run) => {
      const ring = () => {
        alarm.ring = undefined;
        this.#inside.push(run);
      };
      alarm.ring = ring;
      // The alarm can ring until the timer's turn has come: an earlier event in the queue may decide otherwise.
      const turn = () => {
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

  /** Lets go until all fibers have ended. Events may still be queued: to see them, wait once more. */
  async allOver(): Promise<void> {
    // To publish may start something.
    for (this.publish(); this.#fibers > 0; this.publish()) await this.wait(this.#allOver);
    this.show();
  }

  /** @param run - returns true if it goes on as the holder and lets go later */
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

  /** A loop: with thousands of events, a recursion would overflow the stack. */
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

  /** A cancelled scope issues its commands some microtasks later, before those of the next event. Part of the replay contract. */
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

function momentNow() {
  const { historyLength, historySize } = workflowInfo();
  return { now: Date.now(), events: historyLength, bytes: historySize };
}
