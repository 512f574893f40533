/** `/admin/companies`: who uses the relay, and with which settings. */

import { Hono } from 'hono';
import { companyIdPattern } from '../../chain/ids.js';
import type { Issue } from '../../chain/request.js';
import { type Company, companiesResponse, companyRequest, companySchema, type StoredCompany } from '../../contract/company.js';
import { Problem } from '../../contract/problem.js';
import { mask } from '../../contract/secrets.js';
import type { AdminOptions } from '../admin.js';
import type { Authenticated } from '../authentication.js';
import { type JsonObject, parseAs, readObject, readPage } from '../body.js';
import { invalid, notFound } from '../problem.js';
import { keepConnection, keepMail, keepNotify, keepSecret, redactConnection, redactMail, redactNotify } from './secrets.js';

export function companyRoutes({ store, operatorEmail }: AdminOptions): Hono<Authenticated> {
  return new Hono<Authenticated>()
    .get('/admin/companies', async (c) => {
      const { items, next } = await store.companies.list(readPage(c, companyIdPattern));
      return c.json(companiesResponse.parse({ companies: items.map(shown), nextCursor: next }));
    })
    .put('/admin/companies/:companyId', async (c) => {
      const id = c.req.param('companyId');
      if (!companyIdPattern.test(id)) {
        throw new Problem('invalid-company-id', 'A company id is 1 to 64 letters, digits, _ or -.');
      }
      const body = await readObject(c);
      const change = (stored: StoredCompany | undefined) => readCompany(id, body, stored, operatorEmail);
      const { company, created } = await store.companies.put(id, change, c.get('actor'));
      return c.json(companySchema.parse(shown(company)), created ? 201 : 200, { Location: `/admin/companies/${id}` });
    })
    .get('/admin/companies/:companyId', async (c) => {
      const company = await store.companies.get(c.req.param('companyId'));
      if (!company) throw noCompany(c.req.param('companyId'));
      return c.json(companySchema.parse(shown(company)));
    })
    .delete('/admin/companies/:companyId', async (c) => {
      const id = c.req.param('companyId');
      if (!(await store.companies.delete(id, c.get('actor')))) throw noCompany(id);
      return c.body(null, 204);
    });
}

export function noCompany(id: string): Problem {
  return notFound(`company ${id}`);
}

function readCompany(
  id: string,
  body: JsonObject,
  stored: StoredCompany | undefined,
  operatorEmail: string | undefined,
): Company {
  const problems: Issue[] = [];
  const settings = parseAs(
    companyRequest,
    {
      ...body,
      timeZone: body.timeZone === undefined ? stored?.timeZone : body.timeZone,
      notify: keepNotify(body.notify, stored?.notify, '/notify', problems),
      platform: keepConnection(body.platform, stored?.platform, '/platform', problems),
      ticketing: keepConnection(body.ticketing, stored?.ticketing, '/ticketing', problems),
      mail: keepMail(body.mail, stored?.mail, '/mail', problems),
      webhookSecret: keepSecret(body.webhookSecret, stored?.webhookSecret),
    },
    problems,
  );
  const { name, timeZone, notify, platform, ticketing, mail, webhookSecret } = settings;
  if (operatorEmail === undefined && !notify?.emails?.length && notify?.webhookUrl === undefined) {
    const detail =
      'must name somebody to tell when something fails: emails or webhookUrl (or the operator sets RELAY_OPERATOR_EMAIL)';
    throw invalid([{ pointer: '/notify', detail }]);
  }
  return {
    companyId: id,
    name,
    timeZone: timeZone ?? 'UTC',
    notify: notify ?? undefined,
    platform: platform ?? undefined,
    ticketing: ticketing ?? undefined,
    mail: mail ?? undefined,
    webhookSecret: webhookSecret ?? undefined,
  };
}

function shown({ notify, platform, ticketing, mail, webhookSecret, ...company }: StoredCompany): StoredCompany {
  return {
    ...company,
    ...(notify && { notify: redactNotify(notify) }),
    ...(platform && { platform: redactConnection(platform) }),
    ...(ticketing && { ticketing: redactConnection(ticketing) }),
    ...(mail && { mail: redactMail(mail) }),
    ...(webhookSecret && { webhookSecret: mask }),
  };
}
