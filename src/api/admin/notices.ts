/** `/admin/companies/{companyId}/notices/test`: whether notices arrive, tried out. */

import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { noticeTestRequest, noticeTestResponse } from '../../contract/notify.js';
import { Problem } from '../../contract/problem.js';
import { sendTest, testTimeoutMs } from '../../notices/rule-notices.js';
import type { Store } from '../../store/store.js';
import { type Route, route } from '../route.js';
import { noCompany, noRule } from './missing.js';

interface NoticeOptions {
  store: Pick<Store, 'companies' | 'rules'>;
  client: Client;
  taskQueue: string;
  log: Logger;
}

export function noticeRoutes({ store, client, taskQueue, log }: NoticeOptions): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/admin/companies/:companyId/notices/test',
        id: 'testNotices',
        access: 'admin',
        summary: 'Send a test notice to every contact',
        description:
          'On the way that notices take, once, now. The answer says of each contact whether it arrived there, and if not, why.',
        body: noticeTestRequest,
        bodyOptional: true,
        maxBodyBytes: 16 * 1024,
        answers: { 200: { description: 'What became of it at each contact.', body: noticeTestResponse } },
        problems: ['not-found', 'temporal-unavailable'],
      },
      async (c, { body: { relayId } }) => {
        const companyId = c.req.param('companyId');
        if (!(await store.companies.get(companyId))) throw noCompany(companyId);
        if (relayId !== undefined && !(await store.rules.get(companyId, relayId))) throw noRule(companyId, relayId);
        try {
          return c.json({ contacts: await sendTest(client, taskQueue, companyId, relayId) });
        } catch (error) {
          log.error({ err: error, companyId }, 'a test notice did not end');
          const seconds = testTimeoutMs / 1000;
          throw new Problem(
            'temporal-unavailable',
            `What became of the test was not told within ${seconds} seconds: see whether Temporal and a worker are running.`,
          );
        }
      },
    ),
  ];
}
