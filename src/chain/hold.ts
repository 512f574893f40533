/** The attention window of a held action, and the relay's own tries in it. Part of the replay contract. */

import type { ActionError } from './action-status.js';
import { automaticRetrySeconds } from './backoff.js';
import { wasTried } from './outcome.js';

/** The longest timer: a timer that fires late shows that no worker ran. */
const longestWaitMs = 6 * 3600 * 1000;

/** A timer of busy workers is late by less than this. */
const busyMs = 60_000;

/** Whether the relay tries a held action by itself. */
export function isTriedAgain(failure: ActionError, onUnknown: 'hold' | 'resend'): boolean {
  const isLeft = failure.unknown && onUnknown === 'hold';
  return (failure.retryable || !wasTried(failure)) && !isLeft;
}

/** A person's failed retry begins a new hold; the relay's own try does not. Times are Unix milliseconds. */
export class Hold {
  /** The end of the attention window. */
  until: number;
  /** Whether people were told that the relay goes on trying; undefined: they were told nothing yet. */
  goesOn?: boolean;
  /** The relay's own tries. */
  tries = 0;
  /** Milliseconds of the window in which no worker ran. */
  #away = 0;

  constructor(
    readonly since: number,
    private readonly windowSeconds: number,
  ) {
    this.until = since + windowSeconds * 1000;
  }

  /** @returns `wait`: milliseconds until the relay tries again, or looks at the window again. */
  next(now: number, failure: ActionError, isAutomatic: boolean): { tries: boolean; wait: number } {
    const wait = Math.max(automaticRetrySeconds(this.tries + 1), failure.retryAfterSeconds ?? 0) * 1000;
    const left = Math.max(0, this.until - now);
    const tries = isAutomatic && wait < left;
    return { tries, wait: tries ? wait : Math.min(left, longestWaitMs) };
  }

  /** Time without workers does not count. @param milliseconds - by which a timer was late. */
  late(milliseconds: number): void {
    if (milliseconds < busyMs) return;
    this.#away += milliseconds;
    this.until += milliseconds;
  }

  /** Time of pauses does not count. @param earliest - a pause lasts until then. */
  paused(seconds: number, earliest = 0): void {
    this.until = Math.max(this.since + this.#away + (this.windowSeconds + seconds) * 1000, earliest);
  }
}
