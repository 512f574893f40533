/** Notices as JSON to a webhook, with a key by which the receiver knows repetitions. */

import { createHash } from 'node:crypto';
import type { HttpClient } from '../http.js';
import type { NoticeChannel } from './notice.js';

export function createWebhookChannel({ webhookUrl, http }: { webhookUrl: string; http: HttpClient }): NoticeChannel {
  const url = new URL(webhookUrl);
  // the path is a secret, yet two webhooks of one host are two contacts
  const mark = createHash('sha256').update(url.href).digest('hex').slice(0, 8);
  return {
    contact: `webhook ${mark} at ${url.origin}`,
    async deliver({ json }, noticeId, call) {
      const key = call.idempotencyKey ?? noticeId;
      await http.request({
        method: 'POST',
        url,
        headers: { 'webhook-id': key },
        body: json,
        call: { ...call, idempotencyKey: key },
        what: 'the webhookUrl in notify',
        secretPath: true,
      });
    },
  };
}
