import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type ConnectorsOptions, createConnectors } from '../../../src/connectors/connectors.js';
import type { Company } from '../../../src/contract/company.js';
import { channelsOf } from '../../../src/notices/channels/channels.js';
import { failing } from '../../connectors/failing.js';
import { startHttp } from '../../connectors/local-http.js';
import { startScriptedSmtp } from '../../connectors/scripted-smtp.js';

const server = await startHttp();
const operatorMail = await startScriptedSmtp({});
const companyMail = await startScriptedSmtp({});
const call = { timeoutMs: 5000 };
const notice = { subject: 's', text: 't', html: 'h', json: {} };
const bare: Company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC' };
const own = (port: number): Company => ({ ...bare, mail: { smtpUrl: `smtp://127.0.0.1:${port}` } });

function connectors(options: Partial<ConnectorsOptions> = {}) {
  const made = createConnectors({
    allowPrivateNetworks: true,
    smtpUrl: `smtp://127.0.0.1:${operatorMail.port}`,
    mailFrom: 'relay@example.org',
    ...options,
  });
  after(() => made.close());
  return made;
}

describe('notices', () => {
  it('by webhook are guarded as the connectors are', async () => {
    const [webhook] = channelsOf(connectors({ allowPrivateNetworks: false }), bare, { webhookUrl: server.url });
    assert.ok(webhook);
    assert.match((await failing(webhook.deliver(notice, 'n', call))).message, /RELAY_ALLOW_PRIVATE_NETWORKS/);
  });

  it('have a channel for every contact', () => {
    const channels = channelsOf(connectors(), bare, {
      emails: ['ada@example.com', 'bob@example.com'],
      webhookUrl: 'https://chat.example/T0/s3cret',
    });
    const [ada, bob, webhook, ...others] = channels.map(({ contact }) => contact);
    assert.deepEqual([ada, bob, others], ['ada@example.com', 'bob@example.com', []]);
    assert.match(webhook ?? '', /^webhook [0-9a-f]{8} at https:\/\/chat\.example$/);
    assert.deepEqual(channelsOf(connectors(), bare, {}), []);
  });

  it("go through the operator's mail server, since the company's may be what they report", async () => {
    operatorMail.lines.length = 0;
    const [channel] = channelsOf(connectors(), own(1), { emails: ['ada@example.com'] });
    await channel?.deliver(notice, 'n@relay.invalid', call);
    assert.ok(operatorMail.lines.includes('MAIL FROM:<relay@example.org>'));
  });

  it("go through the company's where there is no other, and reach the webhook where there is none at all", async () => {
    const ours = connectors({ smtpUrl: undefined });
    companyMail.lines.length = 0;
    await channelsOf(ours, own(companyMail.port), { emails: ['ada@example.com'] })[0]?.deliver(notice, 'n@relay.invalid', call);
    assert.ok(companyMail.lines.includes('DATA'));

    const [email, webhook] = channelsOf(ours, bare, { emails: ['ada@example.com'], webhookUrl: server.url });
    assert.ok(email && webhook);
    assert.match((await failing(email.deliver(notice, 'n@relay.invalid', call))).message, /has no mail server/);
    await webhook.deliver(notice, 'n', call);
  });
});
