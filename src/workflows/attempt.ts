/** One try at an action: its condition, then its effect, an e-mail as ordinary activities, all else as a local one first. */

import { ApplicationFailure } from '@temporalio/workflow';
import type { ChainAction } from '../chain/chain.js';
import { asksIncomingValue, conditionText, evaluateCondition } from '../chain/condition.js';
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
import type { ActionRun, AttemptResult, RetryMode } from './action-run.js';
import { type FailedAttempt, readFailure, wasTried } from './failures.js';
import { sendEmails } from './send-emails.js';

/** A failure is a value here; only a cancellation is thrown. */
export async function attempt(run: ActionRun, mode: RetryMode): Promise<AttemptResult> {
  const { action } = run;
  const { condition, assignmentId = '' } = action;
  if (action.cannotSchedule) return invalidData(action.cannotSchedule);
  if (condition) {
    const call = ({ checkCondition }: Activities) => checkCondition({ ...run.ref, assignmentId, condition });
    const asked = asksIncomingValue(condition)
      ? { value: evaluateCondition(condition, action) }
      : await localFirst(run, mode, { name: 'checkCondition', call, asks: `${conditionText(condition)}?` });
    if ('failure' in asked) return asked;
    if (!asked.value.holds) return { attempts: 0, skipped: asked.value.reason };
  }
  if (action.invalidData) return invalidData(action.invalidData);
  return action.action === 'sendEmails'
    ? sendEmails(run, mode, action)
    : effect(run, mode, { ...run.ref, action: asked(action) } as EffectInput);
}

/** What an effect needs of its action. */
function asked({ sent: _, ...action }: ChainAction) {
  return action;
}

function invalidData(message: string): AttemptResult {
  return { attempts: 0, failure: { type: 'DataMistake', message, retryable: false } };
}

async function effect(run: ActionRun, mode: RetryMode, input: EffectInput): Promise<AttemptResult> {
  const name = effectActivities[input.action.action];
  const call = (activities: Activities) => activities[name](input as never);
  const early = run.early.get(input.index);
  run.early.delete(input.index);
  const local = early ? () => resultOf(early) : () => inRow(run, input, call);
  const tried = await localFirst(run, mode, { name, call, local, isMade: early !== undefined });
  if ('failure' in tried) return tried;
  const { skipped, recipients, attempts } = tried.value;
  return { attempts: tried.earlier + attempts, skipped, recipients };
}

type Call<Value> = (activities: Activities) => Promise<Value>;

/** Tries an effect locally, and with it those behind it that ask for nothing first: what became of these waits for their turn. */
async function inRow(run: ActionRun, input: EffectInput, call: Call<EffectResult>): Promise<EffectResult> {
  const row: SomeOf<EffectInput> = [input];
  for (const action of run.behind) {
    const isMended = run.states.of(action.index).mends !== undefined;
    if (action.action === 'sendEmails' || action.condition || action.cannotSchedule || action.invalidData || isMended) break;
    row.push({ ...input, relayId: action.relayId, index: action.index, action: asked(action), mends: undefined } as EffectInput);
  }
  if (row.length === 1) return run.local(run.summary(), call);
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

interface Tries<Value> {
  name: string;
  call: Call<Value>;
  asks?: string;
  /** Where the local try is not just the call. */
  local?: () => Value | Promise<Value>;
  isMade?: boolean;
}

/** Of local tries in a row; then an ordinary activity lets queries, signals and cancels in. Part of the replay contract. */
const longestLocalMs = 2000;

/** Tries once as a local activity, then through the budget as an ordinary one. @returns also the attempts before the `value`. */
async function localFirst<Value extends Timed>(
  run: ActionRun,
  mode: RetryMode,
  { name, call, asks, local = () => run.local(run.summary(asks), call), isMade }: Tries<Value>,
): Promise<{ value: Value; earlier: number } | FailedAttempt> {
  const attempts = run.attemptsLeft(mode);
  const ordinary = (attempts: number, made = 0) => run.outside(() => call(run.ordinary(name, asks, attempts, made)));
  let earlier = 0;
  try {
    if (isMade || (mode === 'budget' && run.lock.keptMs < longestLocalMs)) {
      try {
        const value = await local();
        run.lock.passed(value.tookMs);
        return { value, earlier };
      } catch (error) {
        const failed = readFailure(error);
        const { type, retryable, retryAfterSeconds = 0 } = failed.failure;
        if (type === 'UseOrdinary') return { value: await ordinary(retryable ? attempts : 1), earlier };
        const isLast = !retryable || attempts === 1 || waitsTooLong(retryAfterSeconds, run.chain.retryBudgetSeconds);
        if (isLast || !wasTried(failed.failure)) return failed;
        earlier = 1;
        const wait = Math.max(backoffSeconds(run.made + 1), retryAfterSeconds);
        run.update({ state: 'retrying', error: failed.failure, nextAttemptAt: run.lock.time(wait * 1000) });
        await run.wait(wait * 1000, `tried again after ${wait} s`);
      }
    }
    return { value: await ordinary(attempts - earlier, earlier), earlier };
  } catch (error) {
    const failed = readFailure(error);
    return { ...failed, attempts: earlier + failed.attempts };
  }
}
