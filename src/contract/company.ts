/** A company: who uses the relay, with which settings for its outside systems, and which of those are paused. */

import { z } from 'zod';
import { isEmailAddress } from '../chain/address.js';
import { type Pause, pausable } from '../chain/pause.js';
import { isTimeZone } from '../chain/timestamp/zone.js';
import { isLoopback } from './loopback.js';
import { httpUrl, isWebhookSecret, label, notifyRequest, notifySchema, prose } from './notify.js';
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

/** Any system that speaks the relay's own connector API (docs/connecting-systems.md). */
const httpConnection = z.strictObject({
  kind: z.literal('http'),
  baseUrl: httpUrl,
  auth: authSchema.optional(),
  allowPlainText: z
    .boolean()
    .optional()
    .describe('`true`: `auth` may go over `http` to another machine, legible to everybody on the way.'),
});

/** Whether credentials would go to another machine without TLS, and nobody asked for that. */
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
    recipientsPerDay: z.int().min(0).max(mostCount).optional().describe('Of e-mails.'),
    openChains: z.int().min(0).max(mostCount).optional().describe('At once.'),
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
  recipientDomains: z.array(domain).min(1).max(100).optional().describe('E-mail goes to these and to what is below them only.'),
});

/** Of a company with `recipientDomains`. */
export function domainsRule(domains: readonly string[]): string {
  return `the company sends e-mail to ${domains.join(', ')} only (mail.recipientDomains)`;
}

/** Without the user too: some mail services take their token for both. */
function shownSmtpUrl(smtpUrl: string): string {
  const { protocol, username, password, host } = new URL(smtpUrl);
  return `${protocol}//${username === '' && password === '' ? '' : `${mask}@`}${host}`;
}

const signatures = "The secret of the webhook's signatures (Standard Webhooks): once it is set, nothing unsigned is taken.";
const secretRule = 'must be whsec_ and 24 to 64 bytes in base64, as the sender of the webhooks shows it';

const noticeLinks =
  '`false`: no notice has a link by which its contact retries or skips what is held without a key, and those that were sent open nothing.';
const limits = 'What the company may use; what is left out is as the operator has set it for all.';

const companySettings = z.strictObject({
  name: z.string(),
  timeZone: z.string().describe('An IANA name or `±hh:mm`; UTC unless set.'),
  notify: notifySchema.optional().describe('Who is told when something fails.'),
  noticeLinks: z.boolean().optional().describe(noticeLinks),
  platform: platformSchema.optional().describe('Where assignments live.'),
  ticketing: ticketingSchema.optional().describe('Where tickets live.'),
  mail: mailSettingsSchema.optional().describe("The sender of the company's e-mails, and its own mail server."),
  webhookSecret: secret(z.string()).optional().describe(signatures),
  limits: limitsSchema.optional().describe(limits),
});
const { shape } = companySettings;

/** As the store keeps it, and as answers show it, its secrets redacted. */
export const companySchema = z
  .object({ companyId: z.string(), ...shape, createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() })
  .meta({ id: 'Company' });
export type StoredCompany = z.infer<typeof companySchema>;
export type Company = Omit<StoredCompany, 'createdAt' | 'updatedAt'>;

/** Of a company that is deleted, or made again. */
export const remainsSchema = z
  .object({
    open: z.int().describe('Runs that are open, which end by themselves: chains that are being cancelled, and their notices.'),
    closed: z.int().describe('Runs that have closed, with their histories.'),
    retentionDays: z.number().describe("The namespace's: how long after its end Temporal keeps a run."),
    until: z.iso.datetime().describe('By then what is closed now is gone, also if nobody erases it.'),
  })
  .meta({ id: 'Remains', description: 'What Temporal keeps of the company, a moment behind.' });
export type Remains = z.infer<typeof remainsSchema>;

const whereRemains = remainsSchema.optional().describe('What Temporal keeps of it; absent: nothing.');
export const madeCompanyResponse = companySchema
  .extend({ remains: whereRemains.describe('What Temporal keeps of the company that had this id; absent: nothing.') })
  .meta({ id: 'MadeCompany' });
export const deletedCompanyResponse = z.object({
  remains: remainsSchema,
  bulkId: z.string().optional().describe('How far the cancelling is: `GET /chains/bulk/{bulkId}`.'),
});
export const erasedResponse = z.object({
  erased: z.int().describe('Runs whose histories this request has deleted.'),
  remains: whereRemains,
});

export const companiesResponse = z.object({ companies: z.array(companySchema), nextCursor: z.string().optional() });

/** Credentials belong into `auth`, where they are secrets; a query or fragment would swallow the path that is appended. */
function checkBaseUrl({ value, issues }: z.core.ParsePayload<{ baseUrl: string }>): void {
  if (!URL.canParse(value.baseUrl)) return; // Its own schema says so.
  const { username, password, search, hash } = new URL(value.baseUrl);
  const report = (message: string) => issues.push({ code: 'custom', input: value, path: ['baseUrl'], message });
  if (username !== '' || password !== '') report('must not contain credentials: send them as auth');
  if (search !== '' || hash !== '') report('must not have a query or fragment');
}

const mailbox = z.string().refine(isEmailAddress, 'is no e-mail address').optional();
const mailRequest = mailSettingsSchema.extend({ from: mailbox, replyTo: mailbox });

/**
 * As PUT takes it: `null` removes, and makes `timeZone` UTC; a section replaces the stored one but for its secrets (secrets.ts).
 */
export const companyRequest = companySettings
  .extend({
    name: label,
    timeZone: shape.timeZone.refine(isTimeZone, 'must be an IANA name such as Europe/Berlin, or ±hh:mm').nullish(),
    notify: notifyRequest.nullish().describe('Who is told when something fails.'),
    noticeLinks: z.boolean().nullish().describe(noticeLinks),
    platform: platformSchema.check(checkBaseUrl).nullish().describe('Where assignments live.'),
    ticketing: ticketingSchema.check(checkBaseUrl).nullish().describe('Where tickets live.'),
    mail: mailRequest.nullish().describe("The sender of the company's e-mails, and its own mail server."),
    webhookSecret: secret(z.string().refine(isWebhookSecret, secretRule)).nullish().describe(signatures),
    limits: limitsSchema.nullish().describe(limits),
  })
  .meta({ id: 'CompanySettings' });
export type NewCompany = z.infer<typeof companyRequest> & { companyId: string };

/** As PATCH takes it: a part of that. */
export const companyPatch = companyRequest
  .partial()
  .extend({ platform: httpConnection.partial().nullish(), ticketing: httpConnection.partial().nullish() })
  .meta({ id: 'CompanyPatch' });

export const pausableSchema = z.enum(pausable, `must be one of ${pausable.join(', ')}`);

export const pauseSchema = z
  .object({
    what: pausableSchema,
    since: z.iso.datetime(),
    until: z.iso.datetime().optional().describe('When it ends by itself; absent: when somebody ends it.'),
    reason: encrypted(z.string()).optional().describe('In the words of whoever paused.'),
  })
  .meta({ id: 'Pause' }) satisfies z.ZodType<Pause>;

export const pauseRequest = z
  .strictObject({
    what: pausableSchema.default('all').describe('`all`: every connector of the company.'),
    reason: prose.max(500).nullish().describe('For those who wonder why their actions wait.'),
    until: z.iso
      .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-07-01T12:00:00Z' })
      .refine((time) => Date.parse(time) > Date.now(), 'must be in the future')
      .nullish()
      .describe('When it ends by itself. Absent: when it is ended.'),
  })
  .meta({ id: 'PauseRequest' });
export const pausesResponse = z.object({ pauses: z.array(pauseSchema).describe('Those that are on.') });
export type PausesNow = z.infer<typeof pausesResponse>;

/** What every key of the company may know of it. */
export const companyFactsSchema = companySchema
  .pick({ companyId: true, name: true, timeZone: true })
  .extend({
    rules: z.array(z.object({ relayId: z.string(), name: z.string(), enabled: z.boolean() })),
    ...pausesResponse.shape,
    webUi: z.url().optional().describe("Its workflows in Temporal's Web UI."),
  })
  .meta({ id: 'CompanyFacts' });
export type CompanyFacts = z.infer<typeof companyFactsSchema>;

const checkedSchema = z.object({
  part: z.enum(['platform', 'ticketing', 'mail', 'contacts', 'rules', 'pauses']),
  works: z.boolean(),
  detail: z.string().describe('What was seen, or what is wrong and what to do.'),
});
export type Checked = z.infer<typeof checkedSchema>;
export type CheckedPart = Checked['part'];
export const checkRequest = z.strictObject({
  assignmentId: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('One that the platform has: absent, only that it answers is seen.'),
});
export const checkResponse = z.object({ checked: z.array(checkedSchema) });

export const endedPausesResponse = z.object({ ended: z.array(pausableSchema) });
