/** `/admin/audit` and `/admin/companies/{companyId}/audit`: who changed or steered what, and when. */

import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { AdminOptions } from '../admin.js';
import type { Authenticated } from '../authentication.js';
import { numberCursor, readPage } from '../body.js';
import { noCompany } from './companies.js';

export const auditResponse = z.object({
  entries: z.array(
    z.object({
      auditId: z.string(),
      at: z.iso.datetime(),
      actor: z.object({ kind: z.enum(['admin', 'key']), keyId: z.string().optional(), name: z.string().optional() }),
      action: z.string().describe('`<subject>.<verb>`, such as `rule.create`.'),
      companyId: z.string().optional(),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  nextCursor: z.string().optional(),
});

export function auditRoutes({ store }: AdminOptions): Hono<Authenticated> {
  const answer = async (c: Context, companyId: string | undefined) => {
    const { items, next } = await store.audit.list({
      ...readPage(c, numberCursor),
      ...(companyId !== undefined && { companyId }),
    });
    const entries = items.map((entry) => ({ ...entry, at: entry.at.toISOString() }));
    return c.json(auditResponse.parse({ entries, nextCursor: next }));
  };
  return new Hono<Authenticated>()
    .get('/admin/audit', (c) => answer(c, c.req.query('companyId')))
    .get('/admin/companies/:companyId/audit', async (c) => {
      const companyId = c.req.param('companyId');
      if (!(await store.companies.get(companyId))) throw noCompany(companyId);
      return answer(c, companyId);
    });
}
