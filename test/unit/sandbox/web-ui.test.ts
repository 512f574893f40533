/** The Web UI of `npm start` with its own codec, and callers that must get nothing from the codec. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Keyring } from '../../../src/contract/encryption.js';
import { startWebUi } from '../../../src/sandbox/web-ui.js';
import { payloadCodec } from '../../../src/service/payloads.js';
import { type LocalApi, scripted } from '../../cli/local-api.js';

const keyring = new Keyring(`1:${Buffer.alloc(32, 1).toString('base64')}`);
const secret = 'jane@example.org';
const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');

describe('the Web UI of npm start', () => {
  let upstream: LocalApi & { asked: { path: string }[] };
  let webUi: Awaited<ReturnType<typeof startWebUi>>;
  let port = '';
  let encrypted = '';
  before(async () => {
    upstream = await scripted(({ path }) => ({ body: { path, Codec: { Endpoint: '' } } }));
    webUi = await startWebUi({ upstream: upstream.url, codec: keyring, host: '127.0.0.1', port: 0 });
    ({ port } = new URL(webUi.url));
    const plain = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(secret)) };
    const [payload] = await payloadCodec(keyring).encode([plain]);
    const metadata = Object.entries(payload?.metadata ?? {}).map(([name, value]) => [name, base64(value)]);
    encrypted = JSON.stringify({ payloads: [{ metadata: Object.fromEntries(metadata), data: base64(payload?.data) }] });
  });
  after(() => Promise.all([webUi.close(), upstream.close()]));

  async function ask(path: string, headers: Record<string, string>, method = 'POST') {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, setHost: false });
    asked.end(method === 'POST' ? encrypted : undefined);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
    return { status: answer.statusCode, cors, body: Buffer.concat(await answer.toArray()).toString() };
  }
  const json = { 'content-type': 'application/json' };
  const from = (origin: string, host: string) => ({ ...json, origin, host });
  const textOf = (body: string) => Buffer.from(JSON.parse(body).payloads[0].data, 'base64').toString();

  for (const name of ['127.0.0.1', 'localhost'])
    it(`decodes for its own pages, opened as ${name}, and gives them the address of its codec`, async () => {
      const host = `${name}:${port}`;
      const { Codec } = JSON.parse((await ask('/api/v1/settings', { host }, 'GET')).body);
      assert.deepEqual(Codec, { Endpoint: `http://${host}/relay/codec`, IncludeCredentials: false });
      const { status, cors, body } = await ask('/relay/codec/decode', from(`http://${host}`, host));
      assert.deepEqual([status, cors, textOf(body)], [200, [], JSON.stringify(secret)]);
      const encoded = await ask('/relay/codec/encode', from(`http://${host}`, host));
      assert.equal(encoded.status, 200);
    });

  it('shows what the dev server shows', async () => {
    const { status, body } = await ask('/namespaces/default/workflows?query=a', { host: `127.0.0.1:${port}` }, 'GET');
    assert.deepEqual([status, JSON.parse(body).path], [200, '/namespaces/default/workflows?query=a']);
  });

  it('prints nothing if the browser closes a page before the page is complete', async ({ mock }) => {
    const said = [mock.method(console, 'error', () => {}), mock.method(console, 'info', () => {})];
    const endless = createServer((_, response) => void response.write('first')).listen(0, '127.0.0.1');
    await once(endless, 'listening');
    const { port } = endless.address() as AddressInfo;
    const ui = await startWebUi({ upstream: `http://127.0.0.1:${port}`, codec: keyring, host: '127.0.0.1', port: 0 });
    const asked = get(`${ui.url}/events`);
    const hungUp = once(endless, 'request').then(([, response]) => once(response, 'close'));
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    await once(answer, 'data');
    answer.destroy();
    await hungUp;
    await Promise.all([ui.close(), once(endless.close(), 'close')]);
    assert.deepEqual(
      said.flatMap(({ mock: { calls } }) => calls.map((call) => call.arguments)),
      [],
    );
  });

  const attacks: [who: string, headers: () => Record<string, string>][] = [
    ['a page of another site', () => from('https://evil.example', `127.0.0.1:${port}`)],
    ['a page of another port of this machine', () => from('http://127.0.0.1:8080', `127.0.0.1:${port}`)],
    ['a page at another name of this machine', () => from(`http://localhost:${port}`, `127.0.0.1:${port}`)],
    ['a page of this machine by HTTPS, as from a proxy', () => from(`https://127.0.0.1:${port}`, `127.0.0.1:${port}`)],
    ['a page of no origin, such as a sandboxed frame', () => from('null', `127.0.0.1:${port}`)],
    ['a program, which sends no origin', () => ({ ...json, host: `127.0.0.1:${port}` })],
    ['a program with the cookie of a session', () => ({ ...json, host: `127.0.0.1:${port}`, cookie: 'relay-session=x' })],
    ['a page whose name leads here (DNS rebinding)', () => from(`http://evil.example:${port}`, `evil.example:${port}`)],
    [
      'a page whose name looks like this machine',
      () => from(`http://127.0.0.1.evil.example:${port}`, `127.0.0.1.evil.example:${port}`),
    ],
    ['a forged Host', () => from(`http://127.0.0.1:${port}`, 'relay.example.com')],
    ['no Host', () => ({ ...json, origin: `http://127.0.0.1:${port}` })],
    ['an empty Host', () => from('http://', '')],
    ...['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Real-IP', 'Forwarded', 'Via'].map(
      (name): [string, () => Record<string, string>] => [
        `a request that a proxy on this machine forwards (${name})`,
        () => ({ ...from(`http://127.0.0.1:${port}`, `127.0.0.1:${port}`), [name]: '203.0.113.7' }),
      ],
    ),
  ];
  for (const [who, headers] of attacks)
    it(`gives nothing to ${who}`, async () => {
      for (const path of ['/relay/codec/decode', '/relay/codec/encode', '//relay/codec/decode', '/relay//codec/decode']) {
        const { status, cors, body } = await ask(path, headers());
        assert.deepEqual(cors, []);
        if (!path.includes('//')) assert.match(String(status), /^(400|403|421)$/);
        assert.doesNotMatch(body, /jane|payloads/);
        assert.ok(!body.includes(Buffer.from(JSON.stringify(secret)).toString('base64')));
      }
      const preflight = await ask('/relay/codec/decode', { ...headers(), 'access-control-request-method': 'POST' }, 'OPTIONS');
      assert.deepEqual([preflight.cors, (preflight.status ?? 0) >= 400], [[], true]);
    });

  it('forwards no request for its codec to the dev server', () => {
    assert.deepEqual(
      upstream.asked.filter(({ path }) => path.startsWith('/relay/codec')),
      [],
    );
  });

  it("has no own codec if the API has one, and lets pages send the session cookie to the API's codec", async () => {
    const codec = 'http://127.0.0.1:8080/codec';
    const asked = await startWebUi({ upstream: upstream.url, codec, host: '127.0.0.1', port: 0 });
    try {
      const { Codec } = JSON.parse(await (await fetch(`${asked.url}/api/v1/settings`)).text());
      assert.deepEqual(Codec, { Endpoint: codec, IncludeCredentials: true });
      const headers = { ...json, origin: asked.url };
      const answer = await fetch(`${asked.url}/relay/codec/decode`, { method: 'POST', headers, body: encrypted });
      assert.doesNotMatch(await answer.text(), /payloads/);
    } finally {
      await asked.close();
    }
  });
});
