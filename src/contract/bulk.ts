/** A bulk order applies one verb to selected actions of many chains. */

import type { ActionStatus } from '../chain/action-status.js';
import { type BulkVerb, type ChainFacts, isRetry, verbsFor } from '../chain/allowed-verbs.js';
import type { Correction } from '../chain/correct.js';
import { actionStates, hasEnded } from '../chain/outcome.js';
import type { BulkProgress } from './chain-resource.js';

/** Selects actions of a chain. An absent field allows every value. */
export interface ActionFilter extends Partial<Pick<ActionStatus, 'assignmentId' | 'relayId'>> {
  reason?: string; // the failure type of held or failed actions
  failed?: boolean; // selects failed actions instead of held actions
  chosen?: boolean; // chains were chosen by id: selects the failed actions of failed chains, and the held actions of open chains
  causeId?: string;
}

export interface BulkOrder {
  bulkId: string;
  companyId?: string; // absent if the order selects chains of all companies
  verb: BulkVerb;
  actions: ActionFilter;
  correction?: Correction; // for `mend` only
  by: string;
  recipientsPerDay?: number; // for `mend` only: the limit for companies without their own limit
}

/** The maximum number of attempts at a batch of chains. After the last one, the order leaves out the chains that still fail. */
export const mostAttempts = 5;

/**
 * Selects actions. `runNow` selects only the actions of a chain that are due next, because later actions may depend on them.
 * @param held - indexes of actions held for `causeId`. @returns `whole`: whether to cancel the whole chain.
 */
export function actionsMeant(
  verb: BulkVerb,
  filter: ActionFilter,
  chain: ChainFacts & { actions: readonly ActionStatus[] },
  held?: readonly number[],
): { indexes: number[]; whole: boolean } {
  const { assignmentId, relayId, reason } = filter;
  const failed = meansFailed(filter, chain.status === 'failed');
  const left = chain.actions.filter(({ state }) => !hasEnded(state));
  const meant = (failed ? chain.actions : left).filter(
    (action) =>
      verbsFor(chain, action).includes(verb) &&
      (!held || held.includes(action.index)) &&
      (!isRetry(verb) || action.state === (failed ? 'failed' : 'needs-attention')) &&
      (assignmentId === undefined || action.assignmentId === assignmentId) &&
      (relayId === undefined || action.relayId === relayId) &&
      (reason === undefined || (['needs-attention', 'failed'].includes(action.state) && action.error?.type === reason)),
  );
  const [next] = meant.map(({ runAt }) => runAt).sort();
  const chosen = verb === 'runNow' ? meant.filter(({ runAt }) => runAt === next) : meant;
  return {
    indexes: chosen.map(({ index }) => index),
    whole: verb === 'cancel' && meant.length > 0 && meant.length === left.length,
  };
}

/** Whether the order selects failed actions instead of held actions. @param hasFailed - whether the chain has failed. */
export function meansFailed({ failed = false, chosen = false }: ActionFilter, hasFailed: boolean): boolean {
  return failed || (chosen && hasFailed);
}

export const noProgress: BulkProgress = { done: 0, steered: 0, actions: 0, unchanged: 0, failed: 0, refused: 0, failures: [] };

/** Adds two reports of progress. Keeps the first ten failures. */
export function addProgress(one: BulkProgress, other: BulkProgress): BulkProgress {
  const outcomes = { ...one.outcomes };
  for (const state of actionStates) if (other.outcomes?.[state]) outcomes[state] = (outcomes[state] ?? 0) + other.outcomes[state];
  const nobodyFound = (one.nobodyFound ?? 0) + (other.nobodyFound ?? 0) || undefined;
  const some = { ...(Object.keys(outcomes).length > 0 && { outcomes }), ...(nobodyFound && { nobodyFound }) };
  const sums = { ...one, ...some, failures: [...one.failures, ...other.failures].slice(0, 10) };
  for (const count of ['done', 'steered', 'actions', 'unchanged', 'failed', 'refused'] as const) sums[count] += other[count];
  return sums;
}
