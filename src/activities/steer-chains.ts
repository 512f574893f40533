/** Steers one batch of chains of a bulk order: signals the selected actions, and reads their states afterwards. */

import { setTimeout } from 'node:timers/promises';
import { activityInfo, Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import type { ActionStatus } from '../chain/action-status.js';
import { isRetry } from '../chain/allowed-verbs.js';
import { chainOfWorkflow } from '../chain/chain.js';
import { type ActionState, actionStates, foundNobody, isToRedo, type Outcomes } from '../chain/outcome.js';
import type { Issue } from '../chain/request.js';
import { cutShort } from '../chain/text.js';
import type { Activities } from '../contract/activities.js';
import { actionsMeant, addProgress, type BulkOrder, meansFailed, mostAttempts, noProgress } from '../contract/bulk.js';
import type { BulkProgress } from '../contract/chain-resource.js';
import { signalOf, statusQuery } from '../contract/messages.js';
import { Problem, Rejection } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { heldForCause } from '../temporal/bulk.js';
import { correctAction, readAccepted } from '../temporal/mend.js';
import { describeChain, isBusy } from '../temporal/read.js';
import { admitRecipients } from '../temporal/recipients.js';
import { changesSteps, movedAssignment, retryChain } from '../temporal/steer.js';
import type { Deps } from './effect.js';

interface SteeringDeps extends Pick<Deps, 'client' | 'log'> {
  store: {
    causes: Pick<Store['causes'], 'heldFor'>;
    chains: Pick<Store['chains'], 'steered'>;
    settings: Pick<Store['settings'], 'of'>;
    usage: Pick<Store['usage'], 'of' | 'add' | 'settle'>;
  };
}

const answerTimeoutMs = 10_000; // how long to wait while a chain is busy: its workflow task may be trying an effect
/** The time limit for all calls about one chain. Must be shorter than the heartbeat timeout in workflows/bulk-steering.ts. */
const chainTimeoutMs = 20_000;
/** How long to wait until the steered actions end or fail. A local try takes at most 2 seconds. */
const outcomeTimeoutMs = 3_000;
const mostRefusals = 10; // the maximum number of reasons in the report of one chain

/** The result for one chain: the numbers of steered and refused actions, reasons of refusals, and the states a moment later. */
const outcomeSchema = z.object({
  actions: z.number(),
  refused: z.number(),
  refusals: z.array(z.string()),
  states: z.array(z.enum(actionStates)).default([]),
  nobodyFound: z.number().optional(),
});
type Outcome = z.infer<typeof outcomeSchema>;
const outcomesSchema = z.record(z.string(), outcomeSchema); // keyed by workflow id; stored in the heartbeat for the next attempt
const steeredOnly = (actions: number): Outcome => ({ actions, refused: 0, refusals: [], states: [] });

export function steerChains({ client, log, store }: SteeringDeps): Activities['steerChains'] {
  return async ({ order, workflowIds }) => {
    const { attempt, heartbeatDetails } = activityInfo();
    const { bulkId, verb } = order;
    const heldOf = await heldForCause(store, order.companyId, order.actions);
    const outcomes = outcomesSchema.safeParse(heartbeatDetails).data ?? {};
    // Ignore an error: if the database does not answer, the limits use the counts of this process.
    if (order.correction) await store.usage.settle(workflowIds.map((id) => chainOfWorkflow(id)?.companyId ?? '')).catch(() => {});
    const settled = await Promise.allSettled(
      workflowIds.map(async (workflowId) => {
        const steered = () => steer({ client, store, heldOf }, workflowId, order);
        outcomes[workflowId] ??= await client.withDeadline(Date.now() + chainTimeoutMs, steered);
        Context.current().heartbeat(outcomes satisfies z.infer<typeof outcomesSchema>);
        return outcomes[workflowId];
      }),
    );
    const rejected = settled.find((result) => result.status === 'rejected');
    if (rejected && attempt < mostAttempts) throw rejected.reason;
    return settled
      .map((result, place): BulkProgress => {
        const workflowId = workflowIds[place] ?? '';
        if (result.status === 'fulfilled') {
          const { actions, refused, refusals, states, nobodyFound } = result.value;
          const [steered, unchanged] = [actions > 0 ? 1 : 0, actions + refused > 0 ? 0 : 1];
          const failures = refusals.map((error) => ({ workflowId, error }));
          const outcomes: Outcomes = {};
          for (const state of states) outcomes[state] = (outcomes[state] ?? 0) + 1;
          return { ...noProgress, done: 1, steered, actions, unchanged, refused, outcomes, nobodyFound, failures };
        }
        log.warn({ err: result.reason, workflowId, bulkId, verb }, 'a chain could not be steered');
        const error = result.reason instanceof Error ? result.reason.message : String(result.reason);
        return { ...noProgress, done: 1, failed: 1, failures: [{ workflowId, error }] };
      })
      .reduce(addProgress, noProgress);
  };
}

async function steer(
  { client, store, heldOf }: Pick<SteeringDeps, 'client' | 'store'> & { heldOf: Awaited<ReturnType<typeof heldForCause>> },
  workflowId: string,
  { verb, actions, by, bulkId, correction, recipientsPerDay = Number.POSITIVE_INFINITY }: BulkOrder,
): Promise<Outcome> {
  const handle = client.workflow.getHandle(workflowId);
  const description = await describeChain(client, workflowId, Date.now() + answerTimeoutMs);
  const status = description?.status.name;
  const isOpen = status === 'RUNNING' || (status === 'FAILED' && meansFailed(actions, true));
  const { attempt, scheduledTimestampMs } = activityInfo();
  if (!description || (!isOpen && attempt === 1)) return steeredOnly(0);
  if (isBusy(description)) throw new Error('the chain was busy with one of its steps: try again later');
  try {
    const view = await handle.query(statusQuery);
    // An earlier attempt may have steered this chain, but Temporal can lose the last heartbeat of an attempt.
    const bulk = `${by} (bulk ${bulkId})`;
    const isSteered = ({ steered }: ActionStatus) => steered?.some(({ by }) => by === bulk) ?? false;
    const done = view.actions.filter(isSteered).length;
    const cancelled = (description.closeTime?.getTime() ?? 0) > scheduledTimestampMs && status === 'CANCELLED';
    const inCancelled = view.actions.filter(({ state }) => state === 'cancelled').length;
    if (!isOpen) return steeredOnly(verb === 'cancel' && cancelled ? inCancelled : done);
    const { companyId, chainId } = chainOfWorkflow(workflowId) ?? { companyId: '', chainId: '' };
    const chain = { ...view, chainId, workflowId, closedAt: description.closeTime?.toISOString() };
    if (verb === 'runNow' && done > 0) return addStates(steeredOnly(done), isSteered); // only the first attempt knows what is next
    const { indexes, whole } = actionsMeant(verb, actions, chain, heldOf(chainId));
    if (whole) {
      await handle.cancel();
      return addStates(steeredOnly(done + indexes.length), ({ index }) => indexes.includes(index));
    }
    const accepted = correction && indexes.length > 0 ? await readAccepted(client, chain) : [];
    const admit = admitRecipients(store, recipientsPerDay);
    const outcome = steeredOnly(done);
    const covered = new Set<number>(); // the edit of another action has also edited these actions
    for (const index of indexes) {
      if (covered.has(index)) continue;
      const action = view.actions.find((action) => action.index === index);
      const mended = action && correction ? await correctAction(client, chain, action, correction, accepted) : undefined;
      const { edit, problem, recipients = [] } = mended ?? {};
      if (verb === 'mend' && !edit && !problem) continue;
      const refusal = problem ?? (recipients.length > 0 ? await refusalOf(admit(companyId, recipients)) : undefined);
      if (refusal !== undefined) {
        outcome.refused += 1;
        if (outcome.refused <= mostRefusals) outcome.refusals.push(cutShort(`action ${index}: ${refusal}`, 300));
        continue;
      }
      const steering = { index, by: bulk, ...edit };
      try {
        if (isRetry(verb) && meansFailed(actions, status === 'FAILED')) await retryChain(client, chain, steering, verb);
        else await handle.signal(signalOf(verb), steering);
      } catch (error) {
        if (recipients.length > 0) store.usage.add(companyId, { actions: 0, recipients: recipients.length }, -1);
        throw error;
      }
      const also = indexes.filter((other) => edit?.others?.some(({ index }) => index === other));
      for (const other of also) covered.add(other);
      outcome.actions += 1 + also.length;
      if (action && edit) await store.chains.steered({ companyId, chainId }, ...movedAssignment(view.actions, action, edit));
    }
    if (outcome.actions > 0 && changesSteps(verb) && verb !== 'mend') await store.chains.steered({ companyId, chainId });
    return outcome.actions > 0 ? addStates(outcome, (action) => indexes.includes(action.index) && isSteered(action)) : outcome;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || error instanceof Problem) return steeredOnly(0);
    throw error;
  }

  /** Waits until the steered actions have ended or failed again. If the chain does not answer, the order still succeeds. */
  async function addStates(outcome: Outcome, isSteered: (action: ActionStatus) => boolean): Promise<Outcome> {
    const until = Date.now() + outcomeTimeoutMs;
    for (let pauseMs = 50; ; pauseMs *= 2) {
      const now = await describeChain(client, workflowId, until).catch(() => undefined);
      const view = now && !isBusy(now) ? await handle.query(statusQuery).catch(() => undefined) : undefined;
      const steered = view?.actions.filter(isSteered) ?? [];
      const isDone = steered.length >= outcome.actions && steered.every(({ state }) => !movingStates.includes(state));
      if (isDone || Date.now() + pauseMs > until) {
        const again = isRetry(verb) ? steered.filter(({ state }) => state === 'needs-attention' || isToRedo(state)) : [];
        const failures = again.map(({ index, error }) =>
          cutShort(`action ${index} failed again (${error?.title ?? error?.message ?? 'unknown reason'})`, 300),
        );
        const refusals = [...outcome.refusals, ...failures].slice(0, mostRefusals);
        const unseen = Array.from({ length: Math.max(0, outcome.actions - steered.length) }, () => 'running' as const);
        const nobodyFound = steered.filter(foundNobody).length || undefined;
        return { ...outcome, refusals, states: [...steered.map(({ state }) => state), ...unseen], nobodyFound };
      }
      await setTimeout(pauseMs);
    }
  }
}

const movingStates: readonly ActionState[] = ['pending', 'running', 'scheduled'];

async function refusalOf(admitted: Promise<Issue[]>): Promise<string | undefined> {
  const [issue] = await admitted.catch((error: unknown) => {
    if (error instanceof Rejection) return [{ detail: error.detail }];
    throw error;
  });
  return issue?.detail;
}
