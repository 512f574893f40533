/** The channels to the contacts that a rule or a company names: from the settings of `notify`, and nowhere else. */

import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Call } from '../connectors/call.js';
import type { Connectors } from '../connectors/connectors.js';
import type { Company } from '../contract/company.js';
import type { Notify } from '../contract/notify.js';
import type { RenderedNotice } from './render.js';
import { slackMessage } from './slack.js';

/** The way to one contact. */
export interface NoticeChannel {
  /** Whom it reaches, without secrets, one for each contact: `ada@example.com`, `webhook 1f0a93c2 at https://chat.example`. */
  readonly contact: string;

  /**
   * Delivers the notice once.
   * @param noticeId the same for every attempt at this notice to this contact: the e-mail's Message-ID, without angle brackets,
   *   and the webhook's key where the call has none
   * @throws ConnectorError
   */
  deliver(notice: RenderedNotice, noticeId: string, call: Call): Promise<void>;
}

type Ways = Pick<Connectors, 'noticeMailOf' | 'http'>;

/** One for every contact. */
export function channelsOf({ noticeMailOf, http }: Ways, company: Company, notify: Notify): NoticeChannel[] {
  const { mailer, from } = noticeMailOf(company);
  const { emails = [], webhookUrl } = notify;
  return [
    ...emails.map(
      (to): NoticeChannel => ({
        contact: to,
        deliver: ({ subject, text, html }, noticeId, call) =>
          mailer.send({ from, to, subject, text, html, messageId: noticeId }, call),
      }),
    ),
    ...(webhookUrl === undefined ? [] : [webhookChannel(new URL(webhookUrl), notify, http)]),
  ];
}

/** Facts as JSON, or a message for Slack, under an id by which the receiver knows repetitions. */
function webhookChannel(url: URL, { webhookSecret, webhookFormat }: Notify, http: Ways['http']): NoticeChannel {
  const format = webhookFormat ?? (url.hostname === 'hooks.slack.com' ? 'slack' : 'relay');
  // The path is a secret, yet two webhooks of one host are two contacts.
  const mark = createHash('sha256').update(url.href).digest('hex').slice(0, 8);
  return {
    contact: `webhook ${mark} at ${url.origin}`,
    async deliver(notice, noticeId, call) {
      const idempotencyKey = call.idempotencyKey ?? noticeId;
      const body = format === 'slack' ? slackMessage(notice) : notice.json;
      await http.request({
        method: 'POST',
        url,
        headers: headersOf(idempotencyKey, body, webhookSecret),
        body,
        call: { ...call, idempotencyKey },
        what: 'the webhookUrl in notify',
        secretPath: true,
      });
    },
  };
}

/** Those of Standard Webhooks. Signed is the body as the HTTP client writes it. */
function headersOf(key: string, body: unknown, secret: string | undefined): Record<string, string> {
  // The parts of what is signed are joined by dots: the id is to have none.
  const [id = ''] = key.split('@');
  if (secret === undefined) return { 'webhook-id': id };
  const now = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, now, JSON.stringify(body)),
  };
}
