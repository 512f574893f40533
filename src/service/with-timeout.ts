/** A time limit for work that takes none of its own, such as a query of the database. */

import { setTimeout } from 'node:timers/promises';

/** @throws Error with this message where the work is not done in time. The work goes on, and nobody hears of its end. */
export async function withTimeout<Value>(milliseconds: number, work: Promise<Value>, message: string): Promise<Value> {
  const done = new AbortController();
  const late = setTimeout(milliseconds, undefined, { signal: done.signal }).then(() => {
    throw new Error(message);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => {});
    done.abort();
  }
}
