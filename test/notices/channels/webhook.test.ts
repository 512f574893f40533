import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createHttpClient } from '../../../src/connectors/http.js';
import { createWebhookChannel } from '../../../src/notices/channels/webhook.js';
import { failing } from '../../connectors/failing.js';
import { answering, startHttp } from '../../connectors/local-http.js';

const notice = { subject: 'A1 was not sent', text: 'text', html: '<p>html</p>', json: { chainId: 'c1' } };
const http = createHttpClient({ allowPrivateNetworks: true });
const server = await startHttp();
const channel = createWebhookChannel({ webhookUrl: `${server.url}/services/T0/s3cret?token=s3cret`, http });
after(() => http.close());

describe('notices by webhook', () => {
  for (const [name, key, idempotencyKey] of [
    ['the id of the notice', 'n1', undefined],
    ["the call's key", 'k1', 'k1'],
  ] as const) {
    it(`are JSON under ${name}`, async () => {
      server.answer = answering(200, 'ok');
      await channel.deliver(notice, 'n1', { timeoutMs: 5000, ...(idempotencyKey && { idempotencyKey }) });
      const { method, path, headers, body } = server.last();
      assert.deepEqual([method, path, body], ['POST', '/services/T0/s3cret?token=s3cret', '{"chainId":"c1"}']);
      assert.deepEqual(
        [headers['content-type'], headers['webhook-id'], headers['idempotency-key']],
        ['application/json', key, key],
      );
    });
  }

  it('are signed where there is a secret, as its holder can verify', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const signed = createWebhookChannel({ webhookUrl: `${server.url}/signed`, secret, http });
    server.answer = answering(200, 'ok');
    const json = { text: 'Größe “7” <b>', n: 1, left: undefined };
    await signed.deliver({ ...notice, json }, 'abc@relay.invalid', { timeoutMs: 5000 });
    const { headers, body } = server.last();
    const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    assert.equal(flat['webhook-id'], 'abc');
    assert.deepEqual(new Webhook(secret).verify(body, flat), { text: 'Größe “7” <b>', n: 1 });
    assert.throws(() => new Webhook(secret).verify(`${body} `, flat));
    assert.doesNotMatch(JSON.stringify(flat), /whsec_|BwcH/);
  });

  it('are unsigned without a secret, and messages where the format is slack', async () => {
    const slack = createWebhookChannel({ webhookUrl: `${server.url}/slack`, format: 'slack', http });
    await slack.deliver(notice, 'n1', { timeoutMs: 5000 });
    const { headers, body } = server.last();
    assert.equal(headers['webhook-signature'], undefined);
    assert.deepEqual(Object.keys(JSON.parse(body)), ['text', 'blocks']);
  });

  it('are for different contacts where only the path differs', () => {
    const [one, other, again] = ['T0', 'T1', 'T0'].map(
      (path) => createWebhookChannel({ webhookUrl: `${server.url}/${path}`, http }).contact,
    );
    assert.notEqual(one, other);
    assert.equal(one, again);
  });

  it('fail without showing the path and query of the webhook, which are secrets', async () => {
    server.answer = (response, { path }) => response.writeHead(404).end(`no ${path}`);
    const error = await failing(channel.deliver(notice, 'n1', { timeoutMs: 5000 }));
    assert.equal(error.kind, 'permanent');
    assert.doesNotMatch(error.message + channel.contact, /s3cret/);
  });
});
