/** Steering many chains at once: what is done to which of their actions. */

import type { ActionStatus } from '../chain/action-status.js';
import type { Correction } from '../chain/correct.js';
import { type BulkVerb, hasEnded, isOpenTo, isRetry } from '../chain/outcome.js';
import type { BulkProgress } from './chain-resource.js';

/** Which actions of a chain are meant; what is absent means any. */
export interface ActionFilter extends Partial<Pick<ActionStatus, 'assignmentId' | 'relayId'>> {
  reason?: string; // the type of the failure for which it is held, or has failed
  failed?: boolean; // those that have failed, rather than those that are held
  causeId?: string; // those that are held for it
}

export interface BulkOrder {
  bulkId: string;
  companyId?: string; // absent: chains of all companies
  verb: BulkVerb;
  actions: ActionFilter;
  correction?: Correction; // for `mend` alone
  by: string;
}

/**
 * @param held - the indexes of what is held for the cause that is meant; absent: none is.
 * @returns the actions to be steered; `whole` where a cancellation concerns all that is left of the chain.
 */
export function actionsMeant(
  verb: BulkVerb,
  { assignmentId, relayId, reason, failed = false }: ActionFilter,
  actions: readonly ActionStatus[],
  held?: readonly number[],
): { indexes: number[]; whole: boolean } {
  const left = actions.filter(({ state }) => !hasEnded(state));
  const meant = (failed ? actions : left).filter(
    (action) =>
      isOpenTo(verb, action.state) &&
      (!held || held.includes(action.index)) &&
      (!isRetry(verb) || action.state === (failed ? 'failed' : 'needs-attention')) &&
      (assignmentId === undefined || action.assignmentId === assignmentId) &&
      (relayId === undefined || action.relayId === relayId) &&
      (reason === undefined || (['needs-attention', 'failed'].includes(action.state) && action.error?.type === reason)),
  );
  return {
    indexes: meant.map(({ index }) => index),
    whole: verb === 'cancel' && meant.length > 0 && meant.length === left.length,
  };
}

export const noProgress: BulkProgress = { done: 0, steered: 0, actions: 0, unchanged: 0, failed: 0, failures: [] };

/** Both together; of the failures the first ten. */
export function addProgress(one: BulkProgress, other: BulkProgress): BulkProgress {
  const sums = { ...one, failures: [...one.failures, ...other.failures].slice(0, 10) };
  for (const count of ['done', 'steered', 'actions', 'unchanged', 'failed'] as const) sums[count] += other[count];
  return sums;
}
