/** What a workflow asks before an effect, and while an action waits: conditions, policies, pauses. */

import { activityInfo } from '@temporalio/activity';
import { evaluateCondition, pathText } from '../chain/condition.js';
import { isOn, pausedSeconds, pauseOf } from '../chain/pause.js';
import type { Activities } from '../contract/activities.js';
import { ruleNotices } from '../notices/start.js';
import { assertNotPaused, callTimeoutMs, type Deps, readActionContext, skipReason } from './effect.js';
import { effectFailure } from './failure.js';

/** Asks the platform for the assignment and evaluates the condition on it, so that no whole assignment enters a history. */
export function checkCondition(deps: Deps): Activities['checkCondition'] {
  const { connectors, client, inFlight, log } = deps;
  const notices = ruleNotices(client, log);
  return async (input) => {
    const begun = Date.now();
    const { companyId, relayId, chainId, index, assignmentId, condition } = input;
    const context = await readActionContext(deps, input);
    if ('skipped' in context) return { holds: false, reason: context.skipped, missing: false, tookMs: Date.now() - begun };
    assertNotPaused(context.pauses, 'platform');
    try {
      const platform = connectors.platformOf(context.company);
      const assignment = await inFlight.run(companyId, 'platform', () =>
        platform.getAssignment(assignmentId, { timeoutMs: callTimeoutMs() }),
      );
      const verdict = evaluateCondition(condition, assignment);
      if (verdict.missing) {
        // A misspelt property would make the action `skipped` in silence. Nothing waits for the notice or fails with it.
        const about = { companyId, relayId, chainId, index, assignmentId, path: pathText(condition.path) };
        notices.start({ kind: 'missing-property', ...about, at: new Date().toISOString() }, activityInfo().taskQueue);
      }
      return { ...verdict, tookMs: Date.now() - begun };
    } catch (error) {
      throw effectFailure('platform', error, input);
    }
  };
}

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
