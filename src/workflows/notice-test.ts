/** Sends a test notice to every contact, once, on the way that notices take. */

import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../contract/activities.js';
import type { ContactResult, TestNotice } from '../notices/test-notice.js';

export async function NoticeTest(notice: TestNotice): Promise<ContactResult[]> {
  const { testNotice } = proxyActivities<Activities>({
    startToCloseTimeout: '20 seconds',
    retry: { maximumAttempts: 1 },
    summary: 'sends a test notice to every contact',
  });
  return testNotice(notice);
}
