/**
 * What each action does to the world, and the path an effect takes: what may be repeated under its key is tried once as a local activity, then goes
 * on as an ordinary one; e-mail is an ordinary activity from the start.
 */

import {
  ActivityCancellationType,
  type ActivityOptions,
  proxyActivities,
  proxyLocalActivities,
  sleep,
} from '@temporalio/workflow';
import type { ActionRef, Activities, EffectResult } from '../activities/activities.js';
import type { ActionName, Chain, ChainAction } from '../chain/chain.js';
import type { Verdict } from '../chain/condition.js';
import type { Delivery, Trouble } from '../chain/outcome.js';
import { attemptsWithin, backoffSeconds, retryPolicy, waitsTooLong } from '../chain/retry.js';
import { actionTitle } from '../chain/summary.js';
import { type FailedAttempt, readFailure } from './trouble.js';

/** How hard to try: through the retry budget, or one ordinary attempt (the relay's own try during a hold). */
export type Effort = 'budget' | 'once';

/** One action about to be done. */
export interface Doing {
  chain: Chain;
  action: ChainAction;
  effort: Effort;
  /** What an earlier try of an e-mail came to. */
  deliveries: Delivery[];
  /** The first try failed; the next is due at `nextAttemptAt`. */
  onRetrying(trouble: Trouble, nextAttemptAt: string): void;
}

/** What a try came to. `failure` with deliveries that were sent: partly. */
export interface Done {
  attempts: number;
  skipped?: string;
  recipients?: number;
  deliveries?: Delivery[];
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
  let earlier = 0;
  try {
    if (doing.effort === 'budget') {
      try {
        return { ok: true, value: await call(local(doing)), earlier };
      } catch (error) {
        const failure = readFailure(error);
        if (failure.type === 'UseOrdinary') return { ok: true, value: await call(ordinary(doing, name, 1)), earlier };
        earlier = 1;
        const retryAfter = failure.retryAfterSeconds ?? 0;
        const wait = Math.max(backoffSeconds(1), retryAfter);
        if (!failure.retryable || attempts === 1 || waitsTooLong(retryAfter, doing.chain.retryBudgetSeconds))
          return { ok: false, failure };
        doing.onRetrying(failure, new Date(Date.now() + wait * 1000).toISOString());
        await sleep(wait * 1000, { summary: `${actionTitle(doing.action)}: next try` });
      }
    }
    return { ok: true, value: await call(ordinary(doing, name, attempts - earlier, earlier)), earlier };
  } catch (error) {
    const failure = readFailure(error);
    return { ok: false, failure: { ...failure, attempts: earlier + failure.attempts } };
  }
}

/** At most so many bytes of messages go out in one workflow task, whose completion may have 4 MB. */
const batchBytes = 1_000_000;

async function sendEmails(doing: Doing, action: Extract<ChainAction, { action: 'sendEmails' }>): Promise<Done> {
  const attempts = doing.effort === 'once' ? 1 : attemptsWithin(doing.chain.retryBudgetSeconds);
  const { subject, body, bodyHtml } = action;
  const deliveries = new Map(doing.deliveries.map((delivery) => [delivery.recipient, delivery]));
  const open = action.recipients.filter((recipient) => !deliveries.get(recipient)?.sent);
  const batchSize = Math.max(1, Math.floor(batchBytes / (3 * (subject.length + body.length + bodyHtml.length) + 1000)));
  const failures: FailedAttempt[] = [];
  let [most, skipped] = [0, undefined as string | undefined];
  for (let from = 0; from < open.length; from += batchSize) {
    await Promise.all(
      open.slice(from, from + batchSize).map(async (recipient) => {
        try {
          const activities = ordinary(doing, `sendEmail/${action.recipients.indexOf(recipient)}`, attempts);
          const result = await activities.sendEmail({ ...refOf(doing), recipient, subject, body, bodyHtml });
          most = Math.max(most, result.attempts);
          if (result.skipped === undefined) deliveries.set(recipient, { recipient, sent: true });
          else skipped = result.skipped;
        } catch (error) {
          const failure = readFailure(error);
          most = Math.max(most, failure.attempts);
          failures.push(failure);
          deliveries.set(recipient, { recipient, sent: false, error: failure.message });
        }
      }),
    );
  }
  // A retryable failure is worth the relay's own tries, whatever the others were.
  const failure = failures.find(({ retryable }) => retryable) ?? failures[0];
  const done: Done = { attempts: most, deliveries: action.recipients.flatMap((recipient) => deliveries.get(recipient) ?? []) };
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
function local({ action }: Doing): Activities {
  return proxyLocalActivities<Activities>({
    ...waiting,
    startToCloseTimeout: '2 seconds',
    retry: { maximumAttempts: 1 },
    summary: actionTitle(action),
  });
}

function ordinary({ action }: Doing, step: string, attempts: number, earlier = 0): Activities {
  const options: ActivityOptions = {
    ...waiting,
    activityId: `${action.index}/${step}`,
    startToCloseTimeout: '30 seconds',
    retry: retryPolicy(attempts, earlier),
    summary: actionTitle(action),
  };
  return proxyActivities<Activities>(options);
}
