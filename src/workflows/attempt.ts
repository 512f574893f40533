/**
 * One try at an action: its condition, then its effect. What may be repeated under its key is tried once as a local activity,
 * then goes on as an ordinary one; an e-mail is an ordinary activity from the start.
 */

import { asksIncomingValue, conditionText, evaluateCondition, type Verdict } from '../chain/condition.js';
import { backoffSeconds, waitsTooLong } from '../chain/retry.js';
import {
  type Activities,
  type EffectActivities,
  type EffectResult,
  effectActivities,
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
  if (action.action === 'sendEmails') return sendEmails(run, mode, action);
  return effect(run, mode, effectActivities[action.action]);
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
  const tried = await localFirst(run, mode, 'checkCondition', (activities) => activities.checkCondition(input), asks);
  return tried.ok ? { verdict: tried.value } : { failure: tried.failure };
}

async function effect(run: ActionRun, mode: RetryMode, name: keyof EffectActivities): Promise<AttemptResult> {
  const tried = await localFirst(run, mode, name, (activities) => {
    const call: (input: never) => Promise<EffectResult> = activities[name];
    return call({ ...refOf(run), action: run.action } as never);
  });
  if (!tried.ok) return { attempts: tried.failure.attempts, failure: tried.failure };
  const { skipped, recipients, attempts } = tried.value;
  return { attempts: tried.earlier + attempts, skipped, recipients };
}

type Tried<Value> = { ok: true; value: Value; earlier: number } | { ok: false; failure: FailedAttempt };

/**
 * A row of local tries goes on for so many milliseconds; then an ordinary activity lets queries, signals and cancels in. Part of
 * the replay contract.
 */
const longestLocalMs = 2000;

/** Tries once as a local activity, then through the budget as an ordinary one. */
async function localFirst<Value extends Timed>(
  run: ActionRun,
  mode: RetryMode,
  name: string,
  call: (activities: Activities) => Promise<Value>,
  asks = '',
): Promise<Tried<Value>> {
  const { lock, chain, action } = run;
  const attempts = run.attemptsLeft(mode);
  const summary = run.summary(asks);
  const activityId = `${action.index}/${name}`;
  const ordinary = (attempts: number, made = 0) => run.outside(() => call(run.ordinary({ activityId, summary, attempts, made })));
  let earlier = 0;
  try {
    if (mode === 'budget' && lock.keptMs < longestLocalMs) {
      try {
        const value = await run.local(summary, call);
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
