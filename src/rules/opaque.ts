/** Evaluates the conditions of an action: `actionCondition` and `if`. */

import type { ChainAction } from '../chain/chain.js';
import { asksIncomingValue, type Condition, evaluateCondition, type Opaque, type Verdict } from '../chain/condition.js';
import type { Fields } from '../chain/fields.js';
import { cutShort, type Parsed } from '../chain/text.js';
import { evaluateExpression, parseExpression } from './expression.js';

type Values = { assignment: Fields | undefined; incomingValue?: string | undefined; now: Date };

/** The parts of a condition. The condition of an action from a list has only one part. */
export const partsOf = (condition: Condition): Opaque => condition.opaque ?? { condition };

/** Whether the evaluation needs the assignment. */
export function asksAssignment({ condition, if: expression }: Opaque): boolean {
  if (condition && !asksIncomingValue(condition)) return true;
  const parsed = expression && parseExpression(expression.text);
  return parsed?.ok === true && parsed.expression.names.has('assignment');
}

/** Stops at the first part that does not hold. @returns an error if the expression cannot be evaluated with this data. */
export function evaluateParts({ condition, if: expression }: Opaque, values: Values): Parsed<{ verdict: Verdict }> {
  const subject = condition && asksIncomingValue(condition) ? values : values.assignment;
  const verdict = condition ? evaluateCondition(condition, subject) : { holds: true, reason: '', missing: false };
  if (!verdict.holds || !expression) return { ok: true, verdict };
  const seen = evaluateExpression(expression.text, { ...values, event: expression.event });
  if (!seen.ok) return { ok: false, error: `the condition "if" cannot be checked: ${cutShort(seen.error, 500)}` };
  const reason = [verdict.reason, seen.reason].filter(Boolean).join('; ');
  return { ok: true, verdict: { ...verdict, holds: seen.holds, reason } };
}

/** The result of the action's condition for a forecast. */
export function forecastCondition({ condition, incomingValue }: Partial<ChainAction>, assignment: Fields | undefined, now: Date) {
  const seen = condition && evaluateParts(partsOf(condition), { assignment, incomingValue, now });
  if (!seen) return undefined;
  return seen.ok ? { holds: seen.verdict.holds, reason: seen.verdict.reason } : { error: seen.error, retryable: false };
}
