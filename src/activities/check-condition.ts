/** Tests a condition and reads late values in one activity, so that the history does not contain the whole assignment. */

import { activityInfo } from '@temporalio/activity';
import { type Opaque, pathText } from '../chain/condition.js';
import type { Activities, ConditionInput } from '../contract/activities.js';
import type { Company } from '../contract/company.js';
import { ruleNotices } from '../notices/start.js';
import { asksAssignment, evaluateParts, partsOf } from '../rules/opaque.js';
import { assertNotPaused, callTimeoutMs, type Deps, readActionContext } from './effect.js';
import { effectFailure, mistake } from './failure.js';
import { readLate, valuesBeforeReset } from './late.js';
import { assertFirstAttempt } from './local-try.js';
import { stopwatch } from './stopwatch.js';

export function checkCondition(deps: Deps): Activities['checkCondition'] {
  const { client, log } = deps;
  const notices = ruleNotices(client, log);
  return async (input) => {
    const elapsed = stopwatch();
    const { companyId, relayId, chainId, index, assignmentId, condition, incomingValue } = input;
    const parts = partsOf(condition);
    const old = { title: 'The relay is too old for this condition', remedy: 'Ask the operator to update the relay, then retry' };
    if (!isKnown(parts)) throw mistake('ConfigurationMistake', old.title, old);
    await assertFirstAttempt(deps, input);
    const context = await readActionContext(deps, input);
    if ('skipped' in context) return { holds: false, reason: context.skipped, missing: false, tookMs: elapsed() };
    const { company, pauses } = context;
    const before = input.late && (await valuesBeforeReset(deps, input, input.late));
    const asked = before ? undefined : input.late;
    const isNeeded = asked !== undefined || asksAssignment(parts);
    if (isNeeded) assertNotPaused(pauses, 'platform', company);
    const assignment = isNeeded ? await assignmentOf(company, input) : undefined;
    const seen = evaluateParts(parts, { assignment, incomingValue, now: new Date() });
    if (!seen.ok) throw mistake('DataMistake', seen.error);
    const { verdict } = seen;
    if (verdict.missing) {
      // The property is probably misspelt, so people get a notice. The action does not wait for the notice.
      const about = { companyId, relayId, chainId, index, assignmentId, path: pathText((parts.condition ?? condition).path) };
      notices.start({ kind: 'missing-property', ...about, at: new Date().toISOString() }, activityInfo().taskQueue);
    }
    const late = before ?? (verdict.holds && asked ? await readLate(deps, company, asked, assignment) : undefined);
    return { ...verdict, ...(late && { late }), tookMs: elapsed() };
  };

  async function assignmentOf(company: Company, input: ConditionInput): Promise<Record<string, unknown>> {
    const { assignmentId } = input;
    if (assignmentId === '') throw mistake('DataMistake', 'platformAssignmentId is blank, but the step needs an assignment');
    try {
      const platform = deps.connectors.platformOf(company);
      const look = () => platform.getAssignment(assignmentId, { timeoutMs: callTimeoutMs() });
      return await deps.inFlight.run(company.companyId, 'platform', look);
    } catch (error) {
      throw effectFailure('platform', error, input);
    }
  }
}

/** Whether this version knows all parts. A newer version of the relay may have more parts. */
const isKnown = (parts: Opaque) => Object.keys(parts).every((part) => ['condition', 'if', 'late'].includes(part));
