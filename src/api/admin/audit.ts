/** `/admin/audit` and `/admin/companies/{companyId}/audit`: who changed or steered what, and when. */

import { z } from 'zod';
import { auditResponse } from '../../contract/audit.js';
import type { Store } from '../../store/store.js';
import { numberCursor, pageOf, pageQuery } from '../body.js';
import { type Route, route } from '../route.js';
import { noCompany } from './missing.js';

const query = pageQuery(numberCursor);

export function auditRoutes({ audit, companies }: Store): Route[] {
  const list = async (page: z.infer<typeof query>, companyId: string | undefined) => {
    const { items, next } = await audit.list({ ...pageOf(page), companyId });
    return auditResponse.parse({ entries: items, nextCursor: next });
  };
  return [
    route(
      {
        method: 'get',
        path: '/admin/audit',
        id: 'listAudit',
        access: 'admin',
        summary: 'List what was done',
        query: query.extend({ companyId: z.string().optional().describe('Only of this company.') }),
        answers: { 200: { description: 'The newest first.', body: auditResponse } },
      },
      async (c, { query: { companyId, ...page } }) => c.json(await list(page, companyId)),
    ),
    route(
      {
        method: 'get',
        path: '/admin/companies/:companyId/audit',
        id: 'listCompanyAudit',
        access: 'admin',
        summary: 'List what was done to a company',
        query,
        answers: { 200: { description: 'The newest first.', body: auditResponse } },
        problems: ['not-found'],
      },
      async (c, { query }) => {
        const companyId = c.req.param('companyId');
        if (!(await companies.get(companyId))) throw noCompany(companyId);
        return c.json(await list(query, companyId));
      },
    ),
  ];
}
