import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { startMailCatcher } from '../../../../src/sandbox/mail/catcher.js';
import { freePort } from '../../../../src/service/server.js';
import { call } from '../../../sandbox/http.js';

type Catcher = Awaited<ReturnType<typeof startMailCatcher>>;

const api = (catcher: Catcher, method: string, path: string, body?: unknown) => call(catcher.uiUrl, method, path, body);
const total = async (catcher: Catcher) => (await api(catcher, 'GET', '/api/v1/messages')).at('total');

async function deliver(catcher: Catcher, mail: SendMailOptions) {
  const transport = createTransport(catcher.smtpUrl, { from: '"The relay" <relay@example.com>' });
  try {
    return await transport.sendMail(mail);
  } finally {
    transport.close();
  }
}

const alert = {
  to: '"Ada Lund" <ada@example.com>',
  subject: 'Nobody took 1002 ✓',
  text: 'Assignment 1002\nis still a draft.',
  messageId: '<a.0.x@relay>',
};

describe('the mail catcher', () => {
  let catcher: Catcher;
  before(async () => {
    catcher = await startMailCatcher({ host: '127.0.0.1', smtpPort: 0, uiPort: 0 });
  });
  after(() => catcher.close());
  beforeEach(async () => {
    await api(catcher, 'DELETE', '/control/fail');
    await api(catcher, 'DELETE', '/api/v1/messages');
  });

  it('lists messages as Mailpit does', async () => {
    await deliver(catcher, alert);
    await deliver(catcher, { ...alert, to: 'ben@example.com', subject: 'Second' });
    const page = await api(catcher, 'GET', '/api/v1/messages');
    assert.deepEqual(['total', 'messages_count'].map(page.at), [2, 2]);
    assert.deepEqual(page.table('messages', 'MessageID', 'Subject'), [
      ['a.0.x@relay', 'Second'],
      ['a.0.x@relay', alert.subject],
    ]);
    assert.deepEqual(page.at('messages.1.From'), { Name: 'The relay', Address: 'relay@example.com' });
    assert.deepEqual(page.at('messages.1.To'), [{ Name: 'Ada Lund', Address: 'ada@example.com' }]);
    assert.ok(Math.abs(Date.parse(String(page.at('messages.1.Created'))) - Date.now()) < 60_000);
  });

  it('shows a whole message', async () => {
    await deliver(catcher, { ...alert, html: '<p>Assignment <b>1002</b></p>', bcc: 'secret@example.com' });
    const path = `/api/v1/message/${(await api(catcher, 'GET', '/api/v1/messages')).at('messages.0.ID')}`;
    const message = await api(catcher, 'GET', path);
    assert.equal(String(message.at('Text')).trim(), alert.text);
    assert.equal(String(message.at('HTML')).trim(), '<p>Assignment <b>1002</b></p>');
    assert.equal(message.at('Subject'), alert.subject);
    const raw = await api(catcher, 'GET', `${path}/raw`);
    assert.match(raw.headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(
      raw.text,
      /^Return-Path: <relay@example\.com>\r\nDelivered-To: ada@example\.com\r\nDelivered-To: secret@example\.com\r\n/,
    );
    assert.equal((await api(catcher, 'GET', '/api/v1/message/none')).status, 404);
  });

  it('accepts every login', async () => {
    const transport = createTransport(catcher.smtpUrl.replace('//', '//any:thing@'));
    await transport.sendMail({ ...alert, from: 'relay@example.com' });
    transport.close();
    assert.equal(await total(catcher), 1);
  });

  describe('finds messages', () => {
    for (const [query, found] of [
      ['to:"ada@example.com"', 1],
      ['to:ADA', 1],
      ['to:"Ada Lund"', 1],
      ['to:ben', 0],
      ['to:draft', 0],
      ['draft', 1],
      ['"took 1002"', 1],
      ['relay@example.com', 1],
      ['other', 0],
      ['', 1],
    ] as const) {
      it(`${query || '(no query)'}: ${found}`, async () => {
        await deliver(catcher, alert);
        const answer = await api(catcher, 'GET', `/api/v1/search?query=${encodeURIComponent(query)}`);
        assert.deepEqual([answer.table('messages').length, answer.at('messages_count'), answer.at('total')], [found, found, 1]);
      });
    }
  });

  it('deletes all', async () => {
    await deliver(catcher, alert);
    await deliver(catcher, alert);
    assert.equal((await api(catcher, 'DELETE', '/api/v1/messages')).text, 'ok');
    assert.equal(await total(catcher), 0);
  });

  it('refuses the chosen recipients the given number of times, and accepts all other recipients', async () => {
    await api(catcher, 'PUT', '/control/fail', { code: 451, to: 'ADA@', times: 1 });
    await deliver(catcher, { ...alert, to: 'ben@example.com' });
    await assert.rejects(deliver(catcher, alert), { responseCode: 451 });
    await deliver(catcher, alert);
    await api(catcher, 'PUT', '/control/fail', { code: 550 });
    await assert.rejects(deliver(catcher, alert), { responseCode: 550 });
    await assert.rejects(deliver(catcher, alert), { responseCode: 550 });
    assert.deepEqual((await api(catcher, 'GET', '/control')).at(''), { fail: { code: 550 } });
    assert.equal(await total(catcher), 2);
    for (const body of [{}, { code: 250 }, { code: 451, dropAfterBody: true }]) {
      assert.equal((await api(catcher, 'PUT', '/control/fail', body)).status, 400, JSON.stringify(body));
    }
  });

  it('keeps a message and breaks the connection, so that the sender does not know the outcome', async () => {
    await api(catcher, 'PUT', '/control/fail', { dropAfterBody: true, times: 1 });
    await assert.rejects(deliver(catcher, alert), { code: 'ECONNECTION' });
    assert.equal(await total(catcher), 1);
    await deliver(catcher, alert);
  });

  it('shows the inbox in the browser, and isolates the content of messages', async () => {
    const nasty = '<script>alert(1)</script>';
    await deliver(catcher, {
      ...alert,
      subject: nasty,
      text: nasty,
      html: `<p>Hello</p>${nasty}`,
      to: `"${nasty}" <ada@example.com>`,
      replyTo: 'admin@example.com',
    });
    const list = await api(catcher, 'GET', '/');
    assert.doesNotMatch(list.text, /<script>/);
    const link = /href="(\/message\/[^"]+)"/.exec(list.text)?.[1] ?? '';
    const page = await api(catcher, 'GET', link);
    assert.doesNotMatch(page.text, /<script>/);
    const frame = /<iframe[^>]* sandbox="([^"]*)"[^>]* src="([^"]+)"/.exec(page.text);
    assert.doesNotMatch(frame?.[1] ?? 'allow-scripts', /allow-scripts|allow-same-origin/);
    const view = await api(catcher, 'GET', frame?.[2] ?? '');
    assert.match(view.text, /<p>Hello<\/p>/);
    assert.match(view.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);
    assert.match(page.text, /<pre class="card">&lt;script&gt;alert\(1\)/);
    assert.match(page.text, /<td>admin@example\.com<\/td>/);
    assert.match(page.text, /message-id: &lt;a\.0\.x@relay&gt;/i);
    assert.equal((await api(catcher, 'GET', '/message/none')).status, 404);

    const press = (path: string, form = {}) =>
      fetch(catcher.uiUrl + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams(form) });
    assert.equal((await press('/page/fail', { failure: '{"code":451}' })).status, 303);
    assert.match((await api(catcher, 'GET', '/')).text, /Failing:<\/strong> <code>{&quot;code&quot;:451}/);
    await press('/page/heal');
    await press('/page/empty');
    assert.match((await api(catcher, 'GET', '/')).text, /0 messages/);
  });
});

describe('a restarted mail catcher', () => {
  const directory = mkdtempSync(join(tmpdir(), 'relay-mail-'));
  after(() => rmSync(directory, { recursive: true }));

  it('still has its messages', async () => {
    const options = { host: '127.0.0.1', smtpPort: 0, uiPort: 0, directory: join(directory, 'mail') };
    const first = await startMailCatcher(options);
    await deliver(first, alert);
    await deliver(first, { ...alert, subject: 'Second' });
    const before = (await api(first, 'GET', '/api/v1/messages')).text;
    await first.close();
    const second = await startMailCatcher(options);
    assert.equal((await api(second, 'GET', '/api/v1/messages')).text, before);
    const newest = (await api(second, 'GET', '/api/v1/messages')).at('messages.0.ID');
    assert.match((await api(second, 'GET', `/api/v1/message/${newest}/raw`)).text, /Subject: Second/);
    await api(second, 'DELETE', '/api/v1/messages');
    assert.deepEqual(readdirSync(options.directory), []);
    await second.close();
  });

  it('names the variable of a port in use, and leaves nothing open', async () => {
    const port = await freePort('127.0.0.1');
    const other = await freePort('127.0.0.1');
    const taken = createServer().listen(port, '127.0.0.1');
    const refusal = (variable: string) => ({
      name: 'StartError',
      message: `port ${port} is in use: stop the program that uses it, or set ${variable}`,
    });
    await assert.rejects(startMailCatcher({ host: '127.0.0.1', smtpPort: port, uiPort: other }), refusal('RELAY_SMTP_PORT'));
    await assert.rejects(startMailCatcher({ host: '127.0.0.1', smtpPort: other, uiPort: port }), refusal('RELAY_MAIL_UI_PORT'));
    taken.close();
    await (await startMailCatcher({ host: '127.0.0.1', smtpPort: other, uiPort: port })).close();
  });
});
