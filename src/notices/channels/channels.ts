/** The channels to the contacts that a rule or a company names: from the settings of `notify`, and nowhere else. */

import type { Connectors } from '../../connectors/connectors.js';
import type { Company } from '../../contract/company.js';
import type { Notify } from '../../contract/notify.js';
import type { NoticeChannel } from './channel.js';
import { createWebhookChannel } from './webhook.js';

/** One for every contact. */
export function channelsOf(
  { noticeMailOf, http }: Pick<Connectors, 'noticeMailOf' | 'http'>,
  company: Company,
  { emails = [], webhookUrl, webhookSecret: secret, webhookFormat: format }: Notify,
): NoticeChannel[] {
  const { mailer, from } = noticeMailOf(company);
  return [
    ...emails.map(
      (to): NoticeChannel => ({
        contact: to,
        deliver: ({ subject, text, html }, noticeId, call) =>
          mailer.send({ from, to, subject, text, html, messageId: noticeId }, call),
      }),
    ),
    ...(webhookUrl === undefined ? [] : [createWebhookChannel({ webhookUrl, secret, format, http })]),
  ];
}
