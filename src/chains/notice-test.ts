/** A test notice, run as a workflow so that it takes the way of every notice. */

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { companyKey } from '../contract/search-attributes.js';
import type { NoticeTest } from '../workflows/notice-test.js';

/** How long the test may take, from its start to the last contact. */
export const noticeTestTimeoutMs = 25_000;

export function runNoticeTest(client: Client, taskQueue: string, companyId: string, relayId: string | undefined) {
  const notice = { companyId, at: new Date().toISOString(), relayId };
  return client.withDeadline(Date.now() + noticeTestTimeoutMs + 2_000, () =>
    client.workflow.execute<typeof NoticeTest>('NoticeTest', {
      workflowId: `relay-notice-test:${companyId}:${randomUUID()}`,
      taskQueue,
      args: [notice],
      workflowExecutionTimeout: noticeTestTimeoutMs,
      typedSearchAttributes: [{ key: companyKey, value: companyId }],
      staticSummary: `${companyId}: test notice`,
      priority: { fairnessKey: companyId },
    }),
  );
}
