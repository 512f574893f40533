/** What would become of each action of a chain if its time had come, for a dry run; decided in the order of the workflows. */

import { type ChainAction, planChain } from './chain.js';

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
  const forecasts = new Map(
    actions.map((action, place) => [action.index, forecast(action, facts[place] ?? { rule: undefined })]),
  );
  const { immediate, delayed } = planChain(actions);
  for (const sequence of [immediate, ...delayed]) {
    const holding = sequence.findIndex(({ index }) => forecasts.get(index)?.outcome === 'needs-attention');
    if (holding < 0) continue;
    const reason = `action ${sequence[holding]?.index} before it needs attention`;
    for (const { index } of sequence.slice(holding + 1)) forecasts.set(index, { outcome: 'held', reason });
  }
  return actions.map(({ index }) => forecasts.get(index) ?? { outcome: 'unknown' });
}

function forecast(action: ChainAction, { rule, condition, obstacle }: Facts): Forecast {
  const cannotBeDone = (reason: string): Forecast => ({
    outcome: rule?.onFailure === 'continue' ? 'failed' : 'needs-attention',
    reason,
  });
  if (!rule?.enabled) return { outcome: 'skipped', reason: `rule ${action.relayId} is ${rule ? 'disabled' : 'gone'}` };
  if (action.cannotSchedule !== undefined) return cannotBeDone(action.cannotSchedule);
  if (condition && 'error' in condition)
    return condition.retryable ? { outcome: 'unknown', reason: condition.error } : cannotBeDone(condition.error);
  if (condition && !condition.holds) return { outcome: 'skipped', reason: condition.reason ?? 'its condition does not hold' };
  if (action.invalidData !== undefined) return cannotBeDone(action.invalidData);
  return obstacle === undefined ? { outcome: 'runs' } : cannotBeDone(obstacle);
}
