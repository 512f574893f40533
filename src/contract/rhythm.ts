/** The intervals of polling. The intervals are short after a change, and grow while nothing changes or requests fail. */

export interface Rhythm {
  shortestMs: number;
  longestMs: number; // the interval after many requests without a change
}

export type Heard = { changed: boolean; failed?: boolean; retryAfterSeconds?: number };

const longestTroubleMs = 60_000;

/** @param lastMs - the pause before the last request. */
export function nextPauseMs({ shortestMs, longestMs }: Rhythm, lastMs: number, { changed, failed, retryAfterSeconds }: Heard) {
  if (retryAfterSeconds !== undefined) return Math.max(shortestMs, retryAfterSeconds * 1000);
  if (failed) return Math.min(Math.max(lastMs, shortestMs) * 2, Math.max(longestTroubleMs, longestMs));
  return changed ? shortestMs : Math.min(Math.max(lastMs, shortestMs) * 1.3, longestMs);
}
