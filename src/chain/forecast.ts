/** For a dry run, predicts the outcome of each action as if the action were due now. Checks in the same order as the workflows. */

import { type ChainAction, delayOf } from './chain.js';

export const forecastOutcomes = [
  'runs',
  'skipped', // the condition does not hold, or the rule is disabled or deleted
  'needs-attention', // would be held until a person decides
  'failed', // like `needs-attention`, but the rule has onFailure: "continue"
  'held', // an earlier action of its sequence would need attention
  'unknown', // the platform did not answer, or its error is retryable; the relay asks again when the action runs
] as const;

export interface Forecast {
  outcome: (typeof forecastOutcomes)[number];
  reason?: string; // why the action would not run
}

export interface Facts {
  rule: { enabled: boolean; onFailure: 'hold' | 'continue' } | undefined; // undefined if the rule is deleted
  /** The current result of the condition. Undefined if the action has no condition. */
  condition?: { holds: boolean; reason?: string } | { error: string; retryable: boolean };
  obstacle?: string;
}

/** @param facts - the facts about each action, in the order of the actions. */
export function forecastChain(actions: readonly ChainAction[], facts: readonly Facts[]): Forecast[] {
  const holding = new Map<number, number>(); // the key is a delay; the value is the index of the action that blocks later actions
  return actions.map((action, place) => {
    const before = holding.get(delayOf(action));
    if (before !== undefined) return { outcome: 'held', reason: `the earlier action ${before} needs attention` };
    const forecast = forecastOf(action, facts[place] ?? { rule: undefined });
    if (forecast.outcome === 'needs-attention') holding.set(delayOf(action), action.index);
    return forecast;
  });
}

export function forecastOf(action: ChainAction, { rule, condition, obstacle }: Facts): Forecast {
  if (!rule?.enabled) return { outcome: 'skipped', reason: `rule ${action.relayId} is ${rule ? 'disabled' : 'gone'}` };
  const cannotBeDone = rule.onFailure === 'continue' ? 'failed' : 'needs-attention';
  if (action.cannotSchedule !== undefined) return { outcome: cannotBeDone, reason: action.cannotSchedule };
  if (condition && 'error' in condition)
    return { outcome: condition.retryable ? 'unknown' : cannotBeDone, reason: condition.error };
  if (condition && !condition.holds) return { outcome: 'skipped', reason: condition.reason ?? 'its condition is not true' };
  const reason = action.invalidData ?? obstacle;
  return reason === undefined ? { outcome: 'runs' } : { outcome: cannotBeDone, reason };
}
