/** Plays a chain through: what would become of it, and when people would hear of it, if the world went so. */

import { actionDefinitions } from './actions.js';
import { type ChainAction, delayOf, planChain } from './chain.js';
import { asksIncomingValue, evaluateCondition } from './condition.js';
import { type Facts, type Forecast, forecastOf } from './forecast.js';
import { attemptsWithin, automaticRetrySeconds, backoffSeconds } from './retry.js';

export const scenarios = ['nobody-found', 'nobody-accepts', 'platform-down'] as const;
export type Scenario = (typeof scenarios)[number];

/** For how long, in seconds after the event, the platform does not answer in `platform-down`. */
const downSeconds = 3600;

/** Seconds are counted from the event. */
export interface Played extends Forecast {
  /** When it is done, skipped, or given up. Absent: it waits for somebody. */
  afterSeconds?: number;
  /** More than one where it had to be tried again. */
  attempts?: number;
  /** When people are told that it needs attention, or has failed. */
  toldAfterSeconds?: number;
}

interface World {
  scenario: Scenario;
  /** What the platform knows of the assignment. */
  assignment: Record<string, unknown>;
  retryBudgetSeconds: number;
}

/** @param facts - one for each action, in the same order; what their conditions come to is played. */
export function playThrough(
  actions: readonly ChainAction[],
  facts: readonly Pick<Facts, 'rule' | 'obstacle'>[],
  { scenario, assignment, retryBudgetSeconds }: World,
): Played[] {
  const played = new Map<number, Played>();
  const { immediate, delayed } = planChain(actions);
  const sequences = [immediate, ...delayed].map((left) => ({ left: [...left], clock: delayOf(left[0] ?? {}) }));
  let sentAfter = Number.POSITIVE_INFINITY;
  for (;;) {
    // Whichever has the next thing to do, so that what one does is seen by what the others do later.
    const [sequence] = sequences.filter(({ left }) => left.length > 0).sort((one, other) => one.clock - other.clock);
    const action = sequence?.left.shift();
    if (!sequence || !action) return actions.map(({ index }) => played.get(index) ?? { outcome: 'unknown' });
    const one = play(action, sequence.clock, facts[actions.indexOf(action)] ?? { rule: undefined });
    played.set(action.index, one);
    sequence.clock = one.afterSeconds ?? sequence.clock;
    if (one.outcome === 'runs' && action.action === 'platform_sendAssignment') sentAfter = Math.min(sentAfter, sequence.clock);
    if (one.outcome !== 'needs-attention') continue;
    const reason = `action ${action.index} before it needs attention`;
    for (const { index } of sequence.left.splice(0)) played.set(index, { outcome: 'held', reason });
  }

  function play(action: ChainAction, from: number, { rule, obstacle }: Pick<Facts, 'rule' | 'obstacle'>): Played {
    const { condition } = action;
    const asks = condition !== undefined && !asksIncomingValue(condition);
    const without = forecastOf(action, { rule, obstacle, condition: ofRequest(action) });
    const sends = actionDefinitions.find(({ name }) => name === action.action)?.system === 'platform';
    const isTried = rule?.enabled && action.cannotSchedule === undefined && (asks || (sends && without.outcome === 'runs'));
    if (!isTried) return ended(without, from);
    const tried = attempts(from, rule.onFailure);
    if (tried.gaveUp) return { ...tried.times, outcome: 'failed', reason: 'the platform did not answer' };
    const at = tried.times.afterSeconds;
    const seen = asks ? evaluateCondition(condition, assignmentAfter(at)) : undefined;
    const forecast = forecastOf(action, { rule, obstacle, condition: seen ?? ofRequest(action) });
    return { ...ended(forecast, at), ...(forecast.outcome === 'runs' || forecast.outcome === 'skipped' ? tried.times : {}) };
  }

  function assignmentAfter(seconds: number): Record<string, unknown> {
    if (scenario === 'platform-down') return assignment;
    return { ...assignment, status: scenario === 'nobody-accepts' && seconds >= sentAfter ? 'sent' : 'draft' };
  }

  /** Of the platform, which answers once it is up again: within the budget, then by the relay itself while the action is held. */
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

/** What its condition on `incomingValue` comes to. */
function ofRequest({ condition, incomingValue }: ChainAction): Facts['condition'] {
  return condition && asksIncomingValue(condition) ? evaluateCondition(condition, { incomingValue }) : undefined;
}

function ended(forecast: Forecast, at: number): Played {
  const waits = forecast.outcome === 'needs-attention';
  const isTold = waits || forecast.outcome === 'failed';
  return { ...forecast, ...(!waits && { afterSeconds: at }), ...(isTold && { toldAfterSeconds: at }) };
}

/** What a scenario shows of the chain as a whole: that nobody hears of it. */
export function remarkOn(scenario: Scenario, actions: readonly ChainAction[], played: readonly Played[]): string | undefined {
  const sends = actions.some(({ action }) => action === 'platform_sendAssignment');
  if (scenario === 'platform-down' || !sends) return undefined;
  const isTold = actions.some(
    ({ action, delaySeconds }, place) => action === 'sendEmails' && delaySeconds && played[place]?.outcome === 'runs',
  );
  if (isTold) return undefined;
  return scenario === 'nobody-found'
    ? 'Nobody is told that nobody was found: add a delayed e-mail with actionCondition status==draft.'
    : 'Nobody is told that nobody has accepted: add a delayed e-mail with actionCondition status==sent.';
}
