/** The attention window of a held action, and the relay's own tries in it. Part of the replay contract. */

import type { ActionError } from './action-status.js';
import { automaticRetrySeconds } from './backoff.js';
import { wasTried } from './outcome.js';

/** A longer wait uses several timers of this length, because an outage of the workers is noticed only if a timer fires late. */
const longestWaitMs = 6 * 3600 * 1000;

/** If workers are only busy, a timer is late by less than this time. */
const busyMs = 60_000;

/** Whether the relay itself tries a held action again. */
export function isTriedAgain(failure: ActionError, onUnknown: 'hold' | 'resend'): boolean {
  const isLeft = failure.unknown && onUnknown === 'hold';
  return (failure.retryable || !wasTried(failure)) && !isLeft;
}

/** If a person's retry fails, a new hold begins. If the relay's own try fails, the hold goes on. Times are Unix milliseconds. */
export class Hold {
  /** The end of the attention window. */
  until: number;
  /** Whether the relay itself tries the action again. Undefined before people get the first notice. */
  goesOn?: boolean;
  /** The number of the relay's own tries. */
  tries = 0;
  /** How long no worker ran during the window, in milliseconds. */
  #away = 0;

  constructor(
    readonly since: number,
    private readonly windowSeconds: number,
  ) {
    this.until = since + windowSeconds * 1000;
  }

  /** @returns `wait`: milliseconds until the relay tries again, or checks the window again. */
  next(now: number, failure: ActionError, isAutomatic: boolean): { tries: boolean; wait: number } {
    const wait = Math.max(automaticRetrySeconds(this.tries + 1), failure.retryAfterSeconds ?? 0) * 1000;
    const left = Math.max(0, this.until - now);
    const tries = isAutomatic && wait < left;
    return { tries, wait: tries ? wait : Math.min(left, longestWaitMs) };
  }

  /** Extends the window, because time without workers does not count. @param milliseconds - how late a timer was. */
  late(milliseconds: number): void {
    if (milliseconds < busyMs) return;
    this.#away += milliseconds;
    this.until += milliseconds;
  }

  /** Extends the window, because pauses do not count. @param earliest - the window does not end before this time. */
  paused(seconds: number, earliest = 0): void {
    this.until = Math.max(this.since + this.#away + (this.windowSeconds + seconds) * 1000, earliest);
  }
}
