import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type ConnectorsOptions, createConnectors } from '../../src/connectors/connectors.js';
import type { Message } from '../../src/connectors/mail.js';
import type { Company } from '../../src/contract/company.js';
import { failing } from './failing.js';
import { answering, startHttp } from './local-http.js';
import { startScriptedSmtp } from './scripted-smtp.js';

const server = await startHttp();
const operatorMail = await startScriptedSmtp({});
const companyMail = await startScriptedSmtp({});
const call = { timeoutMs: 5000 };
const message: Message = {
  to: 'ada@example.com',
  from: 'relay@example.org',
  subject: 's',
  text: 't',
  messageId: 'm@relay.invalid',
};
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

describe('connectors of a company', () => {
  it('are made from its settings', async () => {
    const { platformOf, ticketingOf } = connectors();
    const settings = { kind: 'http' as const, baseUrl: server.url };
    server.answer = answering(200, { status: 'draft' });
    assert.deepEqual(await platformOf({ ...bare, platform: settings }).getAssignment('A1', call), { status: 'draft' });
    await ticketingOf({ ...bare, ticketing: settings }).updateField('T1', { name: 'a', value: 'b' }, call);
    assert.equal(server.last().path, '/tickets/T1');
  });

  it('that are not set say how to set them', () => {
    const { platformOf, ticketingOf, mailerOf } = connectors({ smtpUrl: undefined });
    for (const [make, key] of [
      [platformOf, 'platform'],
      [ticketingOf, 'ticketing'],
      [mailerOf, 'mail'],
    ] as const) {
      const message = new RegExp(`^company acme has no .* PUT /admin/companies/acme \\{"${key}": `);
      assert.throws(() => make(bare), { name: 'ConnectorError', kind: 'permanent', message });
    }
  });

  it("are guarded, and the operator's mail server is not", async () => {
    const { platformOf, mailerOf, http } = connectors({ allowPrivateNetworks: false });
    const platform = platformOf({ ...bare, platform: { kind: 'http', baseUrl: server.url } });
    for (const attempt of [
      platform.getAssignment('A1', call),
      mailerOf(own(companyMail.port)).send(message, call),
      http.request({ method: 'POST', url: new URL(server.url), call, what: 'the webhookUrl in notify' }),
    ]) {
      assert.match((await failing(attempt)).message, /RELAY_ALLOW_PRIVATE_NETWORKS/);
    }
    await mailerOf(bare).send(message, call);
  });
});

describe("a company's e-mail", () => {
  it("goes through its own mail server, or else the operator's", async () => {
    const { mailerOf } = connectors();
    companyMail.lines.length = operatorMail.lines.length = 0;
    await mailerOf(own(companyMail.port)).send(message, call);
    assert.deepEqual([companyMail.lines.includes('DATA'), operatorMail.lines.includes('DATA')], [true, false]);
    await mailerOf(bare).send(message, call);
    assert.ok(operatorMail.lines.includes('DATA'));
  });

  it('is from the address that it set, or else from the relay', () => {
    const { senderOf } = connectors();
    assert.deepEqual(senderOf(bare), { from: 'relay@example.org' });
    assert.deepEqual(senderOf({ ...bare, mail: { from: 'a@acme.example', replyTo: 'b@acme.example' } }), {
      from: 'a@acme.example',
      replyTo: 'b@acme.example',
    });
  });
});
