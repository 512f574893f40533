/** What a company and a rule have in common: a name, and who is told when something fails. */

import { z } from 'zod';
import { isEmailAddress } from '../chain/address.js';
import { isLoopback } from './loopback.js';
import { encrypted, mask, secret } from './secrets.js';

export const prose = z.string().trim().min(1, 'must not be blank');
export const label = prose.max(200);

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2048);

const emailText = z.string().trim().max(320);
const secretText = z.string().min(1).max(4096);
const signingText = secretText.refine(isWebhookSecret, 'must be whsec_ and 24 to 64 bytes in base64');
const signs = 'Signs what the webhook gets, as Standard Webhooks says; `relay` format only.';
const formats =
  "`relay`: facts as JSON; `slack`: a message for Slack's incoming webhooks. Unless set: `slack` for hooks.slack.com.";

const shownWebhook = (url: string) => `${new URL(url).origin}/${mask}`;

export const notifySchema = z.strictObject({
  emails: encrypted(z.array(emailText).max(20)).optional(),
  /** Secret is its path, which makes a Slack URL work. */
  webhookUrl: secret(httpUrl, shownWebhook).optional(),
  webhookSecret: secret(secretText).optional().describe(signs),
  webhookFormat: z.enum(['relay', 'slack'], 'must be relay or slack').optional().describe(formats),
});
export type Notify = z.infer<typeof notifySchema>;

export function hasContact({ emails = [], webhookUrl }: Notify): boolean {
  return emails.length > 0 || webhookUrl !== undefined;
}

/** As a request gives it: every address one to which mail can be sent, the secret one to sign with. */
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

/** Whether nobody on the way can read what is sent there. */
const isPrivate = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || isLoopback(hostname);

export function isWebhookSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

export const noticeTestRequest = z.strictObject({
  relayId: z.string().max(32).optional().describe('A rule, whose own contacts get it as well.'),
});
/** What became of a notice at one contact. */
const contactResult = z.object({
  contact: z.string().describe('An e-mail address, or a webhook without the path, which is a secret.'),
  delivered: z.boolean(),
  error: z.string().optional().describe('Why not.'),
});
export type ContactResult = z.infer<typeof contactResult>;
export const noticeTestResponse = z.object({
  contacts: z
    .array(contactResult)
    .describe('Where neither the rule nor the company has any: the operator. Empty: nobody would be told of anything.'),
});
