/** An action waits while its outside system is paused. After the pause, the time between delayed actions stays the same. */

import type { Later } from '../../chain/attempt.js';
import { dueAgain } from '../../chain/chain.js';
import { type Connector, type EndedPause, longestLook, type Pause, type Pauses, pauseOf, pauseText } from '../../chain/pause.js';
import { shownTime } from '../../chain/web-ui.js';
import type { Act } from './act.js';

/** Waits for the end of the pause. @returns the new due time, if the action must wait even longer. */
export async function pauseEnd(act: Act, connector: Connector): Promise<Later | undefined> {
  const { engine, states } = act;
  const since = engine.time();
  let first: Pause | undefined;
  for (let seconds = 30; ; seconds = Math.min(2 * seconds, longestLook(states.hasRoomForOwn))) {
    const { current, ended } = await readPauses(act, since, connector);
    const pause = pauseOf(current, connector);
    if (!pause) return goOn(act, first && { ...first, until: ended ?? engine.time() });
    first ??= pause;
    const longest = longestLook(states.hasRoomForOwn);
    const left = pause.until === undefined ? longest : Math.max(1, (Date.parse(pause.until) - engine.now) / 1000);
    const wait = Math.min(seconds, left) * 1000;
    const nextAttemptAt = engine.time(wait);
    act.update({ state: 'pending', pausedSince: since, reason: pauseText(pause), nextAttemptAt });
    act.waitsForPause = true;
    await act.wait(wait, `${connector} paused, next check at ${shownTime(nextAttemptAt)}`);
    act.waitsForPause = false;
  }
}

function goOn(act: Act, pause: EndedPause | undefined): Later | undefined {
  const { chain, action, engine, status, overdueNow } = act;
  act.overdueNow = false;
  act.update({ pausedSince: undefined, reason: undefined, nextAttemptAt: undefined });
  const dueAt = pause && !overdueNow ? dueAgain(chain, action, status, pause) : 0;
  return dueAt > engine.now ? { dueAt, alone: false } : undefined;
}

/** If the pauses cannot be read, everything counts as still paused. */
export function readPauses(act: Act, since: string, connector?: Connector): Promise<Pauses> {
  const { companyId, relayId } = act.ref;
  const waiting = connector && { relayId, connector };
  const unknown = { what: 'all', since, reason: 'the relay cannot read whether the pause has ended' } as const;
  const asks = connector ? `is the ${connector} still paused?` : 'how long was the company paused?';
  return act.ask(asks, (activities) => activities.readPauses({ companyId, since, waiting }), { current: [unknown], seconds: 0 });
}
