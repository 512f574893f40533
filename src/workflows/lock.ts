/**
 * One lock for everything in a workflow that may issue commands, so that a replay issues them in the same order.
 *
 * Temporal can tell a workflow one workflow task late that a local activity has ended (when somebody queries it at that moment),
 * after the events of that task. A replay tells it in the earlier task, before those events. So whoever awaits a local activity
 * keeps the lock, and what comes from outside (signals, cancels, timers, results) queues: each event is dealt with until
 * everything waits again, then the next one enters. Time and history size are those at which the event arrived, since these too
 * differ between the two tasks.
 */

import { CancellationScope, isCancellation, log, sleep, workflowInfo } from '@temporalio/workflow';

/** What a workflow may know of its surroundings while it deals with an event. */
interface Moment {
  /** Unix milliseconds. */
  now: number;
  historyEvents: number;
  historyBytes: number;
}

/** Something that wants the lock. */
interface Turn {
  run(): void;
  /** Whether it goes on after `run` has returned, and lets go by itself. */
  keeps: boolean;
  moment?: Moment;
}

/** A wait that the holder of the lock can end. */
export class Alarm {
  #end: (() => void) | undefined;

  /** Ends the wait; nothing happens where nobody waits. */
  ring(): void {
    this.#end?.();
  }

  set(end: (() => void) | undefined): void {
    this.#end = end;
  }
}

export class Lock {
  #held = true;
  #fibers = 0;
  #keptMs = 0;
  #cancelled = false;
  #moment = momentNow();
  readonly #scope = CancellationScope.current();
  readonly #allOver = new Alarm();
  /** What the holder itself has brought about: goes before everything from outside. */
  readonly #inside: Turn[] = [];
  /** Events in the order of their arrival. */
  readonly #outside: Turn[] = [];

  /**
   * Made by the workflow's main function, which holds it from then on, in the scope in which everything is to run.
   * @param publish - called whenever everything waits again: shows and tells what has changed.
   */
  constructor(private readonly publish: () => void) {}

  /** Unix milliseconds at which the event arrived that is being dealt with, and what local activities have taken since. */
  get now(): number {
    return this.#moment.now;
  }

  get historyEvents(): number {
    return this.#moment.historyEvents;
  }

  get historyBytes(): number {
    return this.#moment.historyBytes;
  }

  /** Milliseconds of local activities since the lock was let go last: queries, signals and cancels wait so long already. */
  get keptMs(): number {
    return this.#keptMs;
  }

  /** Notes how long a local activity took, as it says itself. */
  passed(milliseconds: number): void {
    this.#keptMs += milliseconds;
    this.#moment = { ...this.#moment, now: this.#moment.now + milliseconds };
  }

  /** Deals with an event from outside, in its turn. `step` does not wait. */
  arrive(step: () => void): void {
    this.#enter({ run: step, keeps: false, moment: momentNow() });
  }

  /** Starts something that goes on beside the holder, as soon as that waits. Its errors are logged. */
  start(fiber: () => Promise<unknown>): void {
    this.#fibers += 1;
    const run = () => {
      const ended = this.#scope.run(fiber).catch((error: unknown) => {
        if (!isCancellation(error)) log.error('something beside the sequence of actions failed', { error });
      });
      void ended.then(() => {
        this.#fibers -= 1;
        if (this.#fibers === 0) this.#allOver.ring();
        this.#letGo();
      });
    };
    this.#inside.push({ run, keeps: true });
  }

  /** Lets go while something outside is awaited: an ordinary activity, a child workflow, a signal's acknowledgement. */
  outside<Value>(promise: Promise<Value>): Promise<Value> {
    this.#letGo();
    return new Promise((resolve, reject) => {
      const enter = (run: () => void) => this.#enter({ run, keeps: true, moment: momentNow() });
      promise.then(
        (value) => enter(() => resolve(value)),
        (error: unknown) => enter(() => reject(error)),
      );
    });
  }

  /** Lets go for so many milliseconds, or until the alarm rings. Whoever waited then looks what has changed. */
  wait(milliseconds: number, summary: string, alarm = new Alarm()): Promise<void> {
    return new Promise((run) => {
      const timer = new CancellationScope();
      alarm.set(() => {
        alarm.set(undefined);
        this.cancel(timer);
        this.#inside.push({ run, keeps: true });
      });
      const fired = () => {
        if (timer.consideredCancelled) return;
        alarm.set(undefined);
        this.#enter({ run, keeps: true, moment: momentNow() });
      };
      timer.run(() => sleep(milliseconds, { summary })).then(fired, () => {});
      this.#letGo();
    });
  }

  /** Cancels what runs in a scope. */
  cancel(scope: CancellationScope | undefined): void {
    this.#cancelled = true;
    scope?.cancel();
  }

  /** Lets go until the alarm rings. */
  until(alarm: Alarm): Promise<void> {
    return new Promise((run) => {
      alarm.set(() => {
        alarm.set(undefined);
        this.#inside.push({ run, keeps: true });
      });
      this.#letGo();
    });
  }

  /**
   * Lets go until everything that was started is over, and publishes. What has arrived meanwhile may still be queued, and whether it
   * has differs between the two tasks: who has to know waits once more.
   */
  async allOver(): Promise<void> {
    for (;;) {
      this.publish(); // This may start something.
      if (this.#fibers === 0) return;
      await this.until(this.#allOver);
    }
  }

  #enter(turn: Turn): void {
    this.#outside.push(turn);
    if (this.#held) return;
    this.#held = true;
    this.#admit();
  }

  /** Hands the lock to whoever is next. */
  #letGo(): void {
    this.#keptMs = 0;
    if (this.#inside.length === 0) this.publish();
    const next = this.#inside.shift();
    if (next) next.run();
    else if (this.#outside.length === 0) this.#held = false;
    else if (this.#cancelled) void this.#admitLater();
    else this.#admit();
  }

  /** Lets the next event in. */
  #admit(): void {
    const turn = this.#outside.shift();
    if (!turn) return;
    if (turn.moment) this.#moment = turn.moment;
    turn.run();
    if (!turn.keeps) this.#letGo();
  }

  /** A cancelled scope issues its commands some microtasks later: these go before those of the next event. */
  async #admitLater(): Promise<void> {
    this.#cancelled = false;
    for (let microtask = 0; microtask < 3; microtask += 1) await undefined;
    this.#admit();
  }
}

function momentNow(): Moment {
  const { historyLength, historySize } = workflowInfo();
  return { now: Date.now(), historyEvents: historyLength, historyBytes: historySize };
}
