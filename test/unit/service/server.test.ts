import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, describe, it } from 'node:test';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { answerProblems } from '../../../src/api/problems.js';
import { Problem, problemSchema } from '../../../src/contract/problem.js';
import { freePort, serveHttp } from '../../../src/service/server.js';

const unexpected: Error[] = [];
const tooLarge = () => {
  throw new Problem('body-too-large', 'At most 1000 bytes.');
};
const app = answerProblems(new Hono(), (error) => unexpected.push(error)).post(
  '/body',
  bodyLimit({ maxSize: 1000, onError: tooLarge }),
  async (c) => c.json({ bytes: (await c.req.arrayBuffer()).byteLength }),
);
const port = await freePort('127.0.0.1');
const server = await serveHttp(app, { host: '127.0.0.1', port, requestTimeoutMs: 600 });
after(() => server.close());

/** Writes a text to a socket, then writes bytes slowly until the socket closes. @returns the answer */
async function exchange(text: string, drip?: string): Promise<{ head: string; body: string }> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (data: string) => {
    answer += data;
  });
  socket.on('error', () => {});
  socket.write(text);
  const dripping = setInterval(() => drip !== undefined && socket.write(drip), 20);
  await once(socket, 'close');
  clearInterval(dripping);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { head, body };
}

describe('a request that never ends', () => {
  const cases: [what: string, start: string, drip: string][] = [
    ['a body with a length', 'POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n', '['],
    ['a body in chunks', 'POST /body HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\n[\r\n'],
    ['a body that never comes', 'POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n', ''],
    ['headers', 'POST /body HTTP/1.1\r\nHost: localhost\r\nX: ', 'x'],
  ];
  for (const [what, start, drip] of cases) {
    it(`is cut off: ${what}`, async () => {
      const { head, body } = await exchange(start, drip);
      assert.match(head, /^HTTP\/1\.1 408 Request Timeout\r\n(.*\r\n)*Content-Type: application\/problem\+json/);
      assert.equal(problemSchema.parse(JSON.parse(body)).type, '/problems/request-timeout');
      assert.deepEqual(unexpected, [], 'it is no error of ours');
    });
  }

  it('is not logged as an error if its sender disconnects', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n[');
    socket.end();
    socket.resume();
    await once(socket, 'close');
    const response = await fetch(`http://127.0.0.1:${port}/body`, { method: 'POST', body: 'x' });
    assert.deepEqual(await response.json(), { bytes: 1 });
    assert.deepEqual(unexpected, []);
  });
});

describe('an unread body', () => {
  for (const [path, status] of [
    ['body', 413],
    ['nowhere', 404],
  ] as const) {
    it(`does not affect a later request of its connection: ${status}`, async () => {
      const ask = async (path: string, bytes: number) => {
        const response = await fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', body: 'x'.repeat(bytes) });
        await response.text();
        return { status: response.status, connection: response.headers.get('connection') };
      };
      for (const bytes of [2_000, 300_000, 3_000_000]) assert.deepEqual(await ask(path, bytes), { status, connection: 'close' });
      for (let n = 0; n < 20; n += 1) {
        assert.equal((await ask(path, n % 2 ? 2_000 : 300_000)).status, status);
        assert.deepEqual(await ask('body', 10), { status: 200, connection: 'keep-alive' });
      }
    });
  }
});

describe('bytes that are not HTTP', () => {
  const cases: [what: string, text: string, status: number][] = [
    ['garbage', '\u0000\u0001\u0002\r\n\r\n', 400],
    ['two lengths', 'POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
    [
      'a length and chunks',
      'POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx',
      400,
    ],
    ['no host', 'POST /body HTTP/1.1\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx', 400],
    ['an invalid host', 'POST /body HTTP/1.1\r\nHost: a b/c\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx', 400],
    ['two hosts', 'GET /body HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\nConnection: close\r\n\r\n', 400],
    ['another host in its target', 'GET http://evil.example/body HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
    [
      'a user in its target',
      'GET http://evil.example@localhost/body HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      400,
    ],
    ['a password in its target', 'GET http://:x@localhost/body HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
    ['a user before its host', 'GET /body HTTP/1.1\r\nHost: evil.example@localhost\r\nConnection: close\r\n\r\n', 400],
    ...['/x/../body', '/./body', '/x/%2e%2E/body', '/x/..#/body', '/b%6Fdy', '/%62ody', '/body/%39', '/..', '/x/.?y'].map(
      (path): [string, string, number] => [
        `a path in disguise, ${path}`,
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        400,
      ],
    ),
    ["a TRACE, which would show a proxy's headers", 'TRACE /body HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 405],
    ['too many headers', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ];
  for (const [what, text, status] of cases) {
    it(`get a problem: ${what}`, async () => {
      const { head, body } = await exchange(text);
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(head, /content-type: application\/problem\+json/i);
      assert.equal(problemSchema.parse(JSON.parse(body)).status, status);
      assert.deepEqual(unexpected, []);
    });
  }
});

describe('the server', () => {
  let gaveUp = () => {};
  const hungUp = new Promise<void>((resolve) => {
    gaveUp = resolve;
  });
  const endless = new Hono<{ Bindings: HttpBindings }>()
    .get('/small', (c) => c.text('here'))
    .get('/large', (c) => {
      c.env.outgoing.once('close', gaveUp);
      return c.body('x'.repeat(20_000_000));
    });
  const get = (path: string) => `GET /${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

  it('disconnects a client that does not read the answer', async () => {
    const port = await freePort('127.0.0.1');
    const bounded = await serveHttp(endless, { host: '127.0.0.1', port, answerTimeoutMs: 300 });
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    const closed = once(socket, 'close');
    socket.write(get('large'));
    socket.pause();
    await hungUp;
    let bytes = 0;
    socket.on('data', (data) => {
      bytes += data.length;
    });
    socket.resume();
    await closed;
    assert(bytes < 20_000_000, `${bytes} bytes`);
    await bounded.close();
  });

  it('limits its connections, and closes idle ones beyond the limit', async () => {
    const port = await freePort('127.0.0.1');
    const bounded = await serveHttp(endless, { host: '127.0.0.1', port, maxConnections: 2 });
    const idle = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    for (const socket of idle) {
      socket.on('error', () => {});
      socket.write(get('small'));
      await once(socket, 'data');
    }
    const ended = idle.map((socket) => once(socket.resume(), 'close'));
    const third = connect(port, '127.0.0.1').on('error', () => {});
    await once(third.resume(), 'close');
    await Promise.all(ended);
    const fourth = connect(port, '127.0.0.1');
    fourth.write(get('small'));
    assert.match(String((await once(fourth, 'data'))[0]), /^HTTP\/1\.1 200/);
    fourth.destroy();
    await bounded.close();
  });
});

describe('the Host header', () => {
  /** The status of a POST to this server with this Host. */
  async function statusOf(url: string, host: string): Promise<number | undefined> {
    const sent = request(`${url}/body`, { method: 'POST', headers: { host, 'content-length': 0 } }).end();
    const [answer] = await once(sent, 'response');
    answer.resume();
    return answer.statusCode;
  }

  it("of a server on loopback must name this machine or the public URL's host: no web page gets in by DNS rebinding", async () => {
    const named = await serveHttp(app, { host: '127.0.0.1', port: 0, publicHost: 'relay.example.com' });
    after(() => named.close());
    for (const [url, host, status] of [
      [server.url, `127.0.0.1:${port}`, 200],
      [server.url, 'LOCALHOST', 200],
      [server.url, `[::1]:${port}`, 200],
      [server.url, 'rebound.example', 421],
      [server.url, `rebound.example:${port}`, 421],
      [server.url, '127.0.0.1.rebound.example', 421],
      [server.url, 'relay.example.com', 421],
      [named.url, 'relay.example.com', 200],
      [named.url, 'rebound.example', 421],
    ] as const)
      assert.equal(await statusOf(url, host), status, host);
  });

  it('may be repeated in an absolute target, as proxies get it', async () => {
    const target = `http://127.0.0.1:${port}/body`;
    const { head } = await exchange(
      `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    assert.match(head, /^HTTP\/1\.1 200 /);
  });

  it('of a server on other addresses may be any name: a load balancer or a probe uses its own', async () => {
    const open = await serveHttp(app, { host: '0.0.0.0', port: 0 });
    after(() => open.close());
    for (const host of ['10.1.2.3:8080', 'relay-api', 'relay.example.com']) assert.equal(await statusOf(open.url, host), 200);
  });
});

it('every answer has its declared type, and no cache may share it', async () => {
  const dressed = new Hono()
    .get('/plain', (c) => c.json({}))
    .get('/kept', (c) => c.json({}, 200, { 'Cache-Control': 'max-age=60' }));
  const own = await serveHttp(
    answerProblems(dressed, () => {}),
    { host: '127.0.0.1', port: 0 },
  );
  after(() => own.close());
  for (const [path, cacheControl] of [
    ['/plain', 'no-store'],
    ['/nothing-here', 'no-store'],
    ['/kept', 'max-age=60'],
  ]) {
    const { headers } = await fetch(`${own.url}${path}`);
    assert.deepEqual([headers.get('x-content-type-options'), headers.get('cache-control')], ['nosniff', cacheControl], path);
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; .*frame-ancestors 'none'$/, path);
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
  }
  assert.match((await exchange('garbage\r\n\r\n')).head, /\r\nX-Content-Type-Options: nosniff/);
});
