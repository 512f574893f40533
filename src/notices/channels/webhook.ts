/**
 * Notices to a webhook: facts as JSON, signed by Standard Webhooks where there is a secret, or a message for Slack. Each
 * carries an id by which the receiver knows repetitions.
 */

import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { HttpClient } from '../../connectors/http.js';
import type { NoticeChannel } from './channel.js';
import { slackMessage } from './slack.js';

interface WebhookOptions {
  webhookUrl: string;
  /** `whsec_…` */
  secret?: string | undefined;
  /** Default: what the host takes. */
  format?: 'relay' | 'slack' | undefined;
  http: HttpClient;
}

export function createWebhookChannel({ webhookUrl, secret, format, http }: WebhookOptions): NoticeChannel {
  const url = new URL(webhookUrl);
  const forSlack = (format ?? (url.hostname === 'hooks.slack.com' ? 'slack' : 'relay')) === 'slack';
  // the path is a secret, yet two webhooks of one host are two contacts
  const mark = createHash('sha256').update(url.href).digest('hex').slice(0, 8);
  return {
    contact: `webhook ${mark} at ${url.origin}`,
    async deliver(notice, noticeId, call) {
      const key = call.idempotencyKey ?? noticeId;
      const body = forSlack ? slackMessage(notice) : notice.json;
      await http.request({
        method: 'POST',
        url,
        headers: headersOf(key, body, secret),
        body,
        call: { ...call, idempotencyKey: key },
        what: 'the webhookUrl in notify',
        secretPath: true,
      });
    },
  };
}

/** Signed is the body as the HTTP client writes it. */
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
