/** `/admin/companies`: who uses the relay, and with which settings. */

import { companyIdPattern } from '../../chain/chain.js';
import {
  companiesResponse,
  companyPatch,
  companyRequest,
  companySchema,
  type NewCompany,
  type StoredCompany,
} from '../../contract/company.js';
import { hasContact } from '../../contract/notify.js';
import { Problem } from '../../contract/problem.js';
import { mergePatch, redact } from '../../contract/secrets.js';
import type { Store } from '../../store/store.js';
import { pageOf, pageQuery } from '../body.js';
import { invalid } from '../problems.js';
import { type Route, route } from '../route.js';
import { mediaTypes, readSettings } from './merge.js';
import { noCompany } from './missing.js';

/** @param operatorEmail - is told where a company has nobody to notify; without it every company must name somebody. */
export function companyRoutes({ companies }: Store, operatorEmail: string | undefined): Route[] {
  const checked = (companyId: string, settings: Omit<NewCompany, 'companyId'>): NewCompany => {
    const { notify } = settings;
    if (operatorEmail !== undefined || (notify && hasContact(notify))) return { companyId, ...settings };
    const detail =
      'must name somebody to tell when something fails: emails or webhookUrl (or the operator sets RELAY_OPERATOR_EMAIL)';
    throw invalid([{ pointer: '/notify', detail }]);
  };
  const location = { Location: 'The path of what was made.' };
  return [
    route(
      {
        method: 'get',
        path: '/admin/companies',
        id: 'listCompanies',
        access: 'admin',
        summary: 'List the companies',
        query: pageQuery(companyIdPattern),
        answers: { 200: { description: 'By company id.', body: companiesResponse } },
      },
      async (c, { query }) => {
        const { items, next } = await companies.list(pageOf(query));
        return c.json({ companies: items.map(shown), nextCursor: next });
      },
    ),
    route(
      {
        method: 'put',
        path: '/admin/companies/:companyId',
        id: 'putCompany',
        access: 'admin',
        summary: 'Make or change a company',
        description:
          'What is left out stays as it is, and `null` removes it. A section that is given replaces the stored one, except for' +
          ' its secrets: they are write-only, shown as `***`, kept where they are left out, and removed by `null`.',
        rawBody: companyRequest,
        answers: {
          200: { description: 'The company is changed.', body: companySchema, headers: location },
          201: { description: 'The company is made.', body: companySchema, headers: location },
        },
        problems: ['invalid-body', 'invalid-company-id'],
      },
      async (c, { actor }) => {
        const id = c.req.param('companyId');
        if (!companyIdPattern.test(id)) {
          throw new Problem('invalid-company-id', 'A company id is 1 to 64 letters, digits, _ or -.');
        }
        const read = await readSettings(c, companyRequest);
        const change = (stored: StoredCompany | undefined) => checked(id, read(stored, { timeZone: stored?.timeZone }));
        const { company, created } = await companies.put(id, change, actor);
        return c.json(shown(company), created ? 201 : 200, { Location: `/admin/companies/${id}` });
      },
    ),
    route(
      {
        method: 'patch',
        path: '/admin/companies/:companyId',
        id: 'changeCompany',
        access: 'admin',
        summary: 'Change a company',
        description:
          'A JSON merge patch (RFC 7396): what is left out stays as it is, also within a section, and `null` removes it.' +
          ' Secrets are kept as with PUT; `auth` of another `type` begins anew.',
        rawBody: companyPatch,
        mediaTypes,
        answers: { 200: { description: 'The company as it is now.', body: companySchema } },
        problems: ['invalid-body', 'not-found'],
      },
      async (c, { actor }) => {
        const id = c.req.param('companyId');
        const read = await readSettings(c, companyRequest, mergePatch);
        const change = (stored: StoredCompany | undefined) => {
          if (!stored) throw noCompany(id);
          return checked(id, read(stored));
        };
        const { company } = await companies.put(id, change, actor);
        return c.json(shown(company));
      },
    ),
    route(
      {
        method: 'get',
        path: '/admin/companies/:companyId',
        id: 'getCompany',
        access: 'admin',
        summary: 'Read a company',
        answers: { 200: { description: 'The company, its secrets as `***`.', body: companySchema } },
        problems: ['not-found'],
      },
      async (c) => {
        const company = await companies.get(c.req.param('companyId'));
        if (!company) throw noCompany(c.req.param('companyId'));
        return c.json(shown(company));
      },
    ),
    route(
      {
        method: 'delete',
        path: '/admin/companies/:companyId',
        id: 'deleteCompany',
        access: 'admin',
        summary: 'Delete a company with its rules, tokens and keys',
        answers: { 204: { description: 'It is gone.' } },
        problems: ['not-found'],
      },
      async (c, { actor }) => {
        const id = c.req.param('companyId');
        if (!(await companies.delete(id, actor))) throw noCompany(id);
        return c.body(null, 204);
      },
    ),
  ];
}

function shown(company: StoredCompany): StoredCompany {
  return redact(companySchema, company);
}
