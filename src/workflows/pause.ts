/** Waiting where nothing was tried, which costs no attempt: for the end of a pause, or for a while for the relay's own reasons. */

import { type Connector, type Pauses, pauseOf, pauseText } from '../chain/pause.js';
import { shownTime } from '../chain/web-ui.js';
import type { ActionRun } from './action-run.js';

/** Seconds between two looks at a pause, which somebody may end without telling the workflow: 30 at first, doubled up to this. */
const longestLook = 600;

/** Waits 1 second, 2, 4, … 120 by the number of waits in a row, and up to as many more, so that not all come at once. */
export async function waitAWhile(run: ActionRun, reason: string, waits: number): Promise<void> {
  const wait = Math.round(Math.min(2 ** (waits - 1), 120) * 1000 * (1 + Math.random()));
  const nextAttemptAt = run.lock.time(wait);
  run.update({ state: 'pending', reason, nextAttemptAt });
  await run.wait(wait, `not tried, tries again at ${shownTime(nextAttemptAt)}`);
}

/** Waits until the connector is paused no longer; no attention window runs out meanwhile. */
export async function waitForPauseEnd(run: ActionRun, connector: Connector): Promise<void> {
  const since = run.lock.time();
  for (let seconds = 30; ; seconds = Math.min(2 * seconds, longestLook)) {
    const { current } = await readPauses(run, since, connector);
    const pause = pauseOf(current, connector);
    if (!pause) break;
    const left = pause.until === undefined ? longestLook : Math.max(1, (Date.parse(pause.until) - run.lock.now) / 1000);
    const wait = Math.min(seconds, left) * 1000;
    const nextAttemptAt = run.lock.time(wait);
    run.update({ state: 'pending', pausedSince: since, reason: pauseText(pause), nextAttemptAt });
    run.waitsForPause = true;
    await run.wait(wait, `${connector} paused, looks again at ${shownTime(nextAttemptAt)}`);
    run.waitsForPause = false;
  }
  run.update({ pausedSince: undefined, reason: undefined, nextAttemptAt: undefined });
}

/** @returns when an attention window ends, in Unix milliseconds: later by the time that was paused, and not during a pause. */
export async function windowEnd(run: ActionRun, since: number): Promise<number> {
  const { current, seconds } = await readPauses(run, new Date(since).toISOString());
  const end = since + (run.chain.attentionWindowSeconds + seconds) * 1000;
  return current.length > 0 ? Math.max(end, run.lock.now + longestLook * 1000) : end;
}

/** Where nobody can say, what waits rather goes on waiting. */
function readPauses(run: ActionRun, since: string, connector?: Connector): Promise<Pauses> {
  const { companyId, relayId } = run.ref;
  const waiting = connector && { relayId, connector };
  const unknown = { what: 'all', since, reason: 'the relay cannot read whether this has ended' } as const;
  return run.ask(
    connector ? `is the ${connector} still paused?` : 'how long was the company paused?',
    (activities) => activities.readPauses({ companyId, since, waiting }),
    { current: [unknown], seconds: 0 },
  );
}
