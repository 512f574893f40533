/**
 * One try at an action: its condition, then its effect. What may be repeated under its key is tried once as a local activity,
 * then goes on as an ordinary one; an e-mail is an ordinary activity from the start.
 */

import { ApplicationFailure } from '@temporalio/workflow';
import { asksIncomingValue, conditionText, evaluateCondition, type Verdict } from '../chain/condition.js';
import { backoffSeconds, waitsTooLong } from '../chain/retry.js';
import { summaryOf } from '../chain/web-ui.js';
import {
  type Activities,
  type EffectInput,
  type EffectOutcome,
  type EffectResult,
  effectActivities,
  type SomeOf,
  type Timed,
} from '../contract/activities.js';
import { type ActionRun, type AttemptResult, type RetryMode, refOf } from './action-run.js';
import { type FailedAttempt, readFailure, shownFailure, wasTried } from './failures.js';
import { sendEmails } from './send-emails.js';

/** A failure is a value here; only a cancellation is thrown. */
export async function attempt(run: ActionRun, mode: RetryMode): Promise<AttemptResult> {
  const { action } = run;
  if (action.cannotSchedule) return invalidData(action.cannotSchedule);
  if (action.condition) {
    const asked = asksIncomingValue(action.condition)
      ? { verdict: evaluateCondition(action.condition, action) }
      : await checkCondition(run, mode);
    if ('failure' in asked) return { attempts: asked.failure.attempts, failure: asked.failure };
    if (!asked.verdict.holds) return { attempts: 0, skipped: asked.verdict.reason };
  }
  if (action.invalidData) return invalidData(action.invalidData);
  return action.action === 'sendEmails'
    ? sendEmails(run, mode, action)
    : effect(run, mode, { ...refOf(run), action } as EffectInput);
}

function invalidData(message: string): AttemptResult {
  return { attempts: 0, failure: { type: 'DataMistake', message, retryable: false } };
}

/** Evaluates a condition that asks about the assignment. */
async function checkCondition(run: ActionRun, mode: RetryMode): Promise<{ verdict: Verdict } | { failure: FailedAttempt }> {
  const { condition, assignmentId } = run.action;
  if (!condition || assignmentId === undefined) throw new TypeError('a condition on an assignment, and its id, are needed');
  const input = { ...refOf(run), assignmentId, condition };
  const asks = `${conditionText(condition)}?`;
  const call = (activities: Activities) => activities.checkCondition(input);
  const tried = await localFirst(run, mode, {
    name: 'checkCondition',
    call,
    asks,
    local: () => run.local(run.summary(asks), call),
  });
  return tried.ok ? { verdict: tried.value } : { failure: tried.failure };
}

async function effect(run: ActionRun, mode: RetryMode, input: EffectInput): Promise<AttemptResult> {
  const name = effectActivities[input.action.action];
  const call = (activities: Activities) => {
    const effect: (input: never) => Promise<EffectResult> = activities[name];
    return effect(input as never);
  };
  const early = run.takeEarly();
  const local = early ? () => resultOf(early) : () => inRow(run, input, call);
  const tried = await localFirst(run, mode, { name, call, local, isMade: early !== undefined });
  if (!tried.ok) return { attempts: tried.failure.attempts, failure: tried.failure };
  const { skipped, recipients, attempts } = tried.value;
  return { attempts: tried.earlier + attempts, skipped, recipients };
}

type Call<Value> = (activities: Activities) => Promise<Value>;

/** Tries an effect locally, and with it those behind it that ask for nothing first: what became of these waits for their turn. */
async function inRow(run: ActionRun, input: EffectInput, call: Call<EffectResult>): Promise<EffectResult> {
  const row: SomeOf<EffectInput> = [input];
  for (const action of run.behind) {
    if (action.action === 'sendEmails' || action.condition || action.cannotSchedule || action.invalidData) break;
    row.push({ ...input, relayId: action.relayId, index: action.index, action } as EffectInput);
  }
  if (row.length === 1) return run.local(run.summary(''), call);
  const actions = row.map(({ action }) => action);
  const [first, ...others] = await run.local(summaryOf(actions), ({ doEffects }) => doEffects(row));
  for (const [place, outcome] of others.entries()) run.early.set(row[place + 1]?.index ?? 0, outcome);
  return resultOf(first);
}

/** @throws ApplicationFailure as the effect's own activity would have. */
function resultOf(outcome: EffectOutcome): EffectResult {
  if (!('failure' in outcome)) return outcome;
  const { type, message, details } = outcome.failure;
  throw ApplicationFailure.nonRetryable(message, type, details);
}

type Tried<Value> = { ok: true; value: Value; earlier: number } | { ok: false; failure: FailedAttempt };

interface Tries<Value> {
  /** The activity's. */
  name: string;
  call: Call<Value>;
  asks?: string;
  /** The local try. */
  local: () => Value | Promise<Value>;
  /** Whether that has been made already. */
  isMade?: boolean;
}

/**
 * A row of local tries goes on for so many milliseconds; then an ordinary activity lets queries, signals and cancels in. Part of
 * the replay contract.
 */
const longestLocalMs = 2000;

/** Tries once as a local activity, then through the budget as an ordinary one. */
async function localFirst<Value extends Timed>(run: ActionRun, mode: RetryMode, tries: Tries<Value>): Promise<Tried<Value>> {
  const { lock, chain, action } = run;
  const { name, call, asks = '', local, isMade } = tries;
  const attempts = run.attemptsLeft(mode);
  const summary = run.summary(asks);
  const activityId = `${action.index}/${name}`;
  const ordinary = (attempts: number, made = 0) => run.outside(() => call(run.ordinary({ activityId, summary, attempts, made })));
  let earlier = 0;
  try {
    if (isMade || (mode === 'budget' && lock.keptMs < longestLocalMs)) {
      try {
        const value = await local();
        lock.passed(value.tookMs);
        return { ok: true, value, earlier };
      } catch (error) {
        const failure = readFailure(error);
        if (failure.type === 'UseOrdinary') return { ok: true, value: await ordinary(failure.retryable ? attempts : 1), earlier };
        if (!wasTried(failure)) return { ok: false, failure };
        earlier = 1;
        const retryAfter = failure.retryAfterSeconds ?? 0;
        const wait = Math.max(backoffSeconds(run.made + 1), retryAfter);
        if (!failure.retryable || attempts === 1 || waitsTooLong(retryAfter, chain.retryBudgetSeconds))
          return { ok: false, failure };
        run.update({ state: 'retrying', error: shownFailure(failure), nextAttemptAt: run.time(wait * 1000) });
        await run.wait(wait * 1000, `tried again after ${wait} s`);
      }
    }
    return { ok: true, value: await ordinary(attempts - earlier, earlier), earlier };
  } catch (error) {
    const failure = readFailure(error);
    return { ok: false, failure: { ...failure, attempts: earlier + failure.attempts } };
  }
}
