/** Waiting for the end of a pause: it costs no attempt and no budget, and no attention window runs out meanwhile. */

import { condition, isCancellation, log } from '@temporalio/workflow';
import type { ChainAction } from '../chain/chain.js';
import type { Connector } from '../chain/connector.js';
import { type Pauses, pauseOf, pauseText } from '../chain/pause.js';
import { shownTime, summaryOf } from '../chain/summary.js';
import { look } from './look.js';
import type { Floor } from './sequence.js';

/** Seconds between two looks at a pause whose end nobody tells of: 30 at first, ever more, at most these. */
const longestLook = 600;

/** Waits until the connector is paused no longer. */
export async function waitOut(action: ChainAction, floor: Floor, connector: Connector): Promise<void> {
  const { board } = floor;
  const since = new Date().toISOString();
  for (let seconds = 30; ; seconds = Math.min(2 * seconds, longestLook)) {
    const resumes = floor.resumes;
    const { current } = await readPauses(floor, since, { relayId: action.relayId, connector });
    const pause = pauseOf(current, connector);
    if (!pause) break;
    const left = pause.until === undefined ? longestLook : Math.max(1, (Date.parse(pause.until) - Date.now()) / 1000);
    const wait = Math.min(seconds, left) * 1000;
    const nextAttemptAt = new Date(Date.now() + wait).toISOString();
    board.update(action.index, { state: 'pending', pausedSince: since, reason: pauseText(pause), nextAttemptAt });
    await condition(() => floor.resumes > resumes, wait, {
      summary: summaryOf([action], `${connector} paused, looks again at ${shownTime(nextAttemptAt)}`),
    });
  }
  board.update(action.index, { pausedSince: undefined, reason: undefined, nextAttemptAt: undefined });
}

/** An attention window since a time, in Unix milliseconds, ends when it would without the time that was paused, and not during a pause. */
export async function windowEnd(floor: Floor, since: number): Promise<number> {
  const { current, seconds } = await readPauses(floor, new Date(since).toISOString());
  const end = since + (floor.chain.attentionWindowSeconds + seconds) * 1000;
  return current.length > 0 ? Math.max(end, Date.now() + longestLook * 1000) : end;
}

/** Where nobody can say, what waits rather goes on waiting. */
async function readPauses(floor: Floor, since: string, waiting?: { relayId: string; connector: Connector }): Promise<Pauses> {
  const { readPauses } = look(floor, waiting ? `is the ${waiting.connector} still paused?` : 'how long was the company paused?');
  try {
    return await readPauses({ companyId: floor.chain.companyId, since, ...(waiting && { waiting }) });
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('whether the company is paused could not be read', { error });
    return { current: [{ what: 'all', since, reason: 'the relay cannot read whether this has ended' }], seconds: 0 };
  }
}
