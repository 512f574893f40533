import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, describe, it } from 'node:test';
import { SMTPServer, type SMTPServerAuthentication } from 'smtp-server';
import type { Message } from '../../../src/connectors/mail.js';
import { companyPatch, companyRequest, companySchema } from '../../../src/contract/company.js';
import { type Merge, mergePatch, redact, replaceKeepingSecrets } from '../../../src/contract/secrets.js';
import { failing } from '../../connectors/failing.js';
import { bare, startLocalConnectors } from '../../connectors/local-connectors.js';
import { answering } from '../../connectors/local-http.js';
import { type Script, startScriptedSmtp } from '../../connectors/scripted-smtp.js';

const { server: tokens, connectors } = await startLocalConnectors();
const { mailerOf } = connectors();
const call = { timeoutMs: 5000, idempotencyKey: 'relay:acme:c1/0' };
const message: Message = {
  to: 'ada@example.com',
  from: 'relay@example.org',
  subject: 's',
  text: 't',
  messageId: 'm@relay.invalid',
};

type OAuth2 = NonNullable<NonNullable<(typeof companySchema)['_output']['mail']>['oauth2']>;
let used = 0;
/** New settings for each test. No token for them is in memory. */
const settings = (changes: Partial<OAuth2> = {}): OAuth2 => {
  const tokenUrl = `${tokens.url}/t3nant/oauth2/v2.0/token`;
  return { user: 'office@acme.example', clientId: `client${used++}`, clientSecret: 's3cret&=', tokenUrl, ...changes };
};
const mailerAt = (port: number, oauth2: OAuth2) => mailerOf({ ...bare, mail: { smtpUrl: `smtp://127.0.0.1:${port}`, oauth2 } });

/** A mail server that accepts these tokens only. */
async function startMail(accepted: string[]) {
  const logins: Partial<SMTPServerAuthentication>[] = [];
  const delivered: string[] = [];
  const server = new SMTPServer({
    authMethods: ['XOAUTH2'],
    disabledCommands: ['STARTTLS'],
    onAuth(auth, _session, done) {
      logins.push(auth);
      if (accepted.includes(auth.accessToken ?? '')) return done(null, { user: auth.username });
      done(null, { data: { status: '401', schemes: 'bearer' } }); // answers 334 with this text, then 535
    },
    onData(stream, session, done) {
      stream.resume();
      stream.on('end', () => done(null, `${delivered.push(String(session.user))}`));
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  after(() => new Promise<void>((closed) => server.close(closed)));
  return { port: (server.server.address() as AddressInfo).port, logins, delivered };
}

/** Answers with t0ken1, t0ken2, … */
function issue(extra: object = { expires_in: 3599 }) {
  tokens.answer = (response, request) =>
    answering(200, { token_type: 'Bearer', access_token: `t0ken${tokens.received.length}`, ...extra })(response, request);
}

beforeEach(() => {
  tokens.received.length = 0;
  issue();
});

describe('a mailbox with OAuth2', () => {
  it('gets mail with a token, which is used again', async () => {
    const { port, logins, delivered } = await startMail(['t0ken1']);
    const oauth2 = settings();
    for (const _ of [1, 2]) await mailerAt(port, oauth2).send(message, call);
    assert.equal(await mailerAt(port, oauth2).check(call), `mail server 127.0.0.1:${port} accepts the access token`);
    assert.deepEqual([delivered, tokens.received.length], [['office@acme.example', 'office@acme.example'], 1]);
    const { method, username, accessToken } = logins[0] ?? {};
    assert.deepEqual([method, username, accessToken], ['XOAUTH2', 'office@acme.example', 't0ken1']);
  });

  it('Microsoft: asks with the client credentials and the scope of Exchange', async () => {
    const { port } = await startMail(['t0ken1']);
    const oauth2 = settings();
    await mailerAt(port, oauth2).send(message, call);
    const { method, path, headers, body } = tokens.last();
    assert.deepEqual([method, path], ['POST', '/t3nant/oauth2/v2.0/token']);
    assert.deepEqual(
      [headers['content-type'], headers['idempotency-key'], headers.authorization],
      ['application/x-www-form-urlencoded', undefined, undefined],
    );
    assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
      grant_type: 'client_credentials',
      scope: 'https://outlook.office365.com/.default',
      client_id: oauth2.clientId,
      client_secret: 's3cret&=',
    });
  });

  it('Google: asks with the refresh token', async () => {
    const { port } = await startMail(['t0ken1']);
    const oauth2 = settings({ refreshToken: 'r3fresh' });
    await mailerAt(port, oauth2).send(message, call);
    assert.deepEqual(Object.fromEntries(new URLSearchParams(tokens.last().body)), {
      grant_type: 'refresh_token',
      refresh_token: 'r3fresh',
      client_id: oauth2.clientId,
      client_secret: 's3cret&=',
    });
  });

  it('gets a new token shortly before the end of the old token, and after a change of the settings', async () => {
    const { port } = await startMail(['t0ken1', 't0ken2', 't0ken3']);
    issue({ expires_in: '60' });
    const oauth2 = settings();
    for (const _ of [1, 2]) await mailerAt(port, oauth2).send(message, call);
    assert.equal(tokens.received.length, 2);
    await mailerAt(port, { ...oauth2, clientSecret: 'new' }).send(message, call);
    assert.equal(tokens.received.length, 3);
  });

  it('keeps a token without a stated end', async () => {
    const { port } = await startMail(['t0ken1']);
    issue({ expires_in: 'soon' });
    const oauth2 = settings();
    for (const _ of [1, 2]) await mailerAt(port, oauth2).send(message, call);
    assert.equal(tokens.received.length, 1);
  });

  it('that refuses a token (Google: 334, then 535) gets one more try, with a new token', async () => {
    const { port, delivered } = await startMail(['t0ken2']);
    const oauth2 = settings();
    await mailerAt(port, oauth2).send(message, call);
    await mailerAt(port, oauth2).send(message, call);
    assert.deepEqual([delivered.length, tokens.received.length], [2, 2]);
  });

  it('that refuses every token causes a permanent failure after two tokens', async () => {
    const { port, delivered } = await startMail([]);
    const error = await failing(mailerAt(port, settings()).send(message, call));
    assert.deepEqual([error.kind, error.facts.status, tokens.received.length, delivered], ['permanent', 535, 2, []]);
    assert.match(error.message, /to AUTH XOAUTH2; check oauth2 in the mail settings, and whether the user may send/);
  });

  it('may refuse a token at once (Microsoft: 535), or later', async () => {
    const ehlo = { EHLO: '250-hello\r\n250 AUTH LOGIN XOAUTH2' };
    const cases: [script: Script, kind: string, requests: number, words: RegExp][] = [
      [
        { AUTH: '535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled' },
        'permanent',
        2,
        /5\.7\.139.*check oauth2/,
      ],
      [{ AUTH: '454 4.7.0 later' }, 'retryable', 1, /454 4\.7\.0 later/],
      [{ AUTH: 'close' }, 'retryable', 1, /closed/],
      [{ MAIL: '550 5.7.60 may not send as this sender' }, 'permanent', 1, /to MAIL FROM$/],
      [{ '.': 'close' }, 'unknown', 1, /may have been sent$/],
    ];
    for (const [script, kind, requests, words] of cases) {
      tokens.received.length = 0;
      const { port, lines } = await startScriptedSmtp({ ...ehlo, ...script });
      const error = await failing(mailerAt(port, settings()).send(message, call));
      assert.deepEqual([error.kind, tokens.received.length], [kind, requests], error.message);
      assert.match(error.message, words);
      assert.equal(lines.filter((line) => line.startsWith('AUTH XOAUTH2 ')).length, requests);
    }
  });

  it('has no token or secret in its errors', async () => {
    const { clientId, ...rest } = settings({ refreshToken: 'r3fresh' });
    const login = Buffer.from('user=office@acme.example\x01auth=Bearer t0ken1\x01\x01').toString('base64');
    const ehlo = { EHLO: '250-hello\r\n250 AUTH XOAUTH2' };
    const { port } = await startScriptedSmtp({ ...ehlo, AUTH: `454 office@acme.example t0ken1 ${login}` });
    const refused = await failing(mailerAt(port, { clientId, ...rest }).send(message, call));
    assert.match(refused.message, /answered "454 \*\*\* \*\*\* \*\*\*" to AUTH XOAUTH2/);
    tokens.answer = answering(400, { error: 'invalid_grant', error_description: 'AADSTS1: s3cret&= or r3fresh or s3cret%26%3D' });
    const { message: shown } = await failing(mailerAt(port, settings(rest)).send(message, call));
    assert.equal(shown, `POST ${tokens.url}/t3nant/oauth2/v2.0/token answered 400: AADSTS1: *** or *** or ***`);
  });

  it('gets no mail while there is no token, and the outcome is never unknown', async () => {
    const { port, lines } = await startScriptedSmtp({});
    const at = "the company's mail settings";
    const credentials = ['does not accept the credentials', `Enter new credentials in ${at}, then retry`];
    const form = ['answered in an unknown format', `Check the address in ${at}, then retry`];
    const silent = ['did not answer', 'Check its address, or wait until it answers, then retry'];
    const temporary = ['does not work at the moment', 'Wait until it works again, then retry'];
    const hanging = () => {};
    const cases: [answer: typeof tokens.answer, kind: string, words: RegExp, forPeople: string[]][] = [
      [
        answering(401, { error: 'invalid_client' }),
        'permanent',
        /401: invalid_client; check auth in .* mail settings$/,
        credentials,
      ],
      [answering(400, { error: 'invalid_grant' }), 'permanent', /answered 400: invalid_grant$/, credentials],
      [answering(404), 'permanent', /answered 404/, form],
      [answering(503, '', { 'retry-after': '9' }), 'retryable', /answered 503$/, temporary],
      [answering(200, { token_type: 'Bearer' }), 'permanent', /without an access token; check .* mail settings$/, form],
      [answering(200, '<html>'), 'permanent', /answered without an access token/, form],
      [(response) => response.destroy(), 'retryable', /token: the connection was closed/, silent],
      [hanging, 'retryable', /no complete answer within 0\.\d+ s$/, silent],
    ];
    const server = `The sign-in server ${new URL(tokens.url).host}`;
    for (const [answer, kind, words, [title = '', remedy]] of cases) {
      tokens.answer = answer;
      const error = await failing(mailerAt(port, settings()).send(message, answer === hanging ? { timeoutMs: 500 } : call));
      assert.deepEqual([error.kind, error.facts.unanswered ?? false, error.facts.status], [kind, false, undefined]);
      assert.match(error.message, words);
      assert.deepEqual([error.facts.title, error.facts.remedy], [`${server} ${title}`, remedy]);
    }
    assert.deepEqual(lines, []);
  });

  it('sends no token in plain text to another machine', async () => {
    const { port, lines } = await startScriptedSmtp({ EHLO: '250-hello\r\n250 AUTH XOAUTH2', STARTTLS: '454 not now' });
    const mail = { smtpUrl: `smtp://0.0.0.0:${port}`, oauth2: settings() };
    assert.match(
      (await failing(mailerOf({ ...bare, mail }).send(message, call))).message,
      /add \?requireTLS=false to the SMTP URL/,
    );
    assert.ok(!lines.some((line) => /^(AUTH|MAIL)/.test(line)));
    const tokenUrl = 'http://token.example.com/';
    const plain = await failing(mailerAt(port, settings({ tokenUrl })).send(message, call));
    assert.match(plain.message, /was not sent: others could read the credentials/);
  });

  it('cannot have an internal token address, unless the operator allows it', async () => {
    const guarded = connectors({ allowPrivateNetworks: false });
    const smtpUrl = 'smtp://mail.example.com';
    const attempt = guarded.mailerOf({ ...bare, mail: { smtpUrl, oauth2: settings() } }).send(message, call);
    assert.match((await failing(attempt)).message, /leads to a private, loopback/);
    assert.equal(tokens.received.length, 0);
  });
});

describe('mail.oauth2 in the settings', () => {
  const google = { user: 'a@acme.example', clientId: 'c', clientSecret: 's3cret', refreshToken: 'r3fresh' };
  const tokenUrl = 'https://login.microsoftonline.com/t/oauth2/v2.0/token';
  const microsoft = { user: 'a@acme.example', clientId: 'c', clientSecret: 's3cret', tokenUrl };
  const at = (host: string) => ({ smtpUrl: `smtp://${host}:587` });

  const cases: [mail: object, problem?: string][] = [
    [{ ...at('smtp.gmail.com'), oauth2: google }],
    [{ ...at('smtp.office365.com'), oauth2: microsoft }],
    [{ oauth2: google }, 'mail.smtpUrl'],
    [{ ...at('smtp.office365.com'), oauth2: google }, 'mail.oauth2.tokenUrl'],
    [{ ...at('evil-gmail.com'), oauth2: google }, 'mail.oauth2.tokenUrl'],
    [{ ...at('h.example'), oauth2: { ...microsoft, tokenUrl: 'http://h.example/token' } }, 'mail.oauth2.tokenUrl'],
    [{ ...at('h.example'), oauth2: { ...microsoft, clientSecret: '' } }, 'mail.oauth2.clientSecret'],
  ];
  for (const [mail, problem] of cases)
    it(`${JSON.stringify(mail)} ${problem ? `has a problem at ${problem}` : 'are valid'}`, () => {
      const { error } = companyRequest.safeParse({ name: 'Acme', mail });
      assert.deepEqual(error?.issues.map(({ path }) => path.join('.')) ?? [], problem ? [problem] : []);
    });

  const stored = { name: 'Acme', mail: { ...at('smtp.office365.com'), oauth2: { ...microsoft, refreshToken: 'r3fresh' } } };
  const merged = (merge: Merge, mail: object) => {
    const { value, problems } = merge(companyRequest, { name: 'Acme', mail }, stored);
    return [(value as typeof stored).mail, problems.map(({ pointer }) => pointer)];
  };

  it('is shown without secrets, which stay when they are sent back', () => {
    const company = { ...bare, ...stored, createdAt: '', updatedAt: '' };
    const { mail = {} } = redact(companySchema, company);
    assert.deepEqual(mail, { ...stored.mail, oauth2: { ...microsoft, clientSecret: '***', refreshToken: '***' } });
    for (const merge of [replaceKeepingSecrets, mergePatch]) {
      assert.deepEqual(merged(merge, mail), [stored.mail, []]);
      const oauth2 = { user: 'b@acme.example', clientId: 'c', tokenUrl };
      const changed = { ...stored.mail, oauth2: { ...stored.mail.oauth2, user: 'b@acme.example' } };
      assert.deepEqual(merged(merge, { ...mail, oauth2 }), [changed, []]);
    }
    assert.deepEqual(merged(mergePatch, { oauth2: null }), [at('smtp.office365.com'), []]);
    assert.ok(companyPatch.safeParse({ mail: stored.mail }).success);
  });

  it('does not send a stored secret to another token address or mail server', () => {
    const oauth2 = { ...microsoft, clientSecret: '***', refreshToken: '***' };
    for (const merge of [replaceKeepingSecrets, mergePatch]) {
      const elsewhere = { ...stored.mail, oauth2: { ...oauth2, tokenUrl: 'https://evil.example/token' } };
      assert.deepEqual(merged(merge, elsewhere)[1], ['/mail/oauth2/refreshToken']);
      assert.deepEqual(merged(merge, { ...at('evil.example'), oauth2 })[1], ['/mail/oauth2']);
      const whole = { ...at('h.example'), oauth2: { ...microsoft, refreshToken: null } };
      assert.deepEqual(merged(merge, whole), [{ ...at('h.example'), oauth2: microsoft }, []]);
    }
  });
});
