import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Call } from '../../../src/connectors/call.js';
import { createMailer, type Message, parseEmailAddress } from '../../../src/connectors/mail.js';
import { failing } from '../../connectors/failing.js';
import { type Script, startScriptedSmtp } from '../../connectors/scripted-smtp.js';

const call: Call = { timeoutMs: 5000 };
const message: Message = {
  to: 'Ada Lovelace <ada@example.com>',
  from: 'Relay <relay@example.org>',
  subject: 'Nobody accepted A1',
  text: 'Look at it.\n.\n..done',
  html: '<p>Look at it.</p>',
  messageId: 'abc123@relay.invalid',
};

interface Delivered {
  raw: string;
  email: Email;
  from: string;
  to: string[];
}

/** A real mail server that keeps accepted messages. */
async function startSmtp(options: SMTPServerOptions = {}): Promise<{ port: number; delivered: Delivered[] }> {
  const delivered: Delivered[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks);
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        delivered.push({
          raw: raw.toString(),
          email: await PostalMime.parse(raw),
          from,
          to: rcptTo.map(({ address }) => address),
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  after(() => new Promise<void>((closed) => server.close(closed)));
  return { port: (server.server.address() as AddressInfo).port, delivered };
}

const mailerAt = (port: number, userinfo = '', scheme = 'smtp') =>
  createMailer(`${scheme}://${userinfo}127.0.0.1:${port}`, { allowPrivateNetworks: true });

describe('a delivery', async () => {
  const { port, delivered } = await startSmtp();
  const mailer = mailerAt(port);
  const send = async (changes: Partial<Message>): Promise<Delivered> => {
    await mailer.send({ ...message, ...changes }, call);
    const last = delivered.at(-1);
    assert.ok(last);
    return last;
  };

  it('has all fields of the message', async () => {
    const { email, from, to, raw } = await send({ replyTo: 'Desk <desk@example.org>' });
    assert.deepEqual([from, to], ['relay@example.org', ['ada@example.com']]);
    assert.deepEqual(email.from, { name: 'Relay', address: 'relay@example.org' });
    assert.deepEqual(email.to, [{ name: 'Ada Lovelace', address: 'ada@example.com' }]);
    assert.deepEqual(email.replyTo, [{ name: 'Desk', address: 'desk@example.org' }]);
    assert.equal(email.subject, message.subject);
    assert.equal(email.text?.trim(), message.text);
    assert.equal(email.html?.trim(), message.html);
    assert.equal(email.messageId, '<abc123@relay.invalid>');
    assert.match(raw, /^Auto-Submitted: auto-generated\r$/m);
  });

  it('may be plain text only', async () => {
    const { html: _html, ...plain } = message;
    await mailer.send(plain, call);
    assert.match(delivered.at(-1)?.raw ?? '', /^Content-Type: text\/plain/m);
  });

  it('keeps letters of every script', async () => {
    const { email, raw } = await send({ to: 'Zoë 割り当て <zoe@example.com>', subject: 'Überfällig ☎', text: 'grüße ☎' });
    assert.deepEqual([email.to?.[0]?.name, email.subject, email.text?.trim()], ['Zoë 割り当て', 'Überfällig ☎', 'grüße ☎']);
    assert.doesNotMatch(raw, /[^\0-\x7f]/);
  });

  it('writes an international domain in ASCII', async () => {
    const wire = await startScriptedSmtp({});
    await mailerAt(wire.port).send({ ...message, to: 'Ada <ada@bücher.example>' }, call);
    assert.ok(wire.lines.includes('RCPT TO:<ada@xn--bcher-kva.example>'));
    assert.ok(wire.lines.includes('To: Ada <ada@xn--bcher-kva.example>'));
  });

  it('goes to one recipient, whatever the display name contains', async () => {
    for (const name of [
      'Lovelace, Ada',
      '"Lovelace, Ada"',
      'eve@evil.example',
      'eve@evil.example,',
      'Group: eve@evil.example;',
      'a"b\\c',
    ]) {
      const { to, email } = await send({ to: `${name} <ada@example.com>` });
      assert.deepEqual([to, email.to?.length, email.to?.[0]?.address], [['ada@example.com'], 1, 'ada@example.com'], name);
    }
  });

  it('gets no extra headers from line breaks in a subject or an id', async () => {
    for (const end of ['\r\n', '\n', '\r']) {
      const { email, to } = await send({
        subject: `Hello${end}Bcc: eve@evil.example${end}${end}body`,
        messageId: `a${end}X-Evil: 1`,
      });
      assert.deepEqual([to, email.bcc], [['ada@example.com'], undefined]);
      assert.ok(!email.headers.some(({ key }) => key === 'bcc' || key === 'x-evil'));
      assert.match(email.text ?? '', /Look at it/);
    }
  });

  for (const field of ['to', 'from', 'replyTo'] as const) {
    it(`is refused for a line break in ${field}, before anything is sent`, async () => {
      const before = delivered.length;
      const error = await failing(mailer.send({ ...message, [field]: 'Ada\r\nBcc: eve@evil.example <ada@example.com>' }, call));
      assert.equal(error.kind, 'permanent');
      assert.equal(delivered.length, before);
    });
  }

  it('treats file paths and URLs in the body as text', async () => {
    const { email } = await send({ text: 'file:///etc/passwd', html: 'http://127.0.0.1/' });
    assert.deepEqual([email.text?.trim(), email.html?.trim()], ['file:///etc/passwd', 'http://127.0.0.1/']);
  });

  it('opens a connection for each message and closes it', async () => {
    const connections = new EventEmitter();
    const own = await startSmtp({ onClose: () => connections.emit('closed') });
    for (let count = 1; count <= 3; count++) {
      const closed = once(connections, 'closed');
      await mailerAt(own.port).send(message, call);
      await closed;
      assert.equal(own.delivered.length, count);
    }
  });
});

describe('a failure', () => {
  const cases: [script: Script, kind: string, words: RegExp][] = [
    [{ greeting: 'close' }, 'retryable', /the connection was closed by the other side$/],
    [{ greeting: 'reset' }, 'retryable', /the connection was (reset|closed)/],
    [{ greeting: '421 busy' }, 'retryable', /answered "421 busy"/],
    [{ greeting: '554 go away' }, 'permanent', /answered "554 go away"/],
    [{ greeting: 'SSH-2.0-OpenSSH' }, 'retryable', /the answer was not proper SMTP$/],
    [{ EHLO: 'close' }, 'retryable', /closed/],
    [{ MAIL: '451 later' }, 'retryable', /answered "451 later" to MAIL FROM$/],
    [{ MAIL: '550 not you' }, 'permanent', /answered "550 not you" to MAIL FROM$/],
    [{ MAIL: 'close' }, 'retryable', /closed/],
    [{ RCPT: 'close' }, 'retryable', /closed/],
    [{ RCPT: 'reset' }, 'retryable', /closed|reset/],
    [{ RCPT: '450-grey\r\n450 listed' }, 'retryable', /answered "450-grey 450 listed" to RCPT TO$/],
    [{ RCPT: '550 5.1.1 no such user' }, 'permanent', /answered "550 5\.1\.1 no such user" to RCPT TO$/],
    [{ DATA: 'close' }, 'retryable', /closed/],
    [{ DATA: '452 full' }, 'retryable', /answered "452 full" to DATA$/],
    [{ DATA: '554 no' }, 'permanent', /answered "554 no" to DATA$/],
    [{ '.': '451 later' }, 'retryable', /answered "451 later" to DATA$/],
    [{ '.': '421 closing' }, 'retryable', /answered "421 closing" to DATA$/],
    [{ '.': '554 spam' }, 'permanent', /answered "554 spam" to DATA$/],
    [{ '.': 'close' }, 'unknown', /closed by the other side; .*may have been sent$/],
    [{ '.': 'reset' }, 'unknown', /may have been sent$/],
    [{ '.': '354 what?' }, 'unknown', /may have been sent$/],
  ];
  for (const [script, kind, words] of cases) {
    it(`${JSON.stringify(script)} is ${kind}`, async () => {
      const { port } = await startScriptedSmtp(script);
      const error = await failing(mailerAt(port).send(message, call));
      assert.equal(error.kind, kind, error.message);
      assert.match(error.message, words);
      assert.ok(error.message.startsWith(`mail server 127.0.0.1:${port}: `), error.message);
    });
  }

  const said: [script: Script, title: string, remedy: string][] = [
    [{ greeting: 'close' }, 'did not answer', 'Check its address, or wait until it answers, then retry'],
    [{ greeting: '421 busy' }, 'does not work at the moment', 'Wait until it works again, then retry'],
    [{ RCPT: '450 grey' }, 'does not work at the moment', 'Wait until it works again, then retry'],
    [{ RCPT: '550 no such user' }, 'refused the recipient', 'Fix the cause (see the details), then retry'],
    [{ '.': '554 spam' }, 'refused the e-mail', 'Fix the cause (see the details), then retry'],
    [
      { EHLO: '250-hello\r\n250 AUTH PLAIN', AUTH: '535 wrong' },
      'does not accept the credentials',
      'Enter new credentials in the mail settings of the relay, then retry',
    ],
  ];
  for (const [script, title, remedy] of said) {
    it(`has an explanation for people: ${JSON.stringify(script)}`, async () => {
      const { port } = await startScriptedSmtp(script);
      const { facts } = await failing(mailerAt(port, 'AUTH' in script ? 'user:pw@' : '').send(message, call));
      assert.deepEqual([facts.title, facts.remedy], [`The mail server 127.0.0.1:${port} ${title}`, remedy]);
    });
  }

  it('has an explanation for people if the answer to the whole e-mail was lost', async () => {
    const { port } = await startScriptedSmtp({ '.': 'close' });
    const { facts } = await failing(mailerAt(port).send(message, call));
    assert.equal(facts.title, `Nobody knows whether the mail server 127.0.0.1:${port} sent the e-mail`);
    assert.equal(facts.remedy, 'Ask the recipient whether the e-mail arrived. If yes, skip the step. If no, retry');
  });

  const hanging: [step: keyof Script, kind: string][] = [
    ['greeting', 'retryable'],
    ['EHLO', 'retryable'],
    ['RCPT', 'retryable'],
    ['DATA', 'retryable'],
    ['.', 'unknown'],
  ];
  for (const [step, kind] of hanging) {
    it(`no answer to ${step} is ${kind}`, async () => {
      const { port } = await startScriptedSmtp({ [step]: 'hang' });
      // The time is enough to reach the last step.
      const timeoutMs = step === '.' ? 3_000 : 500;
      assert.equal((await failing(mailerAt(port).send(message, { timeoutMs }))).kind, kind);
    });
  }

  it('within the body, before the final dot, is retryable', async () => {
    const { port } = await startScriptedSmtp({ body: 'close' });
    const text = 'x'.repeat(70).concat('\n').repeat(200_000);
    assert.equal((await failing(mailerAt(port).send({ ...message, text }, call))).kind, 'retryable');
  });

  it('of an unreachable or unresolvable server is retryable', async () => {
    const { port } = await startScriptedSmtp({});
    assert.match(
      (await failing(mailerAt(1).send(message, call))).message,
      /^mail server 127\.0\.0\.1:1: the connection was refused/,
    );
    for (const options of [{ allowPrivateNetworks: true }, {}]) {
      const error = await failing(createMailer(`smtp://nowhere.invalid:${port}`, options).send(message, call));
      assert.equal(error.kind, 'retryable');
      assert.match(error.message, /^mail server nowhere\.invalid:\d+: the host name /);
    }
  });

  it('for one recipient of a real server is permanent or retryable, as the server says', async () => {
    for (const [responseCode, kind] of [
      [550, 'permanent'],
      [450, 'retryable'],
    ] as const) {
      const { port, delivered } = await startSmtp({
        onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no'), { responseCode })),
      });
      const error = await failing(mailerAt(port).send(message, call));
      assert.deepEqual([error.kind, error.facts.status, delivered.length], [kind, responseCode, 0]);
    }
  });
});

describe('authentication', () => {
  const ehlo = { EHLO: '250-hello\r\n250 AUTH PLAIN' };

  it('percent-decodes user and password', async () => {
    const { port, lines } = await startScriptedSmtp(ehlo);
    await mailerAt(port, 'us%40er:p%2Fw%25@').send(message, call);
    assert.ok(lines.includes(`AUTH PLAIN ${Buffer.from('\0us@er\0p/w%').toString('base64')}`));
  });

  const cases: [script: Script, kind: string, words: RegExp][] = [
    [
      { AUTH: '535 5.7.8 bad credentials' },
      'permanent',
      /answered "535 5\.7\.8 bad credentials" to AUTH PLAIN; check user and password/,
    ],
    [{ AUTH: '454 later' }, 'retryable', /454 later/],
    [{ AUTH: 'close' }, 'retryable', /closed/],
  ];
  for (const [script, kind, words] of cases) {
    it(`${JSON.stringify(script)} is ${kind}`, async () => {
      const { port } = await startScriptedSmtp({ ...ehlo, ...script });
      const error = await failing(mailerAt(port, 'user:pw@').send(message, call));
      assert.equal(error.kind, kind);
      assert.match(error.message, words);
    });
  }

  it('hides the credentials that a server echoes', async () => {
    const plain = Buffer.from('\0us@er\0p/w').toString('base64');
    const { port } = await startScriptedSmtp({ ...ehlo, AUTH: `535 us@er p/w ${plain}` });
    const { message: shown } = await failing(mailerAt(port, 'us%40er:p%2Fw@').send(message, call));
    for (const secret of ['us@er', 'p/w', 'us%40er', 'p%2Fw', plain]) assert.ok(!shown.includes(secret), shown);
  });
});

describe('TLS', () => {
  it('with an invalid certificate fails permanently and says so', async () => {
    const direct = await startSmtp({ secure: true });
    const upgraded = await startSmtp({ disabledCommands: [] });
    for (const [{ port, delivered }, scheme] of [
      [direct, 'smtps'],
      [upgraded, 'smtp'],
    ] as const) {
      const error = await failing(mailerAt(port, '', scheme).send(message, call));
      assert.equal(error.kind, 'permanent', error.message);
      assert.match(error.message, /the relay does not accept the TLS certificate of the server \(\w+\)/);
      assert.equal(delivered.length, 0);
    }
  });

  it('with a server that does not support it is retryable', async () => {
    const { port } = await startScriptedSmtp({});
    assert.equal((await failing(mailerAt(port, '', 'smtps').send(message, { timeoutMs: 500 }))).kind, 'retryable');
  });
});

describe('a password', () => {
  // This address belongs to this machine, but is not a loopback address.
  const elsewhere = (port: number, query = '') =>
    createMailer(`smtp://user:s3cret@0.0.0.0:${port}${query}`, { allowPrivateNetworks: true });

  it('is not sent in plain text to another machine, even on a private network', async () => {
    for (const EHLO of ['250 AUTH PLAIN LOGIN', '250-STARTTLS\r\n250 AUTH PLAIN']) {
      const { port, lines } = await startScriptedSmtp({ EHLO, STARTTLS: '454 not now' });
      const error = await failing(elsewhere(port).send(message, call));
      assert.match(error.message, /add \?requireTLS=false to the SMTP URL/);
      assert.deepEqual(
        lines.filter((line) => /^(AUTH|MAIL)/.test(line)),
        [],
      );
    }
  });

  it('is sent in plain text if the URL asks for it, or the server is on this machine', async () => {
    const asked = await startScriptedSmtp({ EHLO: '250 AUTH PLAIN' });
    await elsewhere(asked.port, '?requireTLS=false').send(message, call);
    const local = await startScriptedSmtp({ EHLO: '250 AUTH PLAIN' });
    await mailerAt(local.port, 'user:s3cret@').send(message, call);
    for (const { lines } of [asked, local]) assert.ok(lines.some((line) => line.startsWith('AUTH PLAIN')));
  });
});

describe('the SMTP URL', () => {
  it('must be valid', () => {
    for (const url of [
      '',
      'nope',
      'http://h',
      'smtp:',
      'smtp://',
      'smtp://user:s3cret@',
      'smtp://user:s3cret@%zz/',
      'smtp://user:s3cret@h:99999',
    ]) {
      assert.throws(
        () => createMailer(url),
        (error: Error) => error.name === 'ConnectorError' && !error.message.includes('s3cret'),
        url,
      );
    }
  });

  for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1', '10.0.0.1', '[::ffff:127.0.0.1]']) {
    it(`must not point to a private address unless allowed: ${host}`, async () => {
      const { port, lines } = await startScriptedSmtp({});
      const error = await failing(createMailer(`smtp://user:s3cret@${host}:${port}`).send(message, call));
      assert.equal(error.kind, 'permanent', error.message);
      assert.match(error.message, /RELAY_ALLOW_PRIVATE_NETWORKS/);
      assert.doesNotMatch(error.message, /s3cret/);
      assert.deepEqual(lines, []);
    });
  }
});

describe('parseEmailAddress', () => {
  const cases: [text: string, name: string, address: string][] = [
    ['ada@example.com', '', 'ada@example.com'],
    [' ada@example.com ', '', 'ada@example.com'],
    ['<ada@example.com>', '', 'ada@example.com'],
    ['Ada Lovelace <ada@example.com>', 'Ada Lovelace', 'ada@example.com'],
    ['Lovelace, Ada <ada@example.com>', 'Lovelace, Ada', 'ada@example.com'],
    ['"Lovelace, Ada" <ada@example.com>', 'Lovelace, Ada', 'ada@example.com'],
    [String.raw`"Ada \"the\" L." <ada@example.com>`, 'Ada "the" L.', 'ada@example.com'],
    ['Zoë 割 <zoë@bücher.example>', 'Zoë 割', 'zoë@bücher.example'],
    ['eve@evil.example <ada@example.com>', 'eve@evil.example', 'ada@example.com'],
  ];
  for (const [text, name, address] of cases) it(text, () => assert.deepEqual(parseEmailAddress(text), { name, address }));

  const refused = [
    '',
    'ada',
    'a@b@c',
    'ada@example.com, eve@example.com',
    'Ada <ada@example.com>, Eve <eve@example.com>',
    'ada@example.com\r\nBcc: eve@example.com',
    'Ada\nX: y <ada@example.com>',
    'a <b@c> d',
    'ada@exam ple.com',
  ];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)}`, () =>
      assert.throws(() => parseEmailAddress(text), { name: 'ConnectorError', kind: 'permanent' }));
  }
});
