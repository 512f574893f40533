/**
 * One try at an action: checks its condition, then runs its effect. Ordinary activities send e-mails. Other effects are first
 * tried as a local activity, for up to `longestLocalMs` (see `Engine.local`).
 */

import { workflowInfo } from '@temporalio/workflow';
import type { LateValues } from '../../chain/action-status.js';
import { attemptsLeft, dataMistake, retryWait, type Tried, type Try } from '../../chain/attempt.js';
import { asksIncomingValue, conditionText, evaluateCondition, type Verdict } from '../../chain/condition.js';
import { summaryOf } from '../../chain/web-ui.js';
import {
  type Activities,
  type Call,
  conditionInput,
  type EffectInput,
  type EffectResult,
  effectActivities,
  effectInput,
  type SomeOf,
  type Timed,
} from '../../contract/activities.js';
import { type FailedAttempt, readFailure, resultOf } from '../../contract/failures.js';
import type { Act } from './act.js';
import { sendEmails } from './emails.js';

/** Returns a failure as a value instead of throwing it. @throws CancelledFailure */
export async function tryAction(act: Act, how: Try): Promise<Tried> {
  const { action, engine } = act;
  const mayTryLocally = () => !how.own && engine.mayTryLocally;
  const { condition } = action;
  if (action.cannotSchedule) return dataMistake(action.cannotSchedule);
  if (condition) {
    const input = conditionInput(act.ref, action, condition, workflowInfo().firstExecutionRunId);
    const call = ({ checkCondition }: Activities) => checkCondition(input);
    const asks = `${conditionText(condition)}?`;
    const local = mayTryLocally() && (() => act.local(act.summary(asks), call));
    const asked: FailedAttempt | { value: Verdict & { late?: LateValues } } = asksIncomingValue(condition)
      ? { value: evaluateCondition(condition, action) }
      : await localFirst(act, how, { name: 'checkCondition', call, asks, local });
    if ('failure' in asked) return asked;
    if (!asked.value.holds) return { attempts: 0, skipped: asked.value.reason };
    if (asked.value.late) act.update({ late: asked.value.late });
  }
  if (action.invalidData) return dataMistake(action.invalidData);
  if (action.action === 'sendEmails') return sendEmails(act, how, action);

  const input = () => effectInput(act.ref, action);
  const name = effectActivities[action.action];
  const call = (activities: Activities) => activities[name](input() as never);
  const early = act.shared.early.get(action.index);
  act.shared.early.delete(action.index);
  const local = early ? () => engine.counted(resultOf(early)) : mayTryLocally() && (() => inRow(act, input(), call));
  const tried = await localFirst(act, how, { name, call, local });
  act.keep('failure' in tried ? tried.kept : tried.value.kept);
  if ('failure' in tried) return tried;
  return { ...tried.value, attempts: tried.earlier + tried.value.attempts };
}

/**
 * Tries an effect in a local activity, together with the effects that directly follow and need no check. `early` stores the
 * outcomes of these effects until the turn of their actions. The choice of these effects is part of the replay contract.
 */
async function inRow(act: Act, input: EffectInput, call: Call<EffectResult>): Promise<EffectResult> {
  const row: SomeOf<EffectInput> = [input];
  for (const action of act.behind) {
    const { mends } = act.states.of(action.index);
    const asksFirst = action.condition || action.cannotSchedule || action.invalidData || mends;
    if (action.action === 'sendEmails' || asksFirst || act.shared.decisions.has(action.index)) break;
    const { index, relayId } = action;
    row.push(effectInput({ ...input, relayId, index, mends: undefined, kept: undefined, values: undefined }, action));
  }
  if (row.length === 1) return act.local(act.summary(), call);
  return act.local(summaryOf(row.map(({ action }) => action)), async ({ doEffects }) => {
    const [first, ...others] = await doEffects(row);
    for (const [place, outcome] of others.entries()) act.shared.early.set(row[place + 1]?.index ?? 0, outcome);
    return resultOf(first);
  });
}

interface Tries<Value> {
  name: string;
  call: Call<Value>;
  asks?: string;
  local: false | (() => Promise<Value>);
}

/**
 * Tries once as a local activity. If a retry can help, then tries as an ordinary activity within the retry budget. An activity
 * may refuse the local try (`UseOrdinary`). @returns the `value`, and the number of attempts before the successful attempt.
 */
async function localFirst<Value extends Timed>(
  act: Act,
  how: Try,
  { name, call, asks, local }: Tries<Value>,
): Promise<{ value: Value; earlier: number } | FailedAttempt> {
  const { retryBudgetSeconds } = act.chain;
  const attempts = attemptsLeft(retryBudgetSeconds, how);
  const ordinary = (attempts: number, made = 0) => act.outside(() => call(act.ordinary(name, asks, attempts, how.made + made)));
  let earlier = 0;
  try {
    if (local) {
      try {
        return { value: await local(), earlier };
      } catch (error) {
        const failed = readFailure(error);
        const { type, retryable } = failed.failure;
        if (type === 'UseOrdinary') return { value: await ordinary(retryable ? attempts : 1), earlier };
        const wait = attempts > 1 ? retryWait(failed.failure, retryBudgetSeconds, how) : undefined;
        if (wait === undefined) return failed;
        earlier = 1;
        act.keep(failed.kept);
        act.update({ state: 'retrying', error: failed.failure, nextAttemptAt: act.engine.time(wait * 1000) });
        await act.wait(wait * 1000, `tried again after ${wait} s`);
      }
    }
    return { value: await ordinary(attempts - earlier, earlier), earlier };
  } catch (error) {
    const failed = readFailure(error);
    return { ...failed, attempts: earlier + failed.attempts };
  }
}
