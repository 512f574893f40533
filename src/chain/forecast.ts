/** What would become of each action of a chain if its time had come, for a dry run; decided in the order of the workflows. */

import { type ChainAction, delayOf } from './chain.js';

export const forecastOutcomes = [
  'runs', // its effect would be attempted
  'skipped', // its condition does not hold, or its rule is disabled or gone
  'needs-attention', // it could not be done, and would be held until somebody decides
  'failed', // the same under a rule with onFailure: "continue"
  'held', // an action before it in its sequence would need attention first
  'unknown', // the platform did not answer; when the action runs it is asked again
] as const;

export interface Forecast {
  outcome: (typeof forecastOutcomes)[number];
  /** Why it would not run, in words. */
  reason?: string;
}

/** What is known of an action beside itself. */
export interface Facts {
  /** Undefined: there is no such rule any more. */
  rule: { enabled: boolean; onFailure: 'hold' | 'continue' } | undefined;
  /** What its condition comes to now; undefined: it has none. */
  condition?: { holds: boolean; reason?: string } | { error: string; retryable: boolean };
  /** Why its effect could not even be attempted. */
  obstacle?: string;
}

/** @param facts - one for each action, in the same order. */
export function forecastChain(actions: readonly ChainAction[], facts: readonly Facts[]): Forecast[] {
  const holding = new Map<number, number>(); // By delay, the index of the action that holds the rest of its sequence.
  return actions.map((action, place) => {
    const before = holding.get(delayOf(action));
    if (before !== undefined) return { outcome: 'held', reason: `action ${before} before it needs attention` };
    const forecast = forecastOf(action, facts[place] ?? { rule: undefined });
    if (forecast.outcome === 'needs-attention') holding.set(delayOf(action), action.index);
    return forecast;
  });
}

/** Of one action alone. */
export function forecastOf(action: ChainAction, { rule, condition, obstacle }: Facts): Forecast {
  if (!rule?.enabled) return { outcome: 'skipped', reason: `rule ${action.relayId} is ${rule ? 'disabled' : 'gone'}` };
  const cannotBeDone = rule.onFailure === 'continue' ? 'failed' : 'needs-attention';
  if (action.cannotSchedule !== undefined) return { outcome: cannotBeDone, reason: action.cannotSchedule };
  if (condition && 'error' in condition)
    return { outcome: condition.retryable ? 'unknown' : cannotBeDone, reason: condition.error };
  if (condition && !condition.holds) return { outcome: 'skipped', reason: condition.reason ?? 'its condition does not hold' };
  const reason = action.invalidData ?? obstacle;
  return reason === undefined ? { outcome: 'runs' } : { outcome: cannotBeDone, reason };
}
