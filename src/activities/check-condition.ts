/** Asks the platform for the assignment and evaluates the condition on it, so that no whole assignment enters a history. */

import { evaluateCondition } from '../chain/condition.js';
import type { Activities } from './activities.js';
import type { Deps } from './deps.js';
import { effectFailure, mistake } from './failure.js';
import { callTimeout } from './setting.js';

export function checkCondition({ store, connectors }: Deps): Activities['checkCondition'] {
  return async (input) => {
    const company = await store.companies.get(input.companyId);
    if (!company)
      throw mistake('ConfigurationMistake', `there is no company ${input.companyId} any more: make it again, then retry`);
    try {
      const assignment = await connectors.platformOf(company).getAssignment(input.assignmentId, { timeoutMs: callTimeout() });
      return evaluateCondition(input.condition, assignment);
    } catch (error) {
      throw effectFailure('PlatformError', error, input);
    }
  };
}
