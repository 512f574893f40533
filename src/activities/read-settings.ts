/** What a workflow asks of the settings while an action waits. */

import { activityInfo } from '@temporalio/activity';
import { pausedSeconds, pauseOf } from '../chain/pause.js';
import type { Activities } from '../contract/activities.js';
import { RuleNotices } from '../notices/rule-notices.js';
import type { Deps } from './deps.js';
import { skipReason } from './effect.js';

/** What a rule says now about failures and unknown outcomes. */
export function readPolicy({ store }: Deps): Activities['readPolicy'] {
  return async ({ companyId, relayId }) => {
    const rule = await store.rules.get(companyId, relayId);
    return {
      onFailure: rule?.onFailure ?? 'hold',
      onUnknown: rule?.onUnknown ?? 'hold',
      skips: rule?.enabled ? undefined : skipReason(rule, relayId),
    };
  };
}

/** The pauses of a company: one waits for their end, or leaves them out of the attention window. */
export function readPauses({ store, client, log }: Pick<Deps, 'store' | 'client' | 'log'>): Activities['readPauses'] {
  const notices = new RuleNotices(client, log);
  return async ({ companyId, since, waiting }) => {
    const [current, all] = await Promise.all([store.pauses.current(companyId), store.pauses.since(companyId, new Date(since))]);
    const pause = waiting && pauseOf(current, waiting.connector);
    if (pause) {
      const { since: at, ...facts } = pause;
      notices.start({ kind: 'paused', companyId, relayId: waiting.relayId, at, ...facts }, activityInfo().taskQueue);
    }
    return { current, seconds: pausedSeconds(all, Date.parse(since), Date.now()) };
  };
}
