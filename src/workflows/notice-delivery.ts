/** Brings one notice to everybody whom it concerns. */

import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../contract/activities.js';
import type { ContactResult, Notice } from '../contract/notices.js';

/** About a day, in which time without workers does not count: 8 attempts in the first 20 minutes, then one every 15 minutes. */
export const dayOfAttempts = {
  initialInterval: '5 seconds',
  backoffCoefficient: 2,
  maximumInterval: '15 minutes',
  maximumAttempts: 104,
} as const;

/** @throws ActivityFailure where a day was not enough to reach everybody. */
export async function NoticeDelivery(notice: Notice): Promise<ContactResult[]> {
  const isTest = notice.kind === 'test';
  const { deliverNotice } = proxyActivities<Activities>({
    startToCloseTimeout: isTest ? '20 seconds' : '2 minutes',
    retry: isTest ? { maximumAttempts: 1 } : dayOfAttempts,
    summary: `notice: ${notice.kind}`,
  });
  return deliverNotice(notice);
}
