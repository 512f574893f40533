/** Reads the settings that a workflow needs while an action waits. */

import { activityInfo } from '@temporalio/activity';
import { isOn, pausedSeconds, pauseOf, pauseText } from '../chain/pause.js';
import { timesIn } from '../chain/timestamp/local.js';
import type { Activities } from '../contract/activities.js';
import { ruleNotices } from '../notices/start.js';
import { type Deps, skipReason } from './effect.js';
import { stopwatch } from './stopwatch.js';

export function readPolicy({ store }: Deps): Activities['readPolicy'] {
  return async ({ companyId, relayId }) => {
    const elapsed = stopwatch();
    const rule = await store.rules.get(companyId, relayId);
    return {
      onFailure: rule?.onFailure ?? 'hold',
      onUnknown: rule?.onUnknown ?? 'hold',
      skips: await skipReason(store, { companyId, relayId }, rule),
      tookMs: elapsed(),
    };
  };
}

/** Reads a company's pauses, so that a workflow can wait for their end, and can leave paused time out of attention windows. */
export function readPauses({ store, client, log }: Deps): Activities['readPauses'] {
  const notices = ruleNotices(client, log);
  return async ({ companyId, since, waiting }) => {
    const elapsed = stopwatch();
    const all = await store.pauses.since(companyId, since);
    const current = all.filter((pause) => isOn(pause, Date.now()));
    const over = all.filter((pause) => !isOn(pause, Date.now()));
    const ended = waiting && pauseOf(over, waiting.connector)?.until;
    const pause = waiting && pauseOf(current, waiting.connector);
    if (pause) {
      const { since: at, ...facts } = pause;
      notices.start({ kind: 'paused', companyId, relayId: waiting.relayId, at, ...facts }, activityInfo().taskQueue);
    }
    const timeZone = current.length > 0 ? (await store.companies.get(companyId))?.timeZone : undefined;
    const told = current.map((pause) => ({ ...pause, text: pauseText(pause, timesIn(timeZone ?? 'UTC')) }));
    return { current: told, ended, seconds: pausedSeconds(all, Date.parse(since), Date.now()), tookMs: elapsed() };
  };
}
