/** Asks the platform for the assignment and evaluates the condition on it, so that no whole assignment enters a history. */

import { activityInfo } from '@temporalio/activity';
import { evaluateCondition, pathText } from '../chain/condition.js';
import type { Activities } from '../contract/activities.js';
import { RuleNotices } from '../notices/rule-notices.js';
import type { Deps } from './deps.js';
import { assertNotPaused, callTimeoutMs, readActionContext } from './effect.js';
import { effectFailure } from './failure.js';

export function checkCondition(deps: Deps): Activities['checkCondition'] {
  const { connectors, client, inFlight, log } = deps;
  const notices = new RuleNotices(client, log);
  return async (input) => {
    const begun = Date.now();
    const context = await readActionContext(deps, input);
    if ('skipped' in context) return { holds: false, reason: context.skipped, missing: false, tookMs: Date.now() - begun };
    assertNotPaused(context.pauses, 'platform');
    try {
      const platform = connectors.platformOf(context.company);
      const assignment = await inFlight.run(input.companyId, 'platform', () =>
        platform.getAssignment(input.assignmentId, { timeoutMs: callTimeoutMs() }),
      );
      const verdict = evaluateCondition(input.condition, assignment);
      if (verdict.missing) warnOfMissing(notices, input);
      return { ...verdict, tookMs: Date.now() - begun };
    } catch (error) {
      throw effectFailure('platform', error, input);
    }
  };
}

/** A misspelt property would otherwise make the action `skipped` in silence. Nothing waits for the notice or fails with it. */
function warnOfMissing(notices: RuleNotices, input: Parameters<Activities['checkCondition']>[0]): void {
  const { companyId, relayId, chainId, index, assignmentId } = input;
  const { taskQueue } = activityInfo();
  const path = pathText(input.condition.path);
  notices.start(
    { kind: 'missing-property', companyId, relayId, chainId, index, assignmentId, path, at: new Date().toISOString() },
    taskQueue,
  );
}
