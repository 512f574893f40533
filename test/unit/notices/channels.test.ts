import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { ConnectorError } from '../../../src/connectors/call.js';
import type { Mailer, Message } from '../../../src/connectors/mail.js';
import { contactsOf, type Notify } from '../../../src/contract/notify.js';
import { channelsOf, type NoticeChannel, slackMessage } from '../../../src/notices/channels.js';
import { failing } from '../../connectors/failing.js';
import { bare, own, startLocalConnectors } from '../../connectors/local-connectors.js';
import { answering } from '../../connectors/local-http.js';

const { server, operatorMail, companyMail, connectors } = await startLocalConnectors();
const call = { idempotencyKey: 'n1@relay.invalid', timeoutMs: 5000 };
const notice = { subject: 'A1 was not sent', text: 'text', html: '<p>html</p>', json: { chainId: 'c1' } };

describe('notices', () => {
  it('through a webhook cannot reach private networks, like connectors', async () => {
    const [webhook] = channelsOf(connectors({ allowPrivateNetworks: false }), bare, { webhookUrl: server.url });
    assert.ok(webhook);
    assert.match((await failing(webhook.deliver(notice, call))).message, /RELAY_ALLOW_PRIVATE_NETWORKS/);
  });

  it('through a webhook of a company key go to public addresses only, even if the operator allows more', async () => {
    server.answer = answering(204);
    const notify = { webhookUrl: server.url };
    const [ofOperator] = channelsOf(connectors(), bare, notify);
    await ofOperator?.deliver(notice, call);
    const setByCompany = ['notify' as const];
    for (const [company, whose] of [
      [{ ...bare, setByCompany }, undefined],
      [bare, { setByCompany }],
    ] as const) {
      const [webhook = assert.fail()] = channelsOf(connectors(), company, notify, whose);
      assert.match((await failing(webhook.deliver(notice, call))).message, /a key of the company can set only public addresses/);
    }
  });

  it('have a channel for every contact', () => {
    const channels = channelsOf(connectors(), bare, {
      emails: ['ada@example.com', 'bob@example.com'],
      webhookUrl: 'https://chat.example/T0/s3cret',
    });
    const [ada, bob, webhook, ...others] = channels.map(({ contact }) => contact);
    assert.deepEqual([ada, bob, others], ['ada@example.com', 'bob@example.com', []]);
    assert.match(webhook ?? '', /^webhook [0-9a-f]{8} at https:\/\/chat\.example$/);
    const notify = { emails: ['ada@example.com', 'bob@example.com'], webhookUrl: 'https://chat.example/T0/s3cret' };
    assert.deepEqual(
      contactsOf(notify),
      channels.map(({ contact }) => contact),
    );
    assert.deepEqual(channelsOf(connectors(), bare, {}), []);
  });

  it("use the operator's mail server, since they may report a failure of the company's", async () => {
    operatorMail.lines.length = 0;
    const [channel] = channelsOf(connectors(), own(1), { emails: ['ada@example.com'] });
    await channel?.deliver(notice, call);
    assert.ok(operatorMail.lines.includes('MAIL FROM:<relay@example.org>'));
  });

  it("use the company's mail server if the operator has none, and reach the webhook without any mail server", async () => {
    const ours = connectors({ smtpUrl: undefined });
    companyMail.lines.length = 0;
    await channelsOf(ours, own(companyMail.port), { emails: ['ada@example.com'] })[0]?.deliver(notice, call);
    assert.ok(companyMail.lines.includes('DATA'));

    const [email, webhook] = channelsOf(ours, bare, { emails: ['ada@example.com'], webhookUrl: server.url });
    assert.ok(email && webhook);
    assert.match((await failing(email.deliver(notice, call))).message, /has no mail server/);
    await webhook.deliver(notice, call);
  });
});

function channelTo(address: string, mail: { mailer: Pick<Mailer, 'send'>; from: string }): NoticeChannel {
  const [channel] = channelsOf({ httpOf: connectors().httpOf, noticeMailOf: () => mail }, bare, { emails: [address] });
  assert.ok(channel);
  return channel;
}

describe('notices by e-mail', () => {
  it('are one message for each contact, with the given Message-ID', async () => {
    const sent: Message[] = [];
    const mailer = { send: async (message: Message) => void sent.push(message) };
    const channel = channelTo('ada@example.com', { mailer, from: 'Relay <relay@example.org>' });
    await channel.deliver(notice, { idempotencyKey: 'n1@relay.invalid', timeoutMs: 1000 });
    const { json: _json, ...rendered } = notice;
    assert.deepEqual(sent, [
      { ...rendered, from: 'Relay <relay@example.org>', to: 'ada@example.com', messageId: 'n1@relay.invalid' },
    ]);
    assert.equal(channel.contact, 'ada@example.com');
  });

  it('fail with the error of the mailer', async () => {
    const mailer = { send: () => Promise.reject(new ConnectorError('unknown', 'lost')) };
    const channel = channelTo('ada@example.com', { mailer, from: 'relay@example.org' });
    assert.equal(
      (await failing(channel.deliver(notice, { idempotencyKey: 'n1@relay.invalid', timeoutMs: 1000 }))).kind,
      'unknown',
    );
  });
});

function webhookTo(webhookUrl: string, notify: Notify = {}): NoticeChannel {
  const [channel] = channelsOf(connectors(), bare, { ...notify, webhookUrl });
  assert.ok(channel);
  return channel;
}
const secretly = webhookTo(`${server.url}/services/T0/s3cret?token=s3cret`);

describe('notices through a webhook', () => {
  it("are JSON with the call's key", async () => {
    server.answer = answering(200, 'ok');
    await secretly.deliver(notice, { idempotencyKey: 'k1', timeoutMs: 5000 });
    const { method, path, headers, body } = server.last();
    assert.deepEqual([method, path, body], ['POST', '/services/T0/s3cret?token=s3cret', '{"chainId":"c1"}']);
    assert.deepEqual(
      [headers['content-type'], headers['webhook-id'], headers['idempotency-key']],
      ['application/json', 'k1', 'k1'],
    );
  });

  it('are signed if there is a secret, and its holder can verify them', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const signed = webhookTo(`${server.url}/signed`, { webhookSecret: secret });
    server.answer = answering(200, 'ok');
    const json = { text: 'Größe “7” <b>', n: 1, left: undefined };
    await signed.deliver({ ...notice, json }, { idempotencyKey: 'abc@relay.invalid', timeoutMs: 5000 });
    const { headers, body } = server.last();
    const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    assert.equal(flat['webhook-id'], 'abc');
    assert.deepEqual(new Webhook(secret).verify(body, flat), { text: 'Größe “7” <b>', n: 1 });
    assert.throws(() => new Webhook(secret).verify(`${body} `, flat));
    assert.doesNotMatch(JSON.stringify(flat), /whsec_|BwcH/);
  });

  it('are unsigned without a secret, and are Slack messages in the format slack', async () => {
    const slack = webhookTo(`${server.url}/slack`, { webhookFormat: 'slack' });
    await slack.deliver(notice, { idempotencyKey: 'n1', timeoutMs: 5000 });
    const { headers, body } = server.last();
    assert.equal(headers['webhook-signature'], undefined);
    assert.deepEqual(Object.keys(JSON.parse(body)), ['text', 'blocks']);
  });

  it('go to different contacts if only the path differs', () => {
    const [one, other, again] = ['T0', 'T1', 'T0'].map((path) => webhookTo(`${server.url}/${path}`).contact);
    assert.notEqual(one, other);
    assert.equal(one, again);
  });

  it("fail without showing the webhook's path and query, which are secrets", async () => {
    server.answer = (response, { path }) => response.writeHead(404).end(`no ${path}`);
    const error = await failing(secretly.deliver(notice, { idempotencyKey: 'n1', timeoutMs: 5000 }));
    assert.equal(error.kind, 'permanent');
    assert.doesNotMatch(error.message + secretly.contact, /s3cret/);
  });
});

describe('a notice for Slack', () => {
  it('has a section for each paragraph, escaped, with titles and commands in mark-up', () => {
    const { text, blocks } = slackMessage({
      subject: 'A & B',
      text: 'It <failed>.\n\nTo put it right:\n  npx relay retry acme c1 0\n  Mail <!channel> & all:\n',
    });
    assert.equal(text, 'A &amp; B');
    assert.deepEqual(
      blocks.map((block) => block.text.text),
      ['A & B', 'It &lt;failed&gt;.', '*To put it right:*\n`npx relay retry acme c1 0`\nMail &lt;!channel&gt; &amp; all:'],
    );
  });

  it("keeps a notice's longest link complete, and Slack shows it as one link", () => {
    const link = `https://relay.example/hold/${'a'.repeat(400)}`;
    const { blocks } = slackMessage({ subject: 'Held', text: `To put it right:\n  Retry or skip: ${link}\n` });
    assert.equal(blocks[1]?.text.text, `*To put it right:*\nRetry or skip: ${link}`);
  });

  for (const [what, text] of [
    ['long lines', '<'.repeat(40_000)],
    ['many lines', 'a line & more\n'.repeat(5000)],
    ['many paragraphs', 'paragraph\n\n'.repeat(500)],
    ['surrogate pairs', '😀'.repeat(5000)],
  ] as const)
    it(`stays within Slack's limits with ${what}`, () => {
      const { blocks } = slackMessage({ subject: 's'.repeat(500), text });
      assert.ok(blocks.length <= 50, String(blocks.length));
      for (const block of blocks) {
        assert.ok(block.text.text.length <= (block.type === 'header' ? 150 : 3000));
        assert.ok(block.text.text.length > 0);
        assert.doesNotThrow(() => encodeURIComponent(block.text.text), 'half a surrogate pair');
        assert.doesNotMatch(block.text.text, /&(?!amp;|lt;|gt;)/);
      }
    });
});
