/** The channels to the contacts that a rule or a company names. */

import type { Connectors } from '../../connectors/connectors.js';
import type { Company } from '../../contract/company.js';
import type { Notify } from '../../contract/notify.js';
import type { NoticeChannel } from './channel.js';
import { createEmailChannel } from './email.js';
import { createWebhookChannel } from './webhook.js';

/** One for every contact. */
export function channelsOf(
  { noticeMailOf, http }: Pick<Connectors, 'noticeMailOf' | 'http'>,
  company: Company,
  { emails = [], webhookUrl, webhookSecret: secret, webhookFormat: format }: Notify,
): NoticeChannel[] {
  const mail = noticeMailOf(company);
  const channels = emails.map((to) => createEmailChannel({ ...mail, to }));
  return webhookUrl === undefined ? channels : [...channels, createWebhookChannel({ webhookUrl, secret, format, http })];
}
