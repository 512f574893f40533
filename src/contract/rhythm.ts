/** How often is asked again what may have changed: soon while it does, seldom where it does not or the API is in trouble. */

export interface Rhythm {
  /** After a change. */
  shortestMs: number;
  /** Where nothing has changed for a while. */
  longestMs: number;
}

/** What the last question came to. */
export interface Heard {
  changed: boolean;
  failed?: boolean;
  retryAfterSeconds?: number;
}

const longestTroubleMs = 60_000;

/** The pause before the next question. @param lastMs - the pause before this one. */
export function nextPauseMs({ shortestMs, longestMs }: Rhythm, lastMs: number, { changed, failed, retryAfterSeconds }: Heard) {
  if (retryAfterSeconds !== undefined) return Math.max(shortestMs, retryAfterSeconds * 1000);
  if (failed) return Math.min(Math.max(lastMs, shortestMs) * 2, Math.max(longestTroubleMs, longestMs));
  return changed ? shortestMs : Math.min(Math.max(lastMs, shortestMs) * 1.3, longestMs);
}
