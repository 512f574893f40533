/** Tells people about an action through the compensation activity `notifyFailure`. */

import { ActivityCancellationType, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/activities.js';
import type { Chain } from '../chain/chain.js';
import type { NoticeKind } from '../chain/notice.js';
import type { ActionStatus } from '../chain/outcome.js';

/** Delivery is retried for a day; cancelling the chain drops it. Never rejects. */
export async function tellPeople(chain: Chain, kind: NoticeKind, index: number, actions: ActionStatus[]): Promise<void> {
  const { notifyFailure } = proxyActivities<Activities>({
    startToCloseTimeout: '2 minutes',
    scheduleToCloseTimeout: '1 day',
    retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '15 minutes' },
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    summary: `notice: action ${index} ${kind}`,
  });
  const { companyId, chainId, receivedAt } = chain;
  try {
    await notifyFailure({ kind, companyId, chainId, index, at: new Date().toISOString(), receivedAt, actions });
  } catch (error) {
    if (!isCancellation(error)) log.error('a notice reached nobody within a day', { kind, index, error });
  }
}
