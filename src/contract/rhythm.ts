/** Polling intervals: short after changes; longer without changes, or if the API has trouble. */

export interface Rhythm {
  shortestMs: number;
  longestMs: number; // the interval after a while without changes
}

export interface Heard {
  changed: boolean;
  failed?: boolean;
  retryAfterSeconds?: number;
}

const longestTroubleMs = 60_000;

/** @param lastMs - the pause before the last request. */
export function nextPauseMs({ shortestMs, longestMs }: Rhythm, lastMs: number, { changed, failed, retryAfterSeconds }: Heard) {
  if (retryAfterSeconds !== undefined) return Math.max(shortestMs, retryAfterSeconds * 1000);
  if (failed) return Math.min(Math.max(lastMs, shortestMs) * 2, Math.max(longestTroubleMs, longestMs));
  return changed ? shortestMs : Math.min(Math.max(lastMs, shortestMs) * 1.3, longestMs);
}
