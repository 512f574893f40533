/** The schemas that companies and rules share: names, and contacts for notices. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { isEmailAddress } from '../chain/address.js';
import { isLoopback } from './loopback.js';
import { named, optionalFlag } from './named.js';
import { encrypted, mask, secret } from './secrets.js';

export const prose = z.string().trim().min(1, 'must not be blank');
export const label = prose.max(200);

/** With `abort`, the next checks run only for valid URLs. */
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL', abort: true }).max(2048);
const isPrivate = ({ protocol, hostname }: URL) => protocol === 'https:' || isLoopback(hostname);
/** Allows http only for addresses on this machine. @param why - the reason why other addresses must use https */
export const httpsUrl = (why: string) => httpUrl.refine((url) => isPrivate(new URL(url)), `must be an https URL, because ${why}`);

const emailText = z.string().trim().max(320);
const secretText = z.string().min(1).max(4096);
const signingText = secretText.refine(isWebhookSecret, 'must be whsec_, then 24 to 64 bytes in base64');
const signs = 'The secret that signs the notices to the webhook (Standard Webhooks).';
const formats =
  "`relay` sends facts as JSON. `slack` sends a message for Slack's incoming webhooks. Default: `slack` for hooks.slack.com, else `relay`.";
const decides =
  'Whether notices to the webhook contain links. With a link, every reader can retry or skip an action that needs attention, without a key. Default: `false`.';

const shownWebhook = (url: string) => `${new URL(url).origin}/${mask}`;

export const notifySchema = z.strictObject({
  emails: encrypted(z.array(emailText).max(20)).optional(),
  /** The path is secret, because everybody who knows the path can send messages to the webhook. */
  webhookUrl: secret(httpUrl, shownWebhook).optional(),
  webhookSecret: secret(secretText).optional().describe(signs),
  webhookFormat: z.enum(['relay', 'slack'], 'must be relay or slack').optional().describe(formats),
  linksInWebhooks: optionalFlag.describe(decides),
});
export type Notify = z.infer<typeof notifySchema>;
export const hasContact = ({ emails = [], webhookUrl }: Notify): boolean => emails.length > 0 || webhookUrl !== undefined;

/** The names of the contacts, without secrets: `ada@example.com`, `webhook 1f0a93c2 at https://chat.example`. */
export function contactsOf({ emails = [], webhookUrl }: Notify): string[] {
  return webhookUrl === undefined ? emails : [...emails, webhookContact(new URL(webhookUrl))];
}

/** The name contains a hash, so that two webhooks of one host have different names, and the path stays secret. */
export const webhookContact = ({ href, origin }: URL): string => `webhook ${hash('sha256', href).slice(0, 8)} at ${origin}`;

/** The contacts that get links for decisions. A webhook gets links only on request, because many people may read its notices. */
export const decidersOf = (notify: Notify): string[] => contactsOf(notify.linksInWebhooks ? notify : { emails: notify.emails });

/** This schema is stricter than the stored form: every address and the signing secret must be valid. */
export const notifyRequest = notifySchema.extend({
  emails: z.array(emailText.refine(isEmailAddress, 'is no e-mail address')).max(20).optional(),
  webhookUrl: secret(httpsUrl('its path is a secret, and notices contain names of people and events'), shownWebhook).optional(),
  webhookSecret: secret(signingText).optional().describe(signs),
});

export function isWebhookSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

/** The settings sections that have addresses of outside systems, and the paths of these addresses. */
export const addressFields = {
  platform: ['baseUrl', 'auth.tokenUrl'],
  ticketing: ['baseUrl', 'auth.tokenUrl'],
  mail: ['smtpUrl', 'oauth2.tokenUrl'],
  notify: ['webhookUrl'],
} as const;
export type AddressSection = keyof typeof addressFields;

export const setByCompanySchema = z
  .array(z.enum(Object.keys(addressFields) as AddressSection[]))
  .optional()
  .describe(
    'The sections in which a key of the company has set an address or a connection to a vendor. Such an address must be public. The operator has set the other sections.',
  );
export type SetByCompany = { setByCompany?: z.infer<typeof setByCompanySchema> };

/** The facts that a digest contains about the first notice of a cause. */
export const joinedFacts = z.object({
  relayId: z.string(),
  kind: z.string(), // the kind as in webhooks, such as `needs-attention.many`
  at: z.string(),
  title: z.string(),
  wrong: z.string().optional(),
  url: z.string(), // a page about the notice
  /** The held action. The digest has a link to decide about this action. */
  held: z
    .object({ companyId: z.string(), chainId: z.string(), index: z.int(), at: z.string(), heldUntil: z.string().optional() })
    .optional(),
});
export type JoinedFacts = z.infer<typeof joinedFacts>;

/** A contact that was set with a company key and has not confirmed yet. */
export const unconfirmedSchema = z.object({
  /** This id is enough to confirm the contact. Only notices to the contact contain the id. */
  contactId: z.string(),
  companyId: z.string(),
  contact: encrypted(z.string()),
});

export const contactsResponse = z.object({
  contacts: z.array(
    named('Contact', {
      contact: z.string().describe('An e-mail address, or a webhook without its path, because the path is secret.'),
      relayId: z.string().optional().describe('The rule that has this contact. Absent if it is a contact of the company.'),
      confirmed: z
        .boolean()
        .describe(
          '`false`: the contact has not confirmed with the link in a notice. Until the contact confirms, it gets only the first notice of each cause, and at most ten notices a day.',
        ),
    }),
  ),
});

export const noticeTestRequest = z.strictObject({
  relayId: z.string().max(32).optional().describe('The test notice also goes to the contacts of this rule.'),
});
const contactResult = z.object({
  contact: z.string().describe('An e-mail address, or a webhook without its path, because the path is secret.'),
  delivered: z.boolean(),
  error: z.string().optional().describe('Why the notice was not delivered.'),
});
export type ContactResult = z.infer<typeof contactResult>;
export const noticeTestResponse = z.object({
  contacts: z
    .array(contactResult)
    .describe('The result for each contact, or for the operator if there is no contact. Empty if nobody gets notices.'),
});
