/** `/admin/companies/{companyId}/notices/test`: whether notices arrive, tried out. */

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { noticeTestRequest, noticeTestResponse } from '../../contract/notice-test.js';
import { companyKey } from '../../contract/search-attributes.js';
import type { ContactResult } from '../../notices/test-notice.js';
import type { Store } from '../../store/store.js';
import type { NoticeTest } from '../../workflows/notice-test.js';
import { type Authenticated, requireAdmin } from '../authentication.js';
import { limitBody, parseAs, readObject } from '../body.js';
import { temporalUnavailable } from '../problem.js';
import { noCompany } from './companies.js';
import { noRule } from './rules.js';

export interface NoticeOptions {
  store: Pick<Store, 'companies' | 'rules'>;
  client: Client;
  taskQueue: string;
  adminToken: string;
  log: Logger;
}

/** How long the test may take, from its start to the last contact. */
const timeoutMs = 25_000;

export function noticeRoutes({ store, client, taskQueue, adminToken, log }: NoticeOptions): Hono<Authenticated> {
  const path = '/admin/companies/:companyId/notices/test';
  const run = async (companyId: string, relayId: string | undefined): Promise<ContactResult[]> => {
    const at = new Date().toISOString();
    return client.withDeadline(Date.now() + timeoutMs + 2_000, () =>
      client.workflow.execute<typeof NoticeTest>('NoticeTest', {
        workflowId: `relay-notice-test:${companyId}:${randomUUID()}`,
        taskQueue,
        args: [{ companyId, at, ...(relayId !== undefined && { relayId }) }],
        workflowExecutionTimeout: timeoutMs,
        typedSearchAttributes: [{ key: companyKey, value: companyId }],
        staticSummary: `${companyId}: test notice`,
        priority: { fairnessKey: companyId },
      }),
    );
  };
  return new Hono<Authenticated>().use(path, requireAdmin(adminToken), limitBody(16 * 1024)).post(path, async (c) => {
    const companyId = c.req.param('companyId');
    const { relayId } = parseAs(noticeTestRequest, await readObject(c));
    if (!(await store.companies.get(companyId))) throw noCompany(companyId);
    if (relayId !== undefined && !(await store.rules.get(companyId, relayId))) throw noRule(companyId, relayId);
    try {
      return c.json(noticeTestResponse.parse({ contacts: await run(companyId, relayId) }));
    } catch (error) {
      log.error({ err: error, companyId }, 'a test notice did not end');
      const detail = `What became of the test was not told within ${timeoutMs / 1000} seconds: see whether Temporal and a worker are running.`;
      throw temporalUnavailable(detail);
    }
  });
}
