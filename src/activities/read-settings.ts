/** What a workflow asks of the settings while an action waits. */

import { activityInfo } from '@temporalio/activity';
import { isOn, pausedSeconds, pauseOf } from '../chain/pause.js';
import type { Activities } from '../contract/activities.js';
import { ruleNotices } from '../notices/start.js';
import { type Deps, skipReason } from './effect.js';

export function readPolicy({ store }: Deps): Activities['readPolicy'] {
  return async ({ companyId, relayId }) => {
    const rule = await store.rules.get(companyId, relayId);
    return {
      onFailure: rule?.onFailure ?? 'hold',
      onUnknown: rule?.onUnknown ?? 'hold',
      skips: await skipReason(store, { companyId, relayId }, rule),
    };
  };
}

/** The pauses of a company: one waits for their end, or leaves them out of the attention window. */
export function readPauses({ store, client, log }: Deps): Activities['readPauses'] {
  const notices = ruleNotices(client, log);
  return async ({ companyId, since, waiting }) => {
    const all = await store.pauses.since(companyId, since);
    const current = all.filter((pause) => isOn(pause, Date.now()));
    const pause = waiting && pauseOf(current, waiting.connector);
    if (pause) {
      const { since: at, ...facts } = pause;
      notices.start({ kind: 'paused', companyId, relayId: waiting.relayId, at, ...facts }, activityInfo().taskQueue);
    }
    return { current, seconds: pausedSeconds(all, Date.parse(since), Date.now()) };
  };
}
