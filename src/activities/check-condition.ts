/** Asks the platform for the assignment and evaluates the condition on it, so that no whole assignment enters a history. */

import { activityInfo } from '@temporalio/activity';
import { evaluateCondition, pathText } from '../chain/condition.js';
import type { Activities } from '../contract/activities.js';
import { ruleNotices } from '../notices/start.js';
import { assertNotPaused, callTimeoutMs, type Deps, readActionContext } from './effect.js';
import { effectFailure } from './failure.js';
import { stopwatch } from './stopwatch.js';

export function checkCondition(deps: Deps): Activities['checkCondition'] {
  const { connectors, client, inFlight, log } = deps;
  const notices = ruleNotices(client, log);
  return async (input) => {
    const elapsed = stopwatch();
    const { companyId, relayId, chainId, index, assignmentId, condition } = input;
    const context = await readActionContext(deps, input);
    if ('skipped' in context) return { holds: false, reason: context.skipped, missing: false, tookMs: elapsed() };
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
      return { ...verdict, tookMs: elapsed() };
    } catch (error) {
      throw effectFailure('platform', error, input);
    }
  };
}
