/** Asks the platform for the assignment and evaluates the condition on it, so that no whole assignment enters a history. */

import { activityInfo } from '@temporalio/activity';
import { evaluateCondition, pathText } from '../chain/condition.js';
import type { Activities } from '../contract/activities.js';
import { Notices } from '../notices/rule-notices.js';
import { assertNotPaused, callTimeout, readStoredContext } from './action-context.js';
import type { Deps } from './deps.js';
import { effectFailure } from './failure.js';

export function checkCondition(deps: Deps): Activities['checkCondition'] {
  const { connectors, client, log } = deps;
  const notices = new Notices(client, log);
  return async (input) => {
    const setting = await readStoredContext(deps, input);
    if ('skipped' in setting) return { holds: false, reason: setting.skipped, missing: false };
    assertNotPaused(setting.pauses, 'platform');
    try {
      const assignment = await connectors
        .platformOf(setting.company)
        .getAssignment(input.assignmentId, { timeoutMs: callTimeout() });
      const verdict = evaluateCondition(input.condition, assignment);
      if (verdict.missing) warnOfMissing(notices, input);
      return verdict;
    } catch (error) {
      throw effectFailure('PlatformError', error, input);
    }
  };
}

/** A misspelt property would otherwise make the action `skipped` in silence. Nothing waits for the notice or fails with it. */
function warnOfMissing(notices: Notices, input: Parameters<Activities['checkCondition']>[0]): void {
  const { companyId, relayId, chainId, index, assignmentId } = input;
  const { taskQueue } = activityInfo();
  const path = pathText(input.condition.path);
  notices.start(
    { kind: 'missing-property', companyId, relayId, chainId, index, assignmentId, path, at: new Date().toISOString() },
    taskQueue,
  );
}
