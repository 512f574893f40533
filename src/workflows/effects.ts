/**
 * What each action does to the world, and the path an effect takes: what may be repeated under its key is tried once as a local activity, then goes
 * on as an ordinary one; e-mail is an ordinary activity from the start.
 */

import {
  ActivityCancellationType,
  type ActivityOptions,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  sleep,
} from '@temporalio/workflow';
import type { Delivery, Trouble } from '../chain/action-status.js';
import type { ActionName, Chain, ChainAction } from '../chain/chain.js';
import { conditionText, type Verdict } from '../chain/condition.js';
import { attemptsWithin, backoffSeconds, retryPolicy, waitsTooLong } from '../chain/retry.js';
import { summaryOf } from '../chain/summary.js';
import { cutShort } from '../chain/text.js';
import type { ActionRef, Activities, EffectResult } from '../contract/activities.js';
import { type FailedAttempt, readFailure } from './trouble.js';

/** How hard to try: through the retry budget, or one ordinary attempt (the relay's own try during a hold). */
export type Effort = 'budget' | 'once';

/** One action about to be done. */
export interface Doing {
  chain: Chain;
  action: ChainAction;
  effort: Effort;
  /** Whether what may be repeated is tried as a local activity first. */
  local: boolean;
  /** What earlier tries of an e-mail came to. */
  deliveries: Delivery[];
  earlierAttempts: number;
  /** What the e-mail has come to so far. */
  onDelivered(deliveries: Delivery[]): void;
  /** The first try failed; the next is due at `nextAttemptAt`. */
  onRetrying(trouble: Trouble, nextAttemptAt: string): void;
}

/** What a try came to. */
export interface Done {
  attempts: number;
  skipped?: string;
  recipients?: number;
  failure?: Trouble;
}

type Effects = { [Name in ActionName]: (doing: Doing, action: Extract<ChainAction, { action: Name }>) => Promise<Done> };

/** The one table from action to activity. */
const effects: Effects = {
  platform_sendAssignment: (doing, action) => effect(doing, 'sendAssignment', { ...refOf(doing), action }),
  sendEmails: (doing, action) => sendEmails(doing, action),
  ticket_updateUDF: (doing, action) => effect(doing, 'updateUdf', { ...refOf(doing), action }),
};

/** Does the action. Its failure is a value; only cancellation is thrown. */
export function perform(doing: Doing): Promise<Done> {
  const run: (doing: Doing, action: never) => Promise<Done> = effects[doing.action.action];
  return run(doing, doing.action as never);
}

/** Evaluates a condition that asks about the assignment. */
export async function checkCondition(doing: Doing): Promise<{ verdict: Verdict } | { failure: FailedAttempt }> {
  const { condition, assignmentId } = doing.action;
  if (!condition || assignmentId === undefined) throw new TypeError('a condition on an assignment, and its id, are needed');
  const asked = await localFirst(doing, 'checkCondition', { ...refOf(doing), assignmentId, condition });
  return asked.ok ? { verdict: asked.value } : { failure: asked.failure };
}

type Repeatable = 'checkCondition' | 'sendAssignment' | 'updateUdf';
type Tried<Value> = { ok: true; value: Value; earlier: number } | { ok: false; failure: FailedAttempt };

async function effect<Name extends 'sendAssignment' | 'updateUdf'>(
  doing: Doing,
  name: Name,
  input: Parameters<Activities[Name]>[0],
): Promise<Done> {
  const tried: Tried<EffectResult> = await localFirst(doing, name, input);
  if (!tried.ok) return { attempts: tried.failure.attempts, failure: tried.failure };
  return { ...tried.value, attempts: tried.earlier + tried.value.attempts };
}

/** Tries once as a local activity, then through the budget as an ordinary one. */
async function localFirst<Name extends Repeatable>(
  doing: Doing,
  name: Name,
  input: Parameters<Activities[Name]>[0],
): Promise<Tried<Awaited<ReturnType<Activities[Name]>>>> {
  type Result = ReturnType<Activities[Name]>;
  const call = (activities: Activities) => (activities[name] as (input: Parameters<Activities[Name]>[0]) => Result)(input);
  const attempts = doing.effort === 'once' ? 1 : attemptsWithin(doing.chain.retryBudgetSeconds);
  const asks = name === 'checkCondition' && doing.action.condition ? `${conditionText(doing.action.condition)}?` : '';
  const activityId = `${doing.action.index}/${name}`;
  const summary = summaryOf([doing.action], asks);
  let earlier = 0;
  try {
    if (doing.local) {
      try {
        return { ok: true, value: await call(local(summary)), earlier };
      } catch (error) {
        const failure = readFailure(error);
        if (failure.type === 'UseOrdinary') return { ok: true, value: await call(ordinary(activityId, summary, 1)), earlier };
        earlier = 1;
        const retryAfter = failure.retryAfterSeconds ?? 0;
        const wait = Math.max(backoffSeconds(1), retryAfter);
        if (!failure.retryable || attempts === 1 || waitsTooLong(retryAfter, doing.chain.retryBudgetSeconds))
          return { ok: false, failure };
        doing.onRetrying(failure, new Date(Date.now() + wait * 1000).toISOString());
        await sleep(wait * 1000, { summary: summaryOf([doing.action], `tried again after ${wait} s`) });
      }
    }
    return { ok: true, value: await call(ordinary(activityId, summary, attempts - earlier, earlier)), earlier };
  } catch (error) {
    const failure = readFailure(error);
    return { ok: false, failure: { ...failure, attempts: earlier + failure.attempts } };
  }
}

/** At most so many bytes of messages go out in one workflow task, whose completion may have 4 MB. */
const batchBytes = 1_000_000;

/** Tries all recipients side by side; one of the relay's own tries begins with one of them, so that hours of an outage do not fill the history. */
async function sendEmails(doing: Doing, action: Extract<ChainAction, { action: 'sendEmails' }>): Promise<Done> {
  const attempts = doing.effort === 'once' ? 1 : attemptsWithin(doing.chain.retryBudgetSeconds);
  const { subject, body, bodyHtml } = action;
  const deliveries = new Map(doing.deliveries.map((delivery) => [delivery.recipient, delivery]));
  const open = action.recipients.filter((recipient) => !deliveries.get(recipient)?.sent);
  const batchSize = Math.max(1, Math.floor(batchBytes / (3 * (subject.length + body.length + bodyHtml.length) + 1000)));
  const failures: FailedAttempt[] = [];
  let [most, skipped, cancelled] = [0, undefined as string | undefined, undefined as unknown];
  const sendTo = async (recipient: string) => {
    try {
      const activityId = `${action.index}/sendEmail/${action.recipients.indexOf(recipient)}`;
      const activities = ordinary(activityId, summaryOf([action], `to ${recipient}`), attempts);
      const result = await activities.sendEmail({ ...refOf(doing), recipient, subject, body, bodyHtml });
      most = Math.max(most, result.attempts);
      skipped ??= result.skipped;
      deliveries.set(recipient, {
        recipient,
        sent: result.skipped === undefined,
        ...(result.skipped !== undefined && { error: result.skipped }),
      });
    } catch (error) {
      if (isCancellation(error)) {
        cancelled = error;
        deliveries.set(recipient, { recipient, sent: false, error: 'cancelled' });
      } else {
        const failure = readFailure(error);
        most = Math.max(most, failure.attempts);
        failures.push(failure);
        if (!failure.paused) deliveries.set(recipient, { recipient, sent: false, error: cutShort(failure.message, 200) });
      }
    }
    doing.onDelivered(action.recipients.flatMap((recipient) => deliveries.get(recipient) ?? []));
  };
  const [first] = doing.effort === 'once' ? open.splice(doing.earlierAttempts % open.length, 1) : [];
  if (first !== undefined) await sendTo(first);
  const rest = failures.some(({ retryable, paused }) => retryable || paused) ? [] : open;
  const sends: Promise<void>[] = [];
  while (rest.length > 0) {
    // The pause ends the workflow task.
    if (sends.length > 0) await sleep(1000, { summary: summaryOf([action], 'goes on with the next recipients') }).catch(() => {});
    sends.push(...rest.splice(0, batchSize).map(sendTo));
  }
  await Promise.all(sends);
  if (cancelled) throw cancelled;
  // What is paused is waited for, and a retryable failure is worth the relay's own tries, whatever the others were.
  const failure = failures.find(({ paused }) => paused) ?? failures.find(({ retryable }) => retryable) ?? failures[0];
  const done: Done = { attempts: most };
  if (failure) return { ...done, failure };
  return skipped === undefined ? { ...done, recipients: deliveries.size } : { ...done, skipped };
}

function refOf({ chain, action }: Doing): ActionRef {
  const { companyId, chainId, retryBudgetSeconds } = chain;
  return { companyId, chainId, retryBudgetSeconds, index: action.index, relayId: action.relayId };
}

/** Cancelling waits for an effect in flight, whose outcome counts. */
const waiting = { cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED };

/** While a local try runs, the workflow sees no query and no signal: hence its two seconds. */
function local(summary: string): Activities {
  return proxyLocalActivities<Activities>({
    ...waiting,
    startToCloseTimeout: '2 seconds',
    retry: { maximumAttempts: 1 },
    summary,
  });
}

function ordinary(activityId: string, summary: string, attempts: number, earlier = 0): Activities {
  const options: ActivityOptions = {
    ...waiting,
    activityId,
    startToCloseTimeout: '30 seconds',
    retry: retryPolicy(attempts, earlier),
    summary,
  };
  return proxyActivities<Activities>(options);
}
