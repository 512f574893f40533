import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, describe, it } from 'node:test';
import { createHttpClient, type HttpRequest, parseJson } from '../../../src/connectors/http.js';
import type { Auth } from '../../../src/contract/company.js';
import { failing } from '../../connectors/failing.js';
import { answering, startHttp } from '../../connectors/local-http.js';

const http = createHttpClient({ allowPrivateNetworks: true });
const guarded = createHttpClient({ allowPrivateNetworks: false });
const server = await startHttp();
const what = "the company's platform settings";
after(() => Promise.all([http.close(), guarded.close()]));

type Options = Omit<Partial<HttpRequest>, 'url'> & { timeoutMs?: number };

function request(url: string, { timeoutMs = 5000, ...rest }: Options = {}, client = http): Promise<unknown> {
  return client.request({ method: 'GET', url: new URL(url), what, call: { timeoutMs }, ...rest });
}
const get = (options?: Options) => request(`${server.url}/assignments/A1`, options);
const post = (options?: Options) =>
  request(`${server.url}/assignments/A1/send`, { method: 'POST', body: { groupIds: ['g'] }, ...options });

describe('a request', () => {
  it('carries its headers, key, body and auth', async () => {
    server.answer = answering(200, { recipients: 3 });
    const auth: Auth = { type: 'bearer', token: 't0ken' };
    const answer = await post({
      auth,
      headers: { 'webhook-id': 'w' },
      call: { timeoutMs: 5000, idempotencyKey: 'relay:acme:c1/0' },
    });
    assert.deepEqual(answer, { recipients: 3 });
    const { method, path, headers, body } = server.last();
    assert.deepEqual([method, path, body], ['POST', '/assignments/A1/send', '{"groupIds":["g"]}']);
    assert.equal(headers.authorization, 'Bearer t0ken');
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['idempotency-key'], 'relay:acme:c1/0');
    assert.equal(headers['webhook-id'], 'w');
    assert.match(headers['user-agent'] ?? '', /^relay\/\d+\.\d+\.\d+/);
  });

  it('has no content type without a body, and no key without one', async () => {
    await get();
    assert.equal(server.last().headers['content-type'], undefined);
    assert.equal(server.last().headers['idempotency-key'], undefined);
  });

  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  it('encodes basic auth as UTF-8', async () => {
    await get({ auth: { type: 'basic', username: 'Zoë', password: 'p:w' } });
    assert.equal(server.last().headers.authorization, basic('Zoë:p:w'));
  });

  it('sends credentials in plain text only to this machine, or if the settings allow it', async () => {
    const { port } = new URL(server.url);
    const auth: Auth = { type: 'bearer', token: 't0ken' };
    for (const host of ['127.0.0.1', 'localhost']) await request(`http://${host}:${port}/`, { auth });
    const served = server.last();
    const elsewhere = `http://0.0.0.0:${port}/`;
    for (const refused of [request(elsewhere, { auth }), request(elsewhere.replace('//', '//u:t0ken@'))]) {
      const { kind, message } = await failing(refused);
      assert.equal(kind, 'permanent');
      assert.match(
        message,
        /0\.0\.0\.0.* was not sent: .*https address in the company's platform settings, or set allowPlainText/,
      );
      assert.doesNotMatch(message, /t0ken/);
    }
    assert.equal(server.last(), served, 'nothing was sent');
    await request(elsewhere, { auth, allowPlainText: true });
    await request(elsewhere);
  });

  it('accepts user and password of the URL for basic auth', async () => {
    await request(`${server.url.replace('//', '//u%40x:p%2Fw@')}/a`);
    assert.equal(server.last().headers.authorization, basic('u@x:p/w'));
  });

  it('sends auth headers, which replace neither the key nor the content type', async () => {
    const headers = { 'X-Api-Key': 'k', 'IDEMPOTENCY-KEY': 'mine', 'Content-Type': 'text/plain' };
    await post({ auth: { type: 'headers', headers }, call: { timeoutMs: 5000, idempotencyKey: 'ours' } });
    const sent = server.last().headers;
    assert.deepEqual([sent['x-api-key'], sent['idempotency-key'], sent['content-type']], ['k', 'ours', 'application/json']);
  });

  it('never goes to a host in the path of its URL', async () => {
    const inside = await startHttp();
    const path = `//${new URL(inside.url).host}/latest/meta-data`;
    await request(`${server.url}${path}`);
    assert.deepEqual([inside.received.length, server.last().path], [0, path]);
    assert.match((await failing(request(`http://public.invalid${path}`, {}, guarded))).message, /the host name /);
    assert.equal(inside.received.length, 0);
  });

  for (const value of ['a\r\nX-Evil: 1', 'naïve ☃']) {
    it(`that cannot be sent fails permanently: ${JSON.stringify(value)}`, async () => {
      const error = await failing(get({ auth: { type: 'bearer', token: value } }));
      assert.equal(error.kind, 'permanent');
      assert.match(error.message, /check auth in the company's platform settings/);
      assert.ok(!error.message.includes(value));
    });
  }
});

describe('an answer', () => {
  const statuses: [status: number, kind: string][] = [
    ...[408, 425, 429, 500, 501, 502, 503, 504, 599].map((status): [number, string] => [status, 'retryable']),
    ...[300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 422, 423, 451, 499].map(
      (status): [number, string] => [status, 'permanent'],
    ),
  ];
  for (const [status, kind] of statuses) {
    it(`${status} is ${kind}`, async () => {
      server.answer = answering(status);
      for (const error of [await failing(get()), await failing(post())]) {
        assert.equal(error.kind, kind);
        assert.equal(error.facts.status, status);
      }
    });
  }

  const explained: [name: string, body: string | object, expected: string][] = [
    ['problem+json', { type: 'about:blank', title: 'Not found', detail: 'no such assignment' }, 'no such assignment'],
    ['message', { message: 'no such\r\nassignment', code: 5 }, 'no such assignment'],
    ['error', { error: 'gone' }, 'gone'],
    ['error with a message', { error: { code: 1, message: 'gone' } }, 'gone'],
    ['title alone', { title: 'Not found' }, 'Not found'],
    ['other JSON', { code: 7 }, '{"code":7}'],
    ['text', 'nothing here', 'nothing here'],
    ['HTML', '<html><head><title>404 Not Found</title></head>\r\n<hr></html>', '404 Not Found'],
    ['a detail that is no text', { detail: {}, message: 'm' }, 'm'],
    ['long text', 'x'.repeat(1000), `${'x'.repeat(199)}…`],
  ];
  for (const [name, body, expected] of explained) {
    it(`explains itself in ${name}`, async () => {
      server.answer = answering(400, body);
      const { message } = await failing(request(`${server.url.replace('//', '//user:pw@')}/a/b?key=q`));
      assert.equal(message, `GET ${server.url}/a/b answered 400: ${expected}`);
    });
  }

  const advice: [status: number, expected: string][] = [
    [401, "check auth in the company's platform settings"],
    [403, "check auth in the company's platform settings"],
    [404, "check the id, and the address in the company's platform settings"],
    [410, "check the id, and the address in the company's platform settings"],
  ];
  for (const [status, expected] of advice) {
    it(`${status} says what to check`, async () => {
      server.answer = answering(status, { message: 'who?' });
      assert.equal((await failing(get())).message.split(' answered ')[1], `${status}: who?; ${expected}`);
    });
  }

  const secrets: [name: string, auth: Auth, echoed: string[]][] = [
    ['bearer', { type: 'bearer', token: 't0p+secret=' }, ['t0p+secret=', 't0p%2Bsecret%3D']],
    ['basic', { type: 'basic', username: 'adam', password: 'p"w' }, ['p"w', 'adam', Buffer.from('adam:p"w').toString('base64')]],
    ['headers', { type: 'headers', headers: { 'X-Api-Key': 'k3y' } }, ['k3y']],
  ];
  for (const [name, auth, echoed] of secrets) {
    it(`that echoes the ${name} auth is shown without it`, async () => {
      for (const body of [{ detail: `got ${echoed.join(' and ')}` }, { echoed }, echoed.join()]) {
        server.answer = answering(400, body);
        const { message } = await failing(get({ auth }));
        for (const secret of echoed) assert.ok(!message.includes(secret), message);
        assert.match(message, /\*\*\*/);
        server.answer = answering(200, echoed.join());
        assert.match((await failing(get({ auth }))).message, /not JSON: \*\*\*/);
      }
    });
  }

  it('that echoes a secret path or query is shown without them', async () => {
    server.answer = (response, { path }) => response.writeHead(400).end(`cannot POST ${path}`);
    const { message } = await failing(request(`${server.url}/services/T0/B0?token=abcd`, { method: 'POST', secretPath: true }));
    assert.equal(message, `POST ${server.url}/… answered 400: cannot POST ***?token=***`);
  });

  it('that redirects is not followed', async () => {
    const asked = server.received.length;
    server.answer = answering(307, '', { Location: '/elsewhere?token=abc' });
    const { message } = await failing(post());
    assert.equal(server.received.length, asked + 1);
    assert.match(
      message,
      /answered 307, a redirect to http:\/\/127[^ ]*\/elsewhere; the relay does not follow redirects: enter the final address in /,
    );
    assert.doesNotMatch(message, /abc/);
  });

  const inTwoMinutes = () => new Date(Date.now() + 120_000);
  const retryAfter: [value: () => string, low: number | undefined, high?: number][] = [
    [() => '7', 7],
    [() => ' 120 ', 120],
    [() => '999999999999', 3600],
    [() => '0', undefined],
    [() => '-5', undefined],
    [() => '1.5', undefined],
    [() => 'soon', undefined],
    [() => '', undefined],
    [() => inTwoMinutes().toUTCString(), 100, 120],
    [() => new Date(Date.now() + 1e9).toUTCString(), 3600],
    [() => 'Wed, 21 Oct 2015 07:28:00 GMT', undefined],
    [
      () =>
        inTwoMinutes()
          .toUTCString()
          .replace(/^(\w+), 0?(\d+) (\w+) (\d+) ([\d:]+) GMT$/, '$1 $3 $2 $5 $4'),
      100,
      120,
    ],
  ];
  for (const [value, low, high = low] of retryAfter) {
    it(`says when to retry: Retry-After ${value()}`, async () => {
      server.answer = answering(503, '', { 'Retry-After': value() });
      const { retryAfterSeconds } = (await failing(post())).facts;
      if (low === undefined || high === undefined) assert.equal(retryAfterSeconds, undefined);
      else
        assert.ok(
          retryAfterSeconds !== undefined && retryAfterSeconds >= low && retryAfterSeconds <= high,
          String(retryAfterSeconds),
        );
    });
  }

  it('with a permanent error has no Retry-After', async () => {
    server.answer = answering(404, '', { 'Retry-After': '7' });
    assert.equal((await failing(get())).facts.retryAfterSeconds, undefined);
  });

  for (const body of ['', 'OK', '{"a":', '<html>', `${'['.repeat(5000)}${']'.repeat(5000)}`]) {
    it(`that is not JSON fails a read but not a write: ${JSON.stringify(body.slice(0, 10))}`, async () => {
      server.answer = answering(200, body);
      assert.equal(await post(), undefined);
      const error = await failing(get());
      assert.equal(error.kind, 'permanent');
      assert.match(error.message, /answered 200 with a body that is not JSON: /);
    });
  }

  it('of 204 completes a write', async () => {
    server.answer = answering(204);
    assert.equal(await post(), undefined);
  });

  it('may start with a byte order mark', async () => {
    server.answer = answering(200, '\ufeff{"a":1}');
    assert.deepEqual(await get(), { a: 1 });
  });

  it('is read up to 1 MiB', async () => {
    server.answer = answering(200, JSON.stringify('x'.repeat(1024 * 1024 - 2)));
    assert.equal(String(await get()).length, 1024 * 1024 - 2);
  });

  it('larger than 1 MiB fails a read; a write is done, as its status says', async () => {
    const endless: typeof server.answer = (response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65536)));
      };
      response.on('drain', more);
      more();
    };
    server.answer = endless;
    const error = await failing(get());
    assert.equal(error.kind, 'permanent');
    assert.match(error.message, /answered 200 with more than 1 MiB/);
    assert.equal(await post(), undefined);
  });

  it('larger than 1 MiB has an explanation for people, if the request says what it is about', async () => {
    server.answer = answering(200, ' '.repeat(2 * 1024 * 1024));
    const about = { name: 'the ticket system', thing: 'ticket 1' };
    const asked = { method: 'POST', url: new URL(server.url), what, about, call: { timeoutMs: 5000 } } as const;
    const { kind, facts } = await failing(http.ask(asked));
    assert.deepEqual([kind, facts.unanswered], ['retryable', true]);
    assert.deepEqual(
      [facts.title, facts.remedy],
      ['The ticket system answered in an unknown format', `Check the address in ${what}, then retry`],
    );
  });

  it('with a huge error body is classified by its status', async () => {
    server.answer = answering(503, 'x'.repeat(3 * 1024 * 1024));
    assert.equal((await failing(get())).kind, 'retryable');
  });
});

describe('a connection', () => {
  it('that is refused is retryable', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    taken.close();
    await once(taken, 'close');
    const error = await failing(request(`http://127.0.0.1:${port}/a?key=q`));
    assert.equal(error.kind, 'retryable');
    assert.equal(error.message, `GET http://127.0.0.1:${port}/a: the connection was refused (no process listens there)`);
  });

  it('to a name unknown to DNS is retryable', async () => {
    for (const client of [http, guarded]) {
      const error = await failing(request('http://nowhere.invalid/a', {}, client));
      assert.equal(error.kind, 'retryable');
      assert.match(error.message, /^GET http:\/\/nowhere\.invalid\/a: the host name /);
    }
  });

  const broken: [name: string, answer: typeof server.answer][] = [
    ['that is reset before the answer', (response) => response.socket?.resetAndDestroy()],
    ['that is closed before the answer', (response) => response.socket?.destroy()],
    ['that does not speak HTTP', (response) => response.socket?.end('SSH-2.0-OpenSSH\r\n')],
  ];
  for (const [name, answer] of broken) {
    it(`${name} is retryable`, async () => {
      server.answer = answer;
      for (const error of [await failing(get()), await failing(post())]) assert.equal(error.kind, 'retryable');
    });
  }

  it('that closes within the answer is retryable for a read; a write is done', async () => {
    server.answer = (response) =>
      response.writeHead(200, { 'content-length': '100' }).write('{"recipients":', () => response.socket?.destroy());
    assert.equal((await failing(get())).kind, 'retryable');
    assert.equal(await post(), undefined);
  });

  it('that never answers is retryable', async () => {
    server.answer = () => {};
    for (const error of [await failing(get({ timeoutMs: 50 })), await failing(post({ timeoutMs: 50 }))]) {
      assert.equal(error.kind, 'retryable');
      assert.match(error.message, /no complete answer within 0\.05 s$/);
    }
  });

  it('that drips its body is retryable for a read', async () => {
    server.answer = (response) => {
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    };
    assert.equal((await failing(get({ timeoutMs: 100 }))).kind, 'retryable');
  });

  it('that drips an error body is classified by its status', async () => {
    server.answer = (response) => {
      response.writeHead(404);
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    };
    assert.equal((await failing(get({ timeoutMs: 2_000 }))).kind, 'permanent');
  });
});

describe('the guard of private networks', async () => {
  const inside = await startHttp();
  const { port } = new URL(inside.url);
  const hosts = [
    '127.0.0.1',
    '[::1]',
    'localhost',
    'LOCALHOST',
    '169.254.169.254',
    '10.0.0.1',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '127.1',
    '0',
    '①②⑦.0.0.1',
  ];
  for (const host of hosts) {
    it(`refuses ${host} without connecting`, async () => {
      const error = await failing(request(`http://${host}:${port}/a`, {}, guarded));
      assert.equal(error.kind, 'permanent');
      assert.match(error.message, /RELAY_ALLOW_PRIVATE_NETWORKS/);
      assert.equal(inside.connections, 0);
    });
  }

  it('covers https, too', async () => {
    assert.match((await failing(request(`https://localhost:${port}/a`, {}, guarded))).message, /RELAY_ALLOW_PRIVATE_NETWORKS/);
  });
});

describe('parseJson', () => {
  for (const text of ['{"a":[1,"x",null]}', '"[[["', String.raw`"\"[{"`, '0', 'true']) {
    it(`reads ${text}`, () => assert.deepEqual(parseJson(text), JSON.parse(text)));
  }
  for (const text of ['', '{', 'nope', '{"a":1}x', '<html>'])
    it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => parseJson(text), SyntaxError));

  it('reads 100 levels; refuses 101 and 100,000', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    assert.doesNotThrow(() => parseJson(nested(100)));
    for (const levels of [101, 100_000]) assert.throws(() => parseJson(nested(levels)), /deeper than 100/);
  });

  for (const key of ['__proto__', String.raw`\u005f_proto__`, String.raw`__p\u0072oto__`]) {
    it(`drops ${key}`, () => {
      const value = parseJson(`{"a":{"${key}":{"status":"sent"},"b":1}}`);
      assert.equal(JSON.stringify(value), '{"a":{"b":1}}');
    });
  }
});
