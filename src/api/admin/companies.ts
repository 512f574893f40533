/** `/admin/companies`: who uses the relay, and with which settings. */

import { Hono } from 'hono';
import { z } from 'zod';
import { isEmailAddress } from '../../chain/address.js';
import type { Issue } from '../../chain/request.js';
import { isTimeZone } from '../../chain/timestamp/index.js';
import { mailSettingsSchema, notifySchema, platformSettingsSchema, ticketingSettingsSchema } from '../../connectors/settings.js';
import { Problem } from '../../contract/problem.js';
import type { StoredCompany } from '../../store/companies.js';
import type { Company } from '../../store/store.js';
import type { AdminOptions } from '../admin.js';
import type { Authenticated } from '../authentication.js';
import { type JsonObject, label, parseAs, readObject, readPage } from '../body.js';
import { invalid, notFound } from '../problem.js';
import { keepConnection, keepMail, keepNotify, keepSecret, mask, redactConnection, redactMail, redactNotify } from './secrets.js';

export const companyId = /^[\w-]{1,64}$/;

/** Every address one to which mail can be sent, the secret one to sign with. */
export const notifyRequest = notifySchema.check(({ value, issues }) => {
  for (const [index, email] of (value.emails ?? []).entries()) {
    if (!isEmailAddress(email))
      issues.push({ code: 'custom', input: email, path: ['emails', index], message: 'is no e-mail address' });
  }
  if (value.webhookSecret !== undefined && !isWebhookSecret(value.webhookSecret))
    issues.push({
      code: 'custom',
      input: undefined,
      path: ['webhookSecret'],
      message: 'must be whsec_ and 24 to 64 bytes in base64',
    });
});

/** Credentials belong into `auth`, where they are kept as secrets; a path is appended, which a query or fragment would swallow. */
function checkBaseUrl({ value, issues }: z.core.ParsePayload<{ baseUrl: string }>): void {
  const { username, password, search, hash } = new URL(value.baseUrl);
  const report = (message: string) => issues.push({ code: 'custom', input: value, path: ['baseUrl'], message });
  if (username !== '' || password !== '') report('must not contain credentials: send them as auth');
  if (search !== '' || hash !== '') report('must not have a query or fragment');
}

function isWebhookSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

const address = z.string().refine((text) => isEmailAddress(text), 'is no e-mail address');

/**
 * A company as PUT takes it. What is left out stays as it is; `null` removes it, and makes `timeZone` UTC again.
 * A section that is given replaces the stored one, except for its secrets: see secrets.ts.
 */
export const companyRequest = z.strictObject({
  name: label,
  timeZone: z
    .string()
    .refine(isTimeZone, 'must be an IANA name such as Europe/Berlin, or ±hh:mm')
    .nullish()
    .describe('An IANA name or `±hh:mm`; UTC unless set.'),
  notify: notifyRequest.nullish().describe('Who is told when something fails.'),
  platform: platformSettingsSchema.check(checkBaseUrl).nullish().describe('Where assignments live.'),
  ticketing: ticketingSettingsSchema.check(checkBaseUrl).nullish().describe('Where tickets live.'),
  mail: mailSettingsSchema
    .extend({ from: address.optional(), replyTo: address.optional() })
    .nullish()
    .describe("The sender of the company's e-mails, and its own mail server."),
  webhookSecret: z
    .string()
    .refine(isWebhookSecret, 'must be whsec_ and 24 to 64 bytes in base64, as the sender of the webhooks shows it')
    .nullish()
    .describe("The secret of the webhook's signatures (Standard Webhooks): once it is set, nothing unsigned is taken."),
});

/** A company as answers show it, its secrets as `***`. */
export const companyResponse = z.object({
  companyId: z.string(),
  name: z.string(),
  timeZone: z.string(),
  notify: notifySchema.optional(),
  platform: platformSettingsSchema.optional(),
  ticketing: ticketingSettingsSchema.optional(),
  mail: mailSettingsSchema.optional(),
  webhookSecret: z.string().optional(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export const companiesResponse = z.object({ companies: z.array(companyResponse), nextCursor: z.string().optional() });

export function companyRoutes({ store, operatorEmail }: AdminOptions): Hono<Authenticated> {
  return new Hono<Authenticated>()
    .get('/admin/companies', async (c) => {
      const { items, next } = await store.companies.list(readPage(c, companyId));
      return c.json(companiesResponse.parse({ companies: items.map(shown), nextCursor: next }));
    })
    .put('/admin/companies/:companyId', async (c) => {
      const id = c.req.param('companyId');
      if (!companyId.test(id)) {
        throw new Problem('invalid-company-id', 'A company id is 1 to 64 letters, digits, _ or -.');
      }
      const body = await readObject(c);
      const change = (stored: StoredCompany | undefined) => readCompany(id, body, stored, operatorEmail);
      const { company, created } = await store.companies.put(id, change, c.get('actor'));
      return c.json(companyResponse.parse(shown(company)), created ? 201 : 200, { Location: `/admin/companies/${id}` });
    })
    .get('/admin/companies/:companyId', async (c) => {
      const company = await store.companies.get(c.req.param('companyId'));
      if (!company) throw noCompany(c.req.param('companyId'));
      return c.json(companyResponse.parse(shown(company)));
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
    ...(notify && { notify }),
    ...(platform && { platform }),
    ...(ticketing && { ticketing }),
    ...(mail && { mail }),
    ...(webhookSecret && { webhookSecret }),
  };
}

function shown({ notify, platform, ticketing, mail, webhookSecret, ...company }: StoredCompany): z.input<typeof companyResponse> {
  return {
    ...company,
    ...(notify && { notify: redactNotify(notify) }),
    ...(platform && { platform: redactConnection(platform) }),
    ...(ticketing && { ticketing: redactConnection(ticketing) }),
    ...(mail && { mail: redactMail(mail) }),
    ...(webhookSecret && { webhookSecret: mask }),
    createdAt: company.createdAt.toISOString(),
    updatedAt: company.updatedAt.toISOString(),
  };
}
