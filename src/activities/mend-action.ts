/** Validates an edited action with the schemas of the request. This is an activity, because workflows lack these schemas. */

import type { ChainAction } from '../chain/chain.js';
import { mendAction as mended } from '../chain/mend.js';
import type { Activities } from '../contract/activities.js';
import { stopwatch } from './stopwatch.js';

export const mendAction: Activities['mendAction'] = async ({ action, changes }) => {
  const elapsed = stopwatch();
  const read = mended(action, changes);
  if (!read.ok) return { problems: read.problems, tookMs: elapsed() };
  const before: Partial<Record<string, unknown>> = { ...action };
  const given = Object.entries(read.action).filter(([, value]) => value !== undefined);
  const isSame = ([name, value]: [string, unknown]) => JSON.stringify(value) === JSON.stringify(before[name]);
  const changed: Partial<ChainAction> = Object.fromEntries(given.filter((entry) => !isSame(entry)));
  return { mended: changed, same: given.filter(isSame).map(([name]) => name), tookMs: elapsed() };
};
