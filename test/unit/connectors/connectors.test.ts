import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Message } from '../../../src/connectors/mail.js';
import type { Company } from '../../../src/contract/company.js';
import { failing } from '../../connectors/failing.js';
import { bare, own, startLocalConnectors } from '../../connectors/local-connectors.js';
import { answering } from '../../connectors/local-http.js';

const { server, operatorMail, companyMail, connectors } = await startLocalConnectors();
const call = { timeoutMs: 5000 };
const fieldA = { ticketId: 'T1', name: 'a', text: 'b', value: 'b', hasPattern: false, timeZone: 'UTC' };
const message: Message = {
  to: 'ada@example.com',
  from: 'relay@example.org',
  subject: 's',
  text: 't',
  messageId: 'm@relay.invalid',
};

describe('connectors of a company', () => {
  it('are created from its settings', async () => {
    const { platformOf, ticketingOf } = connectors();
    const settings = { kind: 'http' as const, baseUrl: server.url };
    server.answer = answering(200, { status: 'draft' });
    assert.deepEqual(await platformOf({ ...bare, platform: settings }).getAssignment('A1', call), { status: 'draft' });
    await ticketingOf({ ...bare, ticketing: settings }).setField(fieldA, call);
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

  it('share the limits of the vendor if, and only if, they have the same address and the same credentials', () => {
    const { ticketingOf } = connectors();
    const autotask = { kind: 'autotask', userName: 'api@acme.example', secret: 'password-1', integrationCode: 'CODE' } as const;
    const accountOf = (companyId: string, more: object = {}) =>
      ticketingOf({ ...bare, companyId, ticketing: { ...autotask, ...more } }).limits?.account;
    const own = accountOf('acme');
    assert.ok(own);
    assert.equal(accountOf('branch'), own);
    assert.equal(accountOf('branch', { userName: 'API@acme.example' }), own);
    // A company that enters the user name of another company must not use up the limits of that company.
    for (const more of [
      { secret: 'guessed' },
      { integrationCode: 'OTHER' },
      { userName: 'b@c.example' },
      { baseUrl: server.url },
    ])
      assert.notEqual(accountOf('stranger', more), own, JSON.stringify(more));
    assert.equal(accountOf('acme', { baseUrl: `${server.url}/` }), accountOf('branch', { baseUrl: server.url }));
  });

  it("cannot connect to private networks; the connection to the operator's mail server can", async () => {
    const { platformOf, mailerOf, httpOf } = connectors({ allowPrivateNetworks: false });
    const platform = platformOf({ ...bare, platform: { kind: 'http', baseUrl: server.url } });
    for (const attempt of [
      platform.getAssignment('A1', call),
      mailerOf(own(companyMail.port)).send(message, call),
      httpOf({}, 'notify').request({ method: 'POST', url: new URL(server.url), call, what: 'the webhookUrl in notify' }),
    ]) {
      assert.match((await failing(attempt)).message, /RELAY_ALLOW_PRIVATE_NETWORKS/);
    }
    await mailerOf(bare).send(message, call);
  });

  it('may have internal addresses from the operator, but never from a company key', async () => {
    const own: Company = {
      ...bare,
      platform: { kind: 'http', baseUrl: server.url },
      ticketing: { kind: 'http', baseUrl: server.url },
      mail: { smtpUrl: `smtp://127.0.0.1:${companyMail.port}` },
    };
    server.answer = answering(200, { status: 'draft' });
    const { platformOf, ticketingOf, mailerOf } = connectors({ allowPrivateNetworks: ['127.0.0.0/8'] });
    const calls = (company: Company) => [
      () => platformOf(company).getAssignment('A1', call),
      () => ticketingOf(company).setField(fieldA, call),
      () => mailerOf(company).send(message, call),
    ];
    for (const made of calls(own)) await made();
    for (const made of calls({ ...own, setByCompany: ['platform', 'ticketing', 'mail'] }))
      assert.match((await failing(made())).message, /leads to a private, loopback/);
    const autotask = { kind: 'autotask', userName: 'u', secret: 's', integrationCode: 'i', baseUrl: server.url } as const;
    const vendor: Company = { ...bare, ticketing: autotask, setByCompany: ['ticketing'] };
    assert.match((await failing(ticketingOf(vendor).check(call))).message, /leads to a private, loopback/);
  });
});

describe("a company's e-mail", () => {
  it("goes through the company's own mail server, or, without one, through the operator's", async () => {
    const { mailerOf } = connectors();
    companyMail.lines.length = operatorMail.lines.length = 0;
    await mailerOf(own(companyMail.port)).send(message, call);
    assert.deepEqual([companyMail.lines.includes('DATA'), operatorMail.lines.includes('DATA')], [true, false]);
    await mailerOf(bare).send(message, call);
    assert.ok(operatorMail.lines.includes('DATA'));
  });

  it("comes from the company's address, or, without one, from the relay's", () => {
    const { senderOf } = connectors();
    assert.deepEqual(senderOf(bare), { from: 'relay@example.org' });
    assert.deepEqual(senderOf({ ...bare, mail: { from: 'a@acme.example', replyTo: 'b@acme.example' } }), {
      from: 'a@acme.example',
      replyTo: 'b@acme.example',
    });
  });
});
