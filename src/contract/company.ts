/** A company: its settings for outside systems, and its pauses. */

import { z } from 'zod';
import { isEmailAddress } from '../chain/address.js';
import { type Pause, pausable } from '../chain/pause.js';
import { isTimeZone } from '../chain/timestamp/zone.js';
import { isLoopback } from './loopback.js';
import {
  httpUrl,
  isWebhookSecret,
  label,
  notifyRequest,
  notifySchema,
  prose,
  type SetByCompany,
  setByCompanySchema,
} from './notify.js';
import { encrypted, mask, secret } from './secrets.js';

const credential = secret(z.string().min(1).max(4096));

const authSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('bearer'), token: credential }),
    z.strictObject({ type: z.literal('basic'), username: encrypted(z.string().max(256)), password: credential }),
    z.strictObject({
      type: z.literal('headers'),
      headers: z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a header name'), credential),
    }),
  ])
  .meta({ id: 'Auth' });
export type Auth = z.infer<typeof authSchema>;

/** A system that implements the relay's own connector API (docs/connecting-systems.md). */
const httpConnection = z.strictObject({
  kind: z.literal('http'),
  baseUrl: httpUrl,
  auth: authSchema.optional(),
  allowPlainText: z
    .boolean()
    .optional()
    .describe('`true`: `auth` may be sent over unencrypted `http`. Everybody on the way can read it.'),
});

/** Whether credentials would be sent without TLS and without permission. */
export function leaksAuth({ baseUrl, auth, allowPlainText = false }: z.infer<typeof httpConnection>): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return auth !== undefined && protocol === 'http:' && !isLoopback(hostname) && !allowPlainText;
}

const platformSchema = z.discriminatedUnion('kind', [httpConnection]);
export type PlatformSettings = z.infer<typeof platformSchema>;
const ticketingSchema = z.discriminatedUnion('kind', [httpConnection]);
export type TicketingSettings = z.infer<typeof ticketingSchema>;

const mostCount = 1_000_000_000;
const limitsSchema = z
  .strictObject({
    actionsPerDay: z.int().min(0).max(mostCount).optional(),
    recipientsPerDay: z.int().min(0).max(mostCount).optional().describe('E-mail recipients a day.'),
    openChains: z.int().min(0).max(mostCount).optional().describe('Chains open at the same time.'),
  })
  .meta({ id: 'CompanyLimits' });
export type CompanyLimits = z.infer<typeof limitsSchema>;

const domain = z
  .string()
  .max(253)
  .regex(/^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u, 'must be a domain such as example.com');

const mailSettingsSchema = z.strictObject({
  from: encrypted(z.string().max(320)).optional(), // `Name <address>` or an address
  replyTo: encrypted(z.string().max(320)).optional(),
  smtpUrl: secret(z.url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps URL' }).max(2048), shownSmtpUrl).optional(),
  recipientDomains: z
    .array(domain)
    .min(1)
    .max(100)
    .optional()
    .describe('E-mail is sent only to these domains and their subdomains.'),
});

/** The rule for recipients, if the company has `recipientDomains`. */
export function domainsRule(domains: readonly string[]): string {
  return `the company sends e-mail to ${domains.join(', ')} only (mail.recipientDomains)`;
}

/** Hides the user, too: with some mail services, the user and the password are the token. */
function shownSmtpUrl(smtpUrl: string): string {
  const { protocol, username, password, host } = new URL(smtpUrl);
  return `${protocol}//${username === '' && password === '' ? '' : `${mask}@`}${host}`;
}

const signatures = "The secret of the webhook's signatures (Standard Webhooks): once it is set, unsigned requests are refused.";
const secretRule = 'must be whsec_ followed by 24 to 64 bytes in base64, as the sender of the webhooks shows it';

const noticeLinks =
  '`false`: notices have no link to retry or skip a held action without a key, and links that were already sent do not work.';
const limits = "The company's limits. For an absent limit, the operator's limit for all companies applies.";

const companySettings = z.strictObject({
  name: z.string(),
  timeZone: z.string().describe('An IANA name or `±hh:mm`. Default: UTC.'),
  notify: notifySchema.optional().describe('The contacts for notices.'),
  noticeLinks: z.boolean().optional().describe(noticeLinks),
  platform: platformSchema.optional().describe('The assignment platform.'),
  ticketing: ticketingSchema.optional().describe('The ticket system.'),
  mail: mailSettingsSchema.optional().describe("The sender of the company's e-mails, and its own mail server."),
  webhookSecret: secret(z.string()).optional().describe(signatures),
  limits: limitsSchema.optional().describe(limits),
});
const { shape } = companySettings;

/** The stored company. Answers show it with redacted secrets. */
export const companySchema = z
  .object({
    companyId: z.string(),
    ...shape,
    setByCompany: setByCompanySchema,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Company' });
export type StoredCompany = z.infer<typeof companySchema>;
export type Company = Omit<StoredCompany, 'createdAt' | 'updatedAt'>;

export const remainsSchema = z
  .object({
    open: z.int().describe('Open runs: chains that are being cancelled, and their notices. They end by themselves.'),
    closed: z.int().describe('Closed runs with their histories.'),
    retentionDays: z.number().describe('The retention of the namespace: how long Temporal keeps a closed run.'),
    until: z.iso.datetime().describe('By then Temporal itself has deleted the runs that are closed now.'),
  })
  .meta({ id: 'Remains', description: 'The data of the company in Temporal, about a second old.' });
export type Remains = z.infer<typeof remainsSchema>;

const whereRemains = remainsSchema.optional().describe('Its data that is still in Temporal; absent: there is none.');
export const madeCompanyResponse = companySchema
  .extend({
    remains: whereRemains.describe('Data of the old company with this id that is still in Temporal; absent: there is none.'),
  })
  .meta({ id: 'MadeCompany' });
export const deletedCompanyResponse = z.object({
  remains: remainsSchema,
  bulkId: z.string().optional().describe('The progress of the cancellation: `GET /chains/bulk/{bulkId}`.'),
});
export const erasedResponse = z.object({
  erased: z.int().describe('The number of histories that this request deleted.'),
  remains: whereRemains,
});

export const companiesResponse = z.object({ companies: z.array(companySchema), nextCursor: z.string().optional() });

/** Credentials belong in `auth`, where they are secret. The relay appends paths to the URL, so it has no query or fragment. */
function checkBaseUrl({ value, issues }: z.core.ParsePayload<{ baseUrl: string }>): void {
  if (!URL.canParse(value.baseUrl)) return; // The schema of the field reports it.
  const { username, password, search, hash } = new URL(value.baseUrl);
  const report = (message: string) => issues.push({ code: 'custom', input: value, path: ['baseUrl'], message });
  if (username !== '' || password !== '') report('must not contain credentials: send them as auth');
  if (search !== '' || hash !== '') report('must not have a query or fragment');
}

const mailbox = z.string().refine(isEmailAddress, 'is no e-mail address').optional();
const mailRequest = mailSettingsSchema.extend({ from: mailbox, replyTo: mailbox });

/** The body of PUT. `null` removes; `timeZone` becomes UTC. A section replaces the stored one, but keeps secrets (secrets.ts). */
export const companyRequest = companySettings
  .extend({
    name: label,
    timeZone: shape.timeZone.refine(isTimeZone, 'must be an IANA name such as Europe/Berlin, or ±hh:mm').nullish(),
    notify: notifyRequest.nullish().describe('The contacts for notices.'),
    noticeLinks: z.boolean().nullish().describe(noticeLinks),
    platform: platformSchema.check(checkBaseUrl).nullish().describe('The assignment platform.'),
    ticketing: ticketingSchema.check(checkBaseUrl).nullish().describe('The ticket system.'),
    mail: mailRequest.nullish().describe("The sender of the company's e-mails, and its own mail server."),
    webhookSecret: secret(z.string().refine(isWebhookSecret, secretRule)).nullish().describe(signatures),
    limits: limitsSchema.nullish().describe(limits),
  })
  .meta({ id: 'CompanySettings' });
export type NewCompany = z.infer<typeof companyRequest> & SetByCompany & { companyId: string };

/** For PATCH. */
export const companyPatch = companyRequest
  .partial()
  .extend({ platform: httpConnection.partial().nullish(), ticketing: httpConnection.partial().nullish() })
  .meta({ id: 'CompanyPatch' });

export const pausableSchema = z.enum(pausable, `must be one of ${pausable.join(', ')}`);

export const pauseSchema = z
  .object({
    what: pausableSchema,
    since: z.iso.datetime(),
    until: z.iso.datetime().optional().describe('When it ends automatically; absent: a person ends it.'),
    reason: encrypted(z.string()).optional().describe('The reason, as a person wrote it.'),
  })
  .meta({ id: 'Pause' }) satisfies z.ZodType<Pause>;

export const pauseRequest = z
  .strictObject({
    what: pausableSchema.default('all').describe('`all`: every connector of the company.'),
    reason: prose.max(500).nullish().describe('Shown with every waiting action.'),
    until: z.iso
      .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-07-01T12:00:00Z' })
      .refine((time) => Date.parse(time) > Date.now(), 'must be in the future')
      .nullish()
      .describe('When it ends automatically; absent: a person ends it.'),
  })
  .meta({ id: 'PauseRequest' });
export const pausesResponse = z.object({ pauses: z.array(pauseSchema).describe('The current pauses.') });
export type PausesNow = z.infer<typeof pausesResponse>;

/** The facts of a company that each of its keys may read. */
export const companyFactsSchema = companySchema
  .pick({ companyId: true, name: true, timeZone: true })
  .extend({
    rules: z.array(z.object({ relayId: z.string(), name: z.string(), enabled: z.boolean() })),
    ...pausesResponse.shape,
    webUi: z.url().optional().describe("For operators: its workflows in Temporal's Web UI."),
  })
  .meta({ id: 'CompanyFacts' });
export type CompanyFacts = z.infer<typeof companyFactsSchema>;

const checkedSchema = z.object({
  part: z.enum(['platform', 'ticketing', 'mail', 'contacts', 'rules', 'pauses']),
  works: z.boolean(),
  detail: z.string().describe('The result, or the problem and the next step.'),
});
export type Checked = z.infer<typeof checkedSchema>;
export type CheckedPart = Checked['part'];
export const checkRequest = z.strictObject({
  assignmentId: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('An assignment that exists on the platform. Without it, the check only tells whether the platform answers.'),
});
export const checkResponse = z.object({ checked: z.array(checkedSchema) });

export const endedPausesResponse = z.object({ ended: z.array(pausableSchema) });
