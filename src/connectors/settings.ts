/** A company's settings for the outside systems, as the admin API takes them and the store keeps them. */

import { z } from 'zod';

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2048);
const secret = z.string().min(1).max(4096);

/** How a connector proves who it is. */
export const authSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('bearer'), token: secret }),
  z.strictObject({ type: z.literal('basic'), username: z.string().max(256), password: secret }),
  z.strictObject({
    type: z.literal('headers'),
    headers: z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a header name'), secret),
  }),
]);
export type Auth = z.infer<typeof authSchema>;

export const platformSettingsSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('http'), baseUrl: httpUrl, auth: authSchema.optional() }),
]);
export type PlatformSettings = z.infer<typeof platformSettingsSchema>;

export const ticketingSettingsSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('http'), baseUrl: httpUrl, auth: authSchema.optional() }),
]);
export type TicketingSettings = z.infer<typeof ticketingSettingsSchema>;

export const mailSettingsSchema = z.strictObject({
  /** `Name <address>` or an address. */
  from: z.string().max(320).optional(),
  replyTo: z.string().max(320).optional(),
  /** `smtp://user:password@host:port` or `smtps://…`: the company's own mail server. */
  smtpUrl: z
    .url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps URL' })
    .max(2048)
    .optional(),
});
export type MailSettings = z.infer<typeof mailSettingsSchema>;

/** Who is told when something fails. */
export const notifySchema = z.strictObject({
  emails: z.array(z.string().trim().max(320)).max(20).optional(),
  webhookUrl: httpUrl.optional(),
  /** Signs what the webhook gets, by Standard Webhooks; `relay` format only. */
  webhookSecret: secret.optional(),
  /** `relay`: facts as JSON; `slack`: a message as Slack's incoming webhooks take it. Default: `slack` for hooks.slack.com. */
  webhookFormat: z.enum(['relay', 'slack'], 'must be relay or slack').optional(),
});
export type Notify = z.infer<typeof notifySchema>;
