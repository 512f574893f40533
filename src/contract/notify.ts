/** Shared by companies and rules: names, and contacts for failures. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { isEmailAddress } from '../chain/address.js';
import { isLoopback } from './loopback.js';
import { encrypted, mask, secret } from './secrets.js';

export const prose = z.string().trim().min(1, 'must not be blank');
export const label = prose.max(200);

/** `abort`: the next checks get only valid URLs. */
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL', abort: true }).max(2048);

const emailText = z.string().trim().max(320);
const secretText = z.string().min(1).max(4096);
const signingText = secretText.refine(isWebhookSecret, 'must be whsec_ and 24 to 64 bytes in base64');
const signs = 'Signs what the webhook gets, as Standard Webhooks says; `relay` format only.';
const formats =
  "`relay`: facts as JSON; `slack`: a message for Slack's incoming webhooks. Unless set: `slack` for hooks.slack.com.";
const decides =
  'Whether notices to the webhook have links by which its readers retry or skip what is held without a key. Unless set: no.';

const shownWebhook = (url: string) => `${new URL(url).origin}/${mask}`;

export const notifySchema = z.strictObject({
  emails: encrypted(z.array(emailText).max(20)).optional(),
  /** The path is secret: with it, everybody can send messages to Slack. */
  webhookUrl: secret(httpUrl, shownWebhook).optional(),
  webhookSecret: secret(secretText).optional().describe(signs),
  webhookFormat: z.enum(['relay', 'slack'], 'must be relay or slack').optional().describe(formats),
  linksInWebhooks: z.boolean().optional().describe(decides),
});
export type Notify = z.infer<typeof notifySchema>;

export function hasContact({ emails = [], webhookUrl }: Notify): boolean {
  return emails.length > 0 || webhookUrl !== undefined;
}

/** The contacts, without secrets: `ada@example.com`, `webhook 1f0a93c2 at https://chat.example`. */
export function contactsOf({ emails = [], webhookUrl }: Notify): string[] {
  return webhookUrl === undefined ? emails : [...emails, webhookContact(new URL(webhookUrl))];
}

/** With the hash, two webhooks of one host differ, and the path stays secret. */
export function webhookContact({ href, origin }: URL): string {
  return `webhook ${hash('sha256', href).slice(0, 8)} at ${origin}`;
}

/** Contacts whose notices have links to decide. A webhook has them only on request: everybody in its channel could decide. */
export function decidersOf(notify: Notify): string[] {
  return contactsOf(notify.linksInWebhooks ? notify : { emails: notify.emails });
}

/** Stricter than the stored form: every address must be valid, and the secret must be able to sign. */
export const notifyRequest = notifySchema.extend({
  emails: z.array(emailText.refine(isEmailAddress, 'is no e-mail address')).max(20).optional(),
  webhookUrl: secret(
    httpUrl.refine(
      (url) => isPrivate(new URL(url)),
      'must be https, since its path is a secret and notices name people and events',
    ),
    shownWebhook,
  ).optional(),
  webhookSecret: secret(signingText).optional().describe(signs),
});

const isPrivate = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || isLoopback(hostname);

export function isWebhookSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

/** Settings sections with an address of an outside system, and the field with the address. */
export const addressFields = { platform: 'baseUrl', ticketing: 'baseUrl', mail: 'smtpUrl', notify: 'webhookUrl' } as const;
export type AddressSection = keyof typeof addressFields;

export const setByCompanySchema = z
  .array(z.enum(Object.keys(addressFields) as AddressSection[]))
  .optional()
  .describe(
    "The sections whose address a key of the company has set. Such an address must be public; the other addresses are the operator's.",
  );
export type SetByCompany = { setByCompany?: z.infer<typeof setByCompanySchema> };

/** The first notice of a cause, in a digest. */
export const joinedFacts = z.object({
  relayId: z.string(),
  kind: z.string(), // the kind as a webhook names it: `needs-attention.many`
  at: z.string(),
  title: z.string(),
  wrong: z.string().optional(),
  url: z.string(), // a page about it
  /** A held action, with a link to decide about it. */
  held: z
    .object({ companyId: z.string(), chainId: z.string(), index: z.int(), at: z.string(), heldUntil: z.string().optional() })
    .optional(),
});
export type JoinedFacts = z.infer<typeof joinedFacts>;

/** A contact that a company key has set, and that has not confirmed yet. */
export const unconfirmedSchema = z.object({
  /** This id confirms the contact: only notices to the contact contain it. */
  contactId: z.string(),
  companyId: z.string(),
  contact: encrypted(z.string()),
});

export const contactsResponse = z.object({
  contacts: z.array(
    z
      .object({
        contact: z.string().describe('An e-mail address, or a webhook without the path, which is a secret.'),
        relayId: z.string().optional().describe('The rule that has this contact; absent: the company has it.'),
        confirmed: z
          .boolean()
          .describe(
            '`false`: until it opens the link in a notice, it gets only the first notice of each cause, at most ten a day.',
          ),
      })
      .meta({ id: 'Contact' }),
  ),
});

export const noticeTestRequest = z.strictObject({
  relayId: z.string().max(32).optional().describe('Also send it to the contacts of this rule.'),
});
const contactResult = z.object({
  contact: z.string().describe('An e-mail address, or a webhook without the path, which is a secret.'),
  delivered: z.boolean(),
  error: z.string().optional().describe('Why it was not delivered.'),
});
export type ContactResult = z.infer<typeof contactResult>;
export const noticeTestResponse = z.object({
  contacts: z
    .array(contactResult)
    .describe('If the rule and the company have no contact: the operator. Empty: nobody gets notices.'),
});
