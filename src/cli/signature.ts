/** Signs a request as Standard Webhooks says, for companies whose webhooks are signed. */

import { createHmac } from 'node:crypto';
import { UsageError } from './exit-codes.js';

/**
 * The three headers, for these bytes.
 * @param secret - `whsec_` and base64.
 * @throws UsageError, without the secret.
 */
export function signatureHeaders(secret: string, id: string, body: Uint8Array, now = Date.now()): Record<string, string> {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim()) ?? [];
  if (base64 === undefined) throw new UsageError('The webhook secret must be whsec_ and base64');
  const timestamp = String(Math.floor(now / 1000));
  const signature = createHmac('sha256', Buffer.from(base64, 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
