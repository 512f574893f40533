/** Fetches the assignment and tests the condition here, so that Temporal's history does not contain the assignment. */

import { activityInfo } from '@temporalio/activity';
import { evaluateCondition, pathText } from '../chain/condition.js';
import type { Activities } from '../contract/activities.js';
import { ruleNotices } from '../notices/start.js';
import { assertNotPaused, callTimeoutMs, type Deps, readActionContext } from './effect.js';
import { effectFailure, mistake } from './failure.js';
import { assertFirstAttempt } from './local-try.js';
import { stopwatch } from './stopwatch.js';

export function checkCondition(deps: Deps): Activities['checkCondition'] {
  const { connectors, client, inFlight, log } = deps;
  const notices = ruleNotices(client, log);
  return async (input) => {
    const elapsed = stopwatch();
    const { companyId, relayId, chainId, index, assignmentId, condition } = input;
    const outdated = 'this version of the relay cannot evaluate the condition: update its workers, then retry';
    if (condition.opaque !== undefined) throw mistake('ConfigurationMistake', outdated);
    await assertFirstAttempt(deps, input);
    const context = await readActionContext(deps, input);
    if ('skipped' in context) return { holds: false, reason: context.skipped, missing: false, tookMs: elapsed() };
    assertNotPaused(context.pauses, 'platform', context.company);
    try {
      const platform = connectors.platformOf(context.company);
      const look = () => platform.getAssignment(assignmentId, { timeoutMs: callTimeoutMs() });
      const assignment = await inFlight.run(companyId, 'platform', look);
      const verdict = evaluateCondition(condition, assignment);
      if (verdict.missing) {
        // The property is probably misspelt, so people get a notice. The action does not wait for the notice.
        const about = { companyId, relayId, chainId, index, assignmentId, path: pathText(condition.path) };
        notices.start({ kind: 'missing-property', ...about, at: new Date().toISOString() }, activityInfo().taskQueue);
      }
      return { ...verdict, tookMs: elapsed() };
    } catch (error) {
      throw effectFailure('platform', error, input);
    }
  };
}
