/** A company: its settings for outside systems, and its pauses. */

import { z } from 'zod';
import { isEmailAddress } from '../chain/address.js';
import { type ConnectionsOf, type Kind, platformKinds, type Setting, ticketingKinds } from '../chain/kinds.js';
import { type Pause, pausable } from '../chain/pause.js';
import { isTimeZone } from '../chain/timestamp/zone.js';
import { futureTime } from './credential.js';
import { isLoopback } from './loopback.js';
import { named, namedStrict, optionalFlag } from './named.js';
import type { SetByCompany } from './notify.js';
import { httpsUrl, httpUrl, isWebhookSecret, label, notifyRequest, notifySchema, prose, setByCompanySchema } from './notify.js';
import { ruleSchema } from './rule.js';
import { encrypted, mask, secret } from './secrets.js';
import { platformTemplates, ticketingTemplates } from './templates.js';

const credential = secret(z.string().min(1).max(4096));
const tokenUrl = httpsUrl('secrets are sent there');
const oauth2 = {
  clientId: encrypted(z.string().min(1).max(256)),
  clientSecret: credential,
  refreshToken: credential.optional().describe('Without this token, the grant is `client_credentials`.'),
  scope: z.string().max(1000).optional().describe('For `client_credentials`.'),
};

const authSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('bearer'), token: credential }),
    z.strictObject({ type: z.literal('basic'), username: encrypted(z.string().max(256)), password: credential }),
    z.strictObject({
      type: z.literal('headers'),
      headers: z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be a header name'), credential),
    }),
    z.strictObject({ type: z.literal('oauth2'), tokenUrl, ...oauth2 }),
  ])
  .meta({ id: 'Auth' });
export type Auth = z.infer<typeof authSchema>;
export type OAuth2 = Omit<Extract<Auth, { type: 'oauth2' }>, 'type'>;

/** The connection to a system that has the relay's own connector API, or gets requests from templates (docs/systems/http.md). */
const httpConnection = z.strictObject({
  kind: z.literal('http'),
  baseUrl: httpUrl,
  auth: authSchema.optional(),
  allowPlainText: optionalFlag.describe(
    '`true` allows the relay to send `auth` over plain `http`. Then everybody on the network path can read `auth`.',
  ),
});
const noSecrets = 'Templates of requests to another system. Templates are not encrypted: secrets belong in `auth`, never here.';
const httpPlatform = httpConnection.extend({ templates: platformTemplates.optional().describe(noSecrets) });
const httpTicketing = httpConnection.extend({ templates: ticketingTemplates.optional().describe(noSecrets) });

/** Whether the relay would send credentials without TLS, although the settings do not allow this. */
export function leaksAuth(system: PlatformSettings | TicketingSettings): boolean {
  if (system.baseUrl === undefined) return false;
  const { protocol, hostname } = new URL(system.baseUrl);
  const isVendor = system.kind !== 'http';
  const { auth, allowPlainText = false } = isVendor ? { auth: system.kind } : system;
  return auth !== undefined && protocol === 'http:' && !isLoopback(hostname) && !allowPlainText;
}

/** Makes the schema of the settings for one vendor's system. chain/kinds.ts lists these settings. */
function vendorConnection(kind: string, { name, settings }: Kind) {
  const fields = Object.entries<Setting>(settings).map(([field, { label, help, secret: isSecret, optional, pattern }]) => {
    const text = z.string().min(1).max(4096);
    const checked = pattern ? text.regex(pattern.rule, `is not valid; a valid example: "${pattern.example}"`) : text;
    const marked = (isSecret ? secret(checked) : encrypted(checked)).describe(`${label}. ${help ?? ''}`.trim());
    return [field, optional ? marked.optional() : marked];
  });
  return z
    .strictObject({ kind: z.literal(kind), baseUrl: httpUrl.optional().describe(vendorAddress), ...Object.fromEntries(fields) })
    .meta({ description: name });
}

const vendorAddress = "Replaces the vendor's address, for its test system or a proxy. Only an admin token can set it.";

/** `schema`: the settings for the relay's own API or for a vendor's API. `patch`: any part of these settings. */
function connectionSchemas<Kinds extends Record<string, Kind>, Own extends z.ZodObject>(kinds: Kinds, own: Own) {
  const vendors = Object.entries(kinds).map(([kind, entry]) => vendorConnection(kind, entry));
  const union = z.discriminatedUnion('kind', [own, ...vendors]);
  const schema = union as unknown as z.ZodType<z.infer<Own> | ConnectionsOf<Kinds>[keyof Kinds]>;
  return { schema, patch: z.union([own.partial(), ...vendors.map((vendor) => vendor.partial())]) };
}

const { schema: platformSchema, patch: platformPatch } = connectionSchemas(platformKinds, httpPlatform);
export type PlatformSettings = z.infer<typeof platformSchema>;
const { schema: ticketingSchema, patch: ticketingPatch } = connectionSchemas(ticketingKinds, httpTicketing);
export type TicketingSettings = z.infer<typeof ticketingSchema>;

const mostCount = 1_000_000_000;
const limitsSchema = namedStrict('CompanyLimits', {
  actionsPerDay: z.int().min(0).max(mostCount).optional(),
  recipientsPerDay: z.int().min(0).max(mostCount).optional().describe('The maximum number of e-mail recipients per day (UTC).'),
  openChains: z.int().min(0).max(mostCount).optional().describe('The maximum number of chains that are open at the same time.'),
});
export type CompanyLimits = z.infer<typeof limitsSchema>;

const domain = z
  .string()
  .max(253)
  .regex(/^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u, 'must be a domain such as example.com');
const domains = z.array(domain).min(1).max(100);

const mailSettingsSchema = z.strictObject({
  from: encrypted(z.string().max(320)).optional(), // `Name <address>` or an address
  replyTo: encrypted(z.string().max(320)).optional(),
  smtpUrl: secret(z.url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps URL' }).max(2048), shownSmtpUrl).optional(),
  oauth2: z
    .strictObject({ user: encrypted(z.string().max(320)), tokenUrl: tokenUrl.optional(), ...oauth2 })
    .optional()
    .describe('Signs in at `smtpUrl` with OAuth2 instead of a password. Default of `tokenUrl`: the address of Google.'),
  recipientDomains: domains.optional().describe('E-mail is sent only to these domains and their subdomains.'),
});

/** The text that explains why a recipient outside `recipientDomains` is refused. */
export function domainsRule(domains: readonly string[]): string {
  return `the company sends e-mail only to addresses at ${domains.join(' or ')} (setting mail.recipientDomains)`;
}

/** Hides the user name, too. Some mail services use the same secret token as the user name and as the password. */
function shownSmtpUrl(smtpUrl: string): string {
  const { protocol, username, password, host } = new URL(smtpUrl);
  return `${protocol}//${username === '' && password === '' ? '' : `${mask}@`}${host}`;
}

const signatures =
  "The secret that signs the company's webhooks (Standard Webhooks). If this secret is set, the relay refuses unsigned requests.";
const secretRule = 'must be the secret that the sender of the webhooks shows: whsec_, then 24 to 64 bytes in base64';

const noticeLinks =
  'Whether notices have links to retry or skip an action that needs attention, without a key. `false` also disables links that were already sent. Default: `true`.';
const weeklyDigest =
  'Whether the e-mail contacts of the company get a digest of the last week, every Monday at 7:00 in the time zone of the company. Default: `false`.';
const noticeEdits =
  'Whether the links in notices also let their readers correct ids (assignment, groups, ticket), `cfValue` and `sendRadius` of an action that needs attention. Default: `false`.';
const limits = "The company's limits. If a limit is absent, the operator's default limit applies.";
const historyDays = 'For how many days lists and search keep a closed chain. Default: 400.';

const companySettings = z.strictObject({
  name: z.string(),
  timeZone: z.string().describe('An IANA name or `±hh:mm`. Default: UTC.'),
  notify: notifySchema.optional().describe('The contacts for notices.'),
  noticeLinks: optionalFlag.describe(noticeLinks),
  weeklyDigest: optionalFlag.describe(weeklyDigest),
  noticeEdits: optionalFlag.describe(noticeEdits),
  platform: platformSchema.optional().describe('The assignment platform.'),
  ticketing: ticketingSchema.optional().describe('The ticket system.'),
  mail: mailSettingsSchema.optional().describe("The sender of the company's e-mails, and its own mail server."),
  webhookSecret: secret(z.string()).optional().describe(signatures),
  limits: limitsSchema.optional().describe(limits),
  historyDays: z.int().min(1).max(3660).optional().describe(historyDays),
});
const { shape } = companySettings;

/** The company as it is stored. Answers do not show its secrets. */
export const companySchema = named('Company', {
  companyId: z.string(),
  ...shape,
  setByCompany: setByCompanySchema,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type StoredCompany = z.infer<typeof companySchema>;
export type Company = Omit<StoredCompany, 'createdAt' | 'updatedAt'>;

export const remainsSchema = z
  .object({
    open: z.int().describe('The number of open runs: chains that are being cancelled, and notices. Open runs end by themselves.'),
    closed: z.int().describe('The number of closed runs whose histories Temporal still keeps.'),
    retentionDays: z.number().describe('How many days Temporal keeps a closed run. This is the retention of the namespace.'),
    until: z.iso.datetime().describe('The latest time at which Temporal deletes the runs that are closed now.'),
  })
  .meta({ id: 'Remains', description: 'How much data of the company is still in Temporal. The numbers are about a second old.' });
export type Remains = z.infer<typeof remainsSchema>;
const whereRemains = remainsSchema.optional().describe('The data that is still in Temporal. Absent if no data is left.');
export const madeCompanyResponse = named('MadeCompany', {
  ...companySchema.shape,
  remains: whereRemains.describe('The data of the deleted company that is still in Temporal. Absent if no data is left.'),
});
export const deletedCompanyResponse = z.object({
  remains: remainsSchema,
  bulkId: z.string().optional().describe('The id of the order to cancel chains. `GET /chains/bulk/{bulkId}` shows its progress.'),
});
export const erasedResponse = z.object({
  erased: z.int().describe('The number of histories that this request deleted.'),
  remains: whereRemains,
});

export const companiesResponse = z.object({ companies: z.array(companySchema), nextCursor: z.string().optional() });

/** Credentials belong in `auth`, where they are secret. The relay appends paths to the URL, so the URL must not have a query. */
function checkBaseUrl({ value, issues }: z.core.ParsePayload<{ baseUrl?: string | undefined }>): void {
  if (value.baseUrl === undefined || !URL.canParse(value.baseUrl)) return; // The schema of the field reports the invalid URL.
  const { username, password, search, hash } = new URL(value.baseUrl);
  const report = (message: string) => issues.push({ code: 'custom', input: value, path: ['baseUrl'], message });
  if (username !== '' || password !== '') report('must not contain a user name or password: these belong in auth');
  if (search !== '' || hash !== '') report('must not have a query (?) or a fragment (#)');
}

const mailbox = z.string().refine(isEmailAddress, 'is no e-mail address').optional();
const noTokenUrl = 'is required, except for Google; for Microsoft: https://login.microsoftonline.com/<tenant>/oauth2/v2.0/token';
const hasTokenUrl = ({ smtpUrl = '.gmail.com', oauth2 }: z.infer<typeof mailSettingsSchema>) =>
  !oauth2 || oauth2.tokenUrl !== undefined || /\.gmail\.com(?::\d+)?$/.test(smtpUrl);
const mailRequest = mailSettingsSchema
  .extend({ from: mailbox, replyTo: mailbox })
  .refine(({ smtpUrl, oauth2 }) => !oauth2 || smtpUrl !== undefined, { path: ['smtpUrl'], error: 'is required with oauth2' })
  .refine(hasTokenUrl, { path: ['oauth2', 'tokenUrl'], error: noTokenUrl });

/** The body of PUT. `null` removes a field, or sets the `timeZone` to UTC. Replaced sections keep their secrets (secrets.ts). */
export const companyRequest = namedStrict('CompanySettings', {
  ...companySettings.shape,
  name: label,
  timeZone: shape.timeZone.refine(isTimeZone, 'must be the name of a time zone such as Europe/Berlin, or ±hh:mm').nullish(),
  notify: notifyRequest.nullish().describe('The contacts for notices.'),
  noticeLinks: z.boolean().nullish().describe(noticeLinks),
  weeklyDigest: z.boolean().nullish().describe(weeklyDigest),
  noticeEdits: z.boolean().nullish().describe(noticeEdits),
  platform: platformSchema.check(checkBaseUrl).nullish().describe('The assignment platform.'),
  ticketing: ticketingSchema.check(checkBaseUrl).nullish().describe('The ticket system.'),
  mail: mailRequest.nullish().describe("The sender of the company's e-mails, and its own mail server."),
  webhookSecret: secret(z.string().refine(isWebhookSecret, secretRule)).nullish().describe(signatures),
  limits: limitsSchema.nullish().describe(limits),
  historyDays: shape.historyDays.nullable().describe(historyDays),
});
export type NewCompany = z.infer<typeof companyRequest> & SetByCompany & { companyId: string };

export const companyPatch = companyRequest
  .partial()
  .extend({ platform: platformPatch.nullish(), ticketing: ticketingPatch.nullish() })
  .meta({ id: 'CompanyPatch' });

export const pausableSchema = z.enum(pausable, `must be one of ${pausable.join(', ')}`);

export const pauseSchema = named('Pause', {
  what: pausableSchema,
  since: z.iso.datetime(),
  until: z.iso.datetime().optional().describe('When the pause ends automatically. Absent if a person must end the pause.'),
  reason: encrypted(z.string()).optional().describe('The reason for the pause, as a person wrote it.'),
}) satisfies z.ZodType<Pause>;

export const pauseRequest = namedStrict('PauseRequest', {
  what: pausableSchema.default('all').describe('The connector to pause. `all` means every connector of the company.'),
  reason: prose.max(500).nullish().describe('The reason for the pause. Every waiting action shows it.'),
  until: futureTime.nullish().describe('When the pause ends automatically. Absent if a person must end the pause.'),
});
export const pausesResponse = z.object({ pauses: z.array(pauseSchema).describe('The current pauses.') });
export type PausesNow = z.infer<typeof pausesResponse>;

const simulators = z.array(
  z.object({
    name: z.string(),
    settings: z.looseObject({ kind: z.string(), baseUrl: z.string() }).describe('The settings that connect a company.'),
  }),
);
const simulatorsSchema = z.object({ platform: simulators, ticketing: simulators });
export type Simulators = z.infer<typeof simulatorsSchema>;

/** The facts of a company that every key of the company can read. */
export const companyFactsSchema = companySchema
  .pick({ companyId: true, name: true, timeZone: true })
  .extend({
    rules: z.array(ruleSchema.pick({ relayId: true, name: true, enabled: true, published: true })),
    ...pausesResponse.shape,
    webUi: z.url().optional().describe("The link to the company's workflows in Temporal's Web UI, for operators."),
    simulators: simulatorsSchema
      .optional()
      .describe(
        'Under `npm start`: the programs of this machine that play other systems. People and keys can also connect these.',
      ),
  })
  .meta({ id: 'CompanyFacts' });
export type CompanyFacts = z.infer<typeof companyFactsSchema>;

const checkedSchema = z.object({
  part: z.enum(['platform', 'ticketing', 'mail', 'contacts', 'rules', 'pauses']),
  works: z.boolean(),
  title: z.string().optional().describe('The problem in one short sentence.'),
  remedy: z.string().optional().describe('What to do about it.'),
  detail: z.string().describe('The result of the check, or the problem and the next step.'),
});
export type Checked = z.infer<typeof checkedSchema>;
export type CheckedPart = Checked['part'];
const checkedId = z.string().min(1).max(256);
const checkedIds = z.array(checkedId).max(50);
export const checkRequest = z.strictObject({
  assignmentId: checkedId
    .optional()
    .describe('The id of an existing assignment. Without it, the check only tells whether the platform answers.'),
  groups: checkedIds.optional().describe('Groups of technicians that must exist on the platform.'),
  ticketId: checkedId.optional().describe('A ticket that exists in the ticket system: the check reads it.'),
  fields: checkedIds.optional().describe('Ticket fields that must exist and be writable in the ticket system.'),
});
export type CheckRequest = z.infer<typeof checkRequest>;
export const checkResponse = z.object({ checked: z.array(checkedSchema) });
export const endedPausesResponse = z.object({ ended: z.array(pausableSchema) });
