/** The API behind a real nginx with `deploy/nginx.conf`: both must read a client's bytes in the same way. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createApi } from '../../../src/api/app.js';
import { freePort, serveHttp } from '../../../src/service/server.js';
import { adminToken, wholeApi } from '../../api/whole-api.js';
import { eventually, Unmet } from '../../end-to-end/stack.js';

const nginx = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find(existsSync);

/** The status codes of refusals. A refused request has no effect. */
const refusals = [400, 403, 404, 405, 408, 413, 414, 421, 431, 501, 505];

describe('behind nginx', { skip: nginx === undefined && 'nginx is not installed' }, () => {
  let whole: Awaited<ReturnType<typeof wholeApi>>;
  let port: number;
  const closers: (() => Promise<void>)[] = [];
  let logged = () => '';
  /** The requests that reached the relay. */
  let seen: { method?: string; url?: string; headers: IncomingHttpHeaders }[] = [];
  before(async () => {
    whole = await wholeApi();
    const api = createApi(whole);
    const relayPort = await freePort('127.0.0.1');
    const relay = await serveHttp(
      {
        fetch(request, env) {
          const { method, url, headers } = env.incoming;
          seen.push({ method, url, headers });
          return api.fetch(request, env);
        },
      },
      { host: '127.0.0.1', port: relayPort, publicHost: 'relay.example' },
    );
    port = await freePort('127.0.0.1');
    closers.unshift(() => whole.close(), relay.close);
    const nginx = await startNginx(port, relayPort);
    logged = nginx.logged;
    closers.unshift(nginx.stop);
  });
  after(async () => {
    for (const close of closers) await close();
  });

  /** Sends raw bytes. @returns the status codes of the answers, and all bytes until the connection closed. */
  async function send(text: string): Promise<{ statuses: number[]; text: string }> {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1').on('data', (data: string) => {
      answer += data;
    });
    socket.on('error', () => {});
    socket.write(Buffer.from(text, 'latin1')); // The socket stays open, because nginx drops a request if the client seems to be gone.
    await once(socket, 'close');
    return { statuses: [...answer.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status)), text: answer };
  }
  const head = (target: string, ...headers: string[]) =>
    [`GET ${target} HTTP/1.1`, 'Host: relay.example', 'Connection: close', ...headers, '', ''].join('\r\n');
  const asAdmin = `Authorization: Bearer ${adminToken}`;

  it("lets everybody reach the public paths, and only operators' networks all other paths", async () => {
    seen = [];
    assert.deepEqual((await send(head('/healthz'))).statuses, [200]);
    assert.deepEqual((await send(head('/co/acme/chains'))).statuses, [401]);
    for (const path of ['/admin/companies', '/metrics', '/codec/decode', '/chains'])
      assert.deepEqual((await send(head(path, asAdmin))).statuses, [403], path);
    assert.deepEqual(
      seen.map(({ url }) => url),
      ['/healthz', '/co/acme/chains'],
    );
  });

  it('writes no token of a path into its logs', async () => {
    const token = `rle_${'k3'.repeat(18)}`;
    const link = 'a-link-of-a-notice';
    const post = (path: string, length = 2) =>
      [`POST ${path} HTTP/1.1`, 'Host: relay.example', 'Connection: close', `Content-Length: ${length}`, '', '{}'].join('\r\n');
    const paths = [
      ...[`/co/acme/events/4711/${token}`, `/co/acme/events/4711/${token}?recordId=1`, `/co/acme/events/4711/${link}/`],
      ...[`//co/acme//events/4711//${link}`, `/co/acme/event/4711/${token}`, `/co/acme/chains?key=${token}`, `/hold/${link}?x`],
    ];
    for (const path of paths) await send(post(path));
    // nginx logs these requests as errors, with their paths.
    for (const path of paths.slice(0, 3)) assert.deepEqual((await send(post(path, 3_000_000))).statuses, [413]);
    await send(post('/co/acme/relay', 3_000_000));
    const lines = await eventually('nginx to log', async () => {
      const text = logged();
      return /too large body.*\/co\/acme\/relay/.test(text) && text.includes('/hold/***') ? text : new Unmet(text);
    });
    assert(!lines.includes(token) && !lines.includes(link), lines);
    assert.match(lines, /"POST \/co\/acme\/events\/4711\/\*\*\* HTTP\/1\.1" 401 /);
  });

  describe('no spelling of a path avoids these rules', () => {
    const spellings = [
      ...[
        '//admin/companies',
        '///admin/companies',
        '/./admin/companies',
        '/co/../admin/companies',
        '/co/acme/../../admin/companies',
      ],
      ...['/%61dmin/companies', '/%2561dmin/companies', '/%41dmin/companies', '/ADMIN/companies', '/admin%2fcompanies'],
      ...['/co/%2e%2e/admin/companies', '/co/%2E./admin/companies', '/co/..%2fadmin/companies', '/co/..%252fadmin/companies'],
      ...['/co/..;/admin/companies', '/admin;x/companies', '/;/admin/companies', '/admin/;/companies', '/admin/companies;x'],
      ...[
        '/co\\..\\admin\\companies',
        '/\\admin/companies',
        '/x\\../admin/companies',
        '/co/..\\admin/companies',
        '\\admin\\companies',
      ],
      ...[
        '/co%5c..%5cadmin/companies',
        '/admin/companies%00',
        '/%00/../admin/companies',
        '/admin%00/companies',
        '/co/%00%2e%2e/admin',
      ],
      ...[
        '/x?/../admin/companies',
        '/x#/../admin/companies',
        '/admin/companies#',
        '/x%23/../admin/companies',
        '/x%3f/../admin/companies',
      ],
      ...['/%c0%ae%c0%ae/admin/companies', '/co/\u0000/../admin/companies', '/\tadmin/companies', '/co/.\t./admin/companies'],
      ...[
        'http://relay.example/admin/companies',
        'http://relay.example//admin/companies',
        'HTTP://relay.example/co/../admin/companies',
      ],
      ...[
        'http://relay.example\\admin/companies',
        'http://x@relay.example/admin/companies',
        'http://relay.example:80/admin/companies',
      ],
      ...['http://evil.example/admin/companies', 'http://127.0.0.1/admin/companies', '//relay.example/admin/companies'],
      ...['/co/..\\metrics', '/%6detrics', '//metrics', '/co\\..\\metrics', '/metrics/', '/metrics%20', '/x\\..\\codec\\decode'],
      ...['*', 'admin/companies', '../admin/companies', '?/admin/companies', '/admin/companies HTTP/1.1 x', '/ /admin/companies'],
    ];
    for (const target of spellings)
      it(JSON.stringify(target), async () => {
        const { statuses, text } = await send(head(target, asAdmin));
        assert(
          statuses.every((status) => refusals.includes(status)),
          `${statuses}`,
        );
        assert.doesNotMatch(text, /"companies":|# HELP/);
      });
  });

  describe('no request is smuggled', () => {
    const hidden = `GET /admin/companies?smuggled HTTP/1.1\r\nHost: relay.example\r\n${asAdmin}\r\n\r\n`;
    const length = Buffer.byteLength(hidden);
    const post = (headers: string[], body: string, version = '1.1', end = '\r\n') =>
      [`POST /sign-in HTTP/${version}`, 'Host: relay.example', 'Content-Type: text/plain', ...headers, '', ''].join(end) + body;
    const chunk = `${length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    const chunked = 'Transfer-Encoding: chunked';
    const both = [`Content-Length: ${5 + length}`, chunked];
    const odd = (header: string) => post([`Content-Length: ${5 + length}`, header], `0\r\n\r\n${hidden}`);
    const cases: Record<string, string> = {
      'a length and chunks, for a server that uses the length': post(both, `0\r\n\r\n${hidden}`),
      'chunks and a length, for a server that uses the chunks': post([chunked, 'Content-Length: 4'], chunk),
      'chunks in HTTP/1.0': post(both, `0\r\n\r\n${hidden}`, '1.0'),
      ...Object.fromEntries(
        [
          ...[
            'Transfer-Encoding: xchunked',
            'Transfer-Encoding : chunked',
            'Transfer-Encoding:\tchunked',
            'Transfer-Encoding: CHUNKED',
          ],
          ...['Transfer-Encoding: identity, chunked', 'Transfer-Encoding: chunked, identity', 'Transfer-Encoding: "chunked"'],
          ...['Transfer-Encoding: chunked\r\nTransfer-Encoding: x', 'Transfer-Encoding: x\r\nTransfer-Encoding: chunked'],
          ...['X: x\nTransfer-Encoding: chunked', 'X: x\rTransfer-Encoding: chunked', 'Transfer-Encoding:\n chunked'],
          ...[
            'Transfer-Encoding:\r\n chunked',
            ' Transfer-Encoding: chunked',
            'Transfer_Encoding: chunked',
            'Transfer-Encoding: \u000bchunked',
          ],
          ...[
            'Transfer-Encoding\u0000: chunked',
            'Transfer-Encoding: chunked\u0000',
            '\u00a0Transfer-Encoding: chunked',
            'Transfer-Encoding: gzip, chunked',
          ],
        ].map((header) => [JSON.stringify(header), odd(header)]),
      ),
      ...Object.fromEntries(
        [
          ...['0', String(length), '+0', '-1', '0x0', '0 ', '0,0', `0, ${length}`, '00', '\t0', '1e1', '99999999999999999999'],
          ...[
            `0\r\nContent-Length: ${length}`,
            `${length}\r\nContent-Length: 0`,
            '0\r\nContent_Length: 5',
            '0\nContent-Length: 5',
            '\r\n 0',
          ],
        ].map((value) => [`Content-Length: ${JSON.stringify(value)}`, post([`Content-Length: ${value}`], hidden)]),
      ),
      'Content-Length with a space before its colon': post([`Content-Length : ${length}`], hidden),
      'no length': post([], hidden),
      'line feeds alone': post(both, `0\n\n${hidden}`, '1.1', '\n'),
      'carriage returns alone': post(both, `0\r\r${hidden}`, '1.1', '\r'),
      'a chunk with an extension': post([chunked], `0;a=b\r\n\r\n${hidden}`),
      'an extension with a line feed': post([chunked], `2;\nxx\r\n${chunk}${hidden}`),
      'an extension with a carriage return': post([chunked], `2;\rxx\r\n${chunk}${hidden}`),
      'a chunk whose end is a line feed': post([chunked], `0\n\n${hidden}`),
      'a chunk longer than its size': post([chunked], `1\r\nxx\r\n0\r\n\r\n${hidden}`),
      'a size that overflows': post([chunked], `10000000000000000\r\nx\r\n0\r\n\r\n${hidden}`),
      'a size with a sign': post([chunked], `+0\r\n\r\n${hidden}`),
      'a size with 0x': post([chunked], `0x0\r\n\r\n${hidden}`),
      'headers after the chunks': post(
        [chunked],
        `0\r\nContent-Length: ${length}\r\nX-Forwarded-For: 127.0.0.1\r\n\r\n${hidden}`,
      ),
      'a body of GET': `GET /healthz HTTP/1.1\r\nHost: relay.example\r\nContent-Length: ${length}\r\n\r\n${hidden}`,
      'a body of GET in chunks': `GET /healthz HTTP/1.1\r\nHost: relay.example\r\n${chunked}\r\n\r\n${chunk}`,
      'a second request in the target': `GET /healthz\r\n\r\n${hidden} HTTP/1.1\r\nHost: relay.example\r\n\r\n`,
      'an encoded line break in the target': `GET /healthz%0d%0aHost:%20x%0d%0a%0d%0a${encodeURIComponent(hidden)} HTTP/1.1\r\nHost: relay.example\r\n\r\n`,
      Expect: post(['Expect: 100-continue', `Content-Length: ${length}`], hidden),
      Upgrade: post(
        ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA', 'Content-Length: 0'],
        hidden,
      ),
    };
    for (const [what, text] of Object.entries(cases))
      it(what, async () => {
        seen = [];
        const { statuses } = await send(text);
        // No hidden second request reaches the relay: nginx refuses bytes that the two could split into different requests.
        assert.deepEqual(
          seen.filter(({ url }) => /smuggled/.test(url ?? '') && !/%0d%0a/i.test(url ?? '')),
          [],
        );
        assert(!statuses.includes(200) || /^GET \/healthz/.test(text), `${statuses}`);
        // nginx reuses its connections to the relay. The next client must get the answer to its own request.
        for (let n = 0; n < 3; n += 1) {
          const next = await send(head('/problems/not-found'));
          assert.deepEqual([next.statuses, /<title>Not found/.test(next.text)], [[200], true]);
        }
      });
  });

  describe('headers of the client', () => {
    const cases: [what: string, headers: string[]][] = [
      ['a false client address', ['X-Forwarded-For: 127.0.0.1']],
      ['a chain of addresses', ['X-Forwarded-For: 127.0.0.1, 10.0.0.1', 'X-Forwarded-For: 10.0.0.2']],
      ['hop-by-hop headers', ['Connection: close, X-Forwarded-For, Host, X-Real-IP', 'X-Forwarded-For: 127.0.0.1']],
      ['underscores', ['X_Forwarded_For: 127.0.0.1', 'X_Forwarded-For: 127.0.0.1']],
      [
        'other headers with the same meaning',
        ['Forwarded: for=127.0.0.1;host=evil.example', 'X-Forwarded-Host: evil.example', 'X-Real-IP: 127.0.0.1'],
      ],
      ['a false path', ['X-Original-URL: /admin/companies', 'X-Rewrite-URL: /admin/companies', 'X-HTTP-Method-Override: DELETE']],
      ['a name with a space before its colon', ['X-Forwarded-For : 127.0.0.1']],
    ];
    for (const [what, headers] of cases)
      it(`change nothing: ${what}`, async () => {
        seen = [];
        const { statuses } = await send(head('/co/acme/chains', ...headers));
        assert(`${statuses}` === '401' || `${statuses}` === '400', `${statuses}`);
        for (const { url, method, headers } of seen) {
          assert.deepEqual(
            [method, url, headers.host, headers['x-forwarded-for']],
            ['GET', '/co/acme/chains', 'relay.example', '127.0.0.1'],
          );
          for (const name of ['forwarded', 'x-forwarded-host', 'x-real-ip', 'x_forwarded_for', 'x_forwarded-for'])
            assert.equal(headers[name], undefined);
        }
      });

    for (const [what, ...hosts] of [
      ['another host', 'Host: evil.example'],
      ['two hosts', 'Host: relay.example', 'Host: evil.example'],
      ['no host'],
      ['an empty host', 'Host:'],
      ['a host with a user', 'Host: relay.example@evil.example'],
      ['a host with a path', 'Host: relay.example/admin'],
      ['this machine', 'Host: 127.0.0.1'],
    ] as const)
      it(`with a wrong Host are refused: ${what}`, async () => {
        seen = [];
        const { statuses } = await send(['GET /healthz HTTP/1.1', ...hosts, 'Connection: close', '', ''].join('\r\n'));
        assert(statuses.length === 1 && refusals.includes(statuses[0] ?? 0), `${statuses}`);
        assert.deepEqual(seen, []);
      });
  });
});

/** `deploy/nginx.conf` on local ports, without TLS. `logged` returns its access log and error log. */
async function startNginx(port: number, relayPort: number): Promise<{ stop(): Promise<void>; logged(): string }> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-nginx-'));
  const written = readFileSync(new URL('../../../../deploy/nginx.conf', import.meta.url), 'utf8');
  const ours = written
    .replaceAll(/^ *ssl_.*$/gm, '')
    .replace('/var/log/nginx/relay.log', `${directory}/access`)
    .replaceAll('listen 443 ssl', `listen 127.0.0.1:${port}`)
    .replaceAll(/_timeout 1[05]s/g, '_timeout 200ms') // With short timeouts, requests that stay open end soon.
    .replace('127.0.0.1:8080', `127.0.0.1:${relayPort}`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${directory}/${kind};`);
  const config = join(directory, 'nginx.conf');
  writeFileSync(
    config,
    `pid ${directory}/pid;\nevents {}\nhttp {\naccess_log off;\nkeepalive_timeout 200ms;\n${temporary.join('\n')}\n${ours}}\n`,
  );
  const log = join(directory, 'log');
  const child = spawn(nginx ?? '', ['-e', log, '-p', directory, '-c', config, '-g', 'daemon off; worker_processes 1;']);
  const ended = once(child, 'exit');
  await eventually('nginx to answer', async () => {
    if (child.exitCode !== null) assert.fail(`nginx ended: ${readFileSync(log, 'utf8')}`);
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch((error) => new Unmet(String(error)));
    return answer instanceof Unmet ? answer : true;
  });
  return {
    logged: () => readFileSync(join(directory, 'access'), 'utf8') + readFileSync(log, 'utf8'),
    async stop() {
      child.kill();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
