/** Simulates a chain in a scenario: the outcome of each action, and the time of its notice. */

import { attemptsWithin, automaticRetrySeconds, backoffSeconds } from './backoff.js';
import { type ChainAction, connectorOf, delayOf, planChain } from './chain.js';
import { mayAskAssignment } from './condition.js';
import { type Facts, type Forecast, forecastOf } from './forecast.js';

export const scenarios = ['nobody-found', 'nobody-accepts', 'platform-down'] as const;
export type Scenario = (typeof scenarios)[number];

const downSeconds = 3600; // in `platform-down`, the platform does not answer for this time after the event

/** Times are in seconds after the event. */
export interface Played extends Forecast {
  afterSeconds?: number; // when the action is done, skipped or failed; absent if the action waits for a person
  attempts?: number;
  toldAfterSeconds?: number; // the time of the notice, if the action needs attention or failed
}

interface World {
  scenario: Scenario;
  assignment: Record<string, unknown>; // from the platform, invented by the user, or `{ status: 'draft' }`
  retryBudgetSeconds: number;
  /** Evaluates the condition of an action at a time after the event. */
  evaluate(action: ChainAction, assignment: Record<string, unknown>, afterSeconds: number): Facts['condition'];
}

/** @param facts - the facts about each action, in action order. The scenario itself decides the results of conditions. */
export function playThrough(
  actions: readonly ChainAction[],
  facts: readonly Pick<Facts, 'rule' | 'obstacle'>[],
  { scenario, assignment, retryBudgetSeconds, evaluate }: World,
): Played[] {
  const played = new Map<number, Played>();
  const { immediate, delayed } = planChain(actions);
  const sequences = [immediate, ...delayed].map((left) => ({ left: [...left], clock: delayOf(left[0] ?? {}) }));
  let sentAfter = Number.POSITIVE_INFINITY;
  for (;;) {
    // Runs the earliest sequence next, because its effects can change later steps of other sequences.
    const [sequence] = sequences.filter(({ left }) => left.length > 0).sort((one, other) => one.clock - other.clock);
    const action = sequence?.left.shift();
    if (!sequence || !action) return actions.map(({ index }) => played.get(index) ?? { outcome: 'unknown' });
    const one = play(action, sequence.clock, facts[actions.indexOf(action)] ?? { rule: undefined });
    played.set(action.index, one);
    sequence.clock = one.afterSeconds ?? sequence.clock;
    if (one.outcome === 'runs' && action.action === 'platform_sendAssignment') sentAfter = Math.min(sentAfter, sequence.clock);
    if (one.outcome !== 'needs-attention') continue;
    const reason = `the earlier action ${action.index} needs attention`;
    for (const { index } of sequence.left.splice(0)) played.set(index, { outcome: 'held', reason });
  }

  function play(action: ChainAction, from: number, { rule, obstacle }: Pick<Facts, 'rule' | 'obstacle'>): Played {
    const { condition } = action;
    const asks = condition !== undefined && mayAskAssignment(condition);
    const without = forecastOf(action, { rule, obstacle, condition: ofRequest(action, from) });
    const isTried =
      rule?.enabled &&
      action.cannotSchedule === undefined &&
      (asks || (connectorOf[action.action] === 'platform' && without.outcome === 'runs'));
    if (!isTried) return ended(without, from);
    const tried = attempts(from, rule.onFailure);
    if (tried.gaveUp) return { ...tried.times, outcome: 'failed', reason: 'the platform did not answer' };
    const at = tried.times.afterSeconds;
    const seen = asks ? evaluate(action, assignmentAfter(at), at) : ofRequest(action, at);
    const forecast = forecastOf(action, { rule, obstacle, condition: seen });
    return { ...ended(forecast, at), ...(forecast.outcome === 'runs' || forecast.outcome === 'skipped' ? tried.times : {}) };
  }

  /** The result of a condition that does not ask the platform. */
  function ofRequest(action: ChainAction, at: number): Facts['condition'] {
    return action.condition && !mayAskAssignment(action.condition) ? evaluate(action, {}, at) : undefined;
  }

  function assignmentAfter(seconds: number): Record<string, unknown> {
    if (scenario === 'platform-down') return assignment;
    return { ...assignment, status: scenario === 'nobody-accepts' && seconds >= sentAfter ? 'sent' : 'draft' };
  }

  /** Simulates tries until the platform answers: first within the retry budget, then automatic retries of the held action. */
  function attempts(from: number, onFailure: 'hold' | 'continue') {
    let [at, attempts] = [from, 1];
    let toldAfterSeconds: number | undefined;
    const within = attemptsWithin(retryBudgetSeconds);
    while (scenario === 'platform-down' && at < downSeconds) {
      if (attempts < within) at += backoffSeconds(attempts);
      else {
        toldAfterSeconds ??= at;
        if (onFailure === 'continue') return { gaveUp: true, times: { afterSeconds: at, attempts, toldAfterSeconds } };
        at += automaticRetrySeconds(attempts - within + 1);
      }
      attempts += 1;
    }
    return { gaveUp: false, times: { afterSeconds: at, attempts, toldAfterSeconds } };
  }
}

function ended(forecast: Forecast, at: number): Played {
  const waits = forecast.outcome === 'needs-attention';
  const isTold = waits || forecast.outcome === 'failed';
  return { ...forecast, ...(!waits && { afterSeconds: at }), ...(isTold && { toldAfterSeconds: at }) };
}

export function remarkOn(scenario: Scenario, actions: readonly ChainAction[], played: readonly Played[]): string | undefined {
  const sends = actions.some(({ action }, place) => action === 'platform_sendAssignment' && played[place]?.outcome === 'runs');
  if (scenario === 'platform-down' || !sends) return undefined;
  const isTold = actions.some(
    ({ action, delaySeconds }, place) => action === 'sendEmails' && delaySeconds && played[place]?.outcome === 'runs',
  );
  if (isTold) return undefined;
  return scenario === 'nobody-found'
    ? 'If no technician is found, nobody gets a message about it. To change this, add a delayed e-mail with actionCondition status==draft.'
    : 'If no technician accepts, nobody gets a message about it. To change this, add a delayed e-mail with actionCondition status==sent.';
}
