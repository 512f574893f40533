/** `/admin/audit` and `/admin/companies/{companyId}/audit`: who changed or steered what, and when. */

import { type Context, Hono } from 'hono';
import { auditResponse } from '../../contract/audit.js';
import type { AdminOptions } from '../admin.js';
import type { Authenticated } from '../authentication.js';
import { numberCursor, readPage } from '../body.js';
import { noCompany } from './companies.js';

export function auditRoutes({ store }: AdminOptions): Hono<Authenticated> {
  const answer = async (c: Context, companyId: string | undefined) => {
    const { items, next } = await store.audit.list({ ...readPage(c, numberCursor), companyId });
    return c.json(auditResponse.parse({ entries: items, nextCursor: next }));
  };
  return new Hono<Authenticated>()
    .get('/admin/audit', (c) => answer(c, c.req.query('companyId')))
    .get('/admin/companies/:companyId/audit', async (c) => {
      const companyId = c.req.param('companyId');
      if (!(await store.companies.get(companyId))) throw noCompany(companyId);
      return answer(c, companyId);
    });
}
