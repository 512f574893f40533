/** The codec endpoints, called as Temporal's Web UI and command lines call them. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Hono } from 'hono';
import { type Authenticated, Callers, createGuard } from '../../../src/api/bearer-authentication.js';
import { codecCors, codecRoutes } from '../../../src/api/codec.js';
import { answerProblems } from '../../../src/api/problems.js';
import { appOf, route } from '../../../src/api/route.js';
import { Keyring } from '../../../src/contract/encryption.js';

const webUi = 'http://127.0.0.1:8233';
const keyOf = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const oldKeys = new Keyring(`old:${keyOf(1)}`);
const keys = new Keyring(`new:${keyOf(2)},old:${keyOf(1)}`);
const admin = { authorization: 'Bearer the-admin-token' };
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A plain payload, in Temporal's proto JSON. */
const plain = { metadata: { encoding: base64('json/plain') }, data: base64('{"to":"jane@example.org"}') };

function appWith(keyring: Keyring | undefined) {
  const sessions = {
    signingKey: async () => 'a key',
    begin: async () => 'session',
    use: async () => ({ kind: 'admin' }) as const,
    end: async () => {},
  };
  const nobody = { authenticate: async () => undefined };
  const callers = new Callers({
    adminToken: 'the-admin-token',
    store: { keys: nobody, adminTokens: nobody, sessions } as never,
    links: { api: 'http://127.0.0.1:8080' },
  });
  const signIn = route.anyone('POST /in', 'in', '', {
    answers: {},
    handle: async (c) => {
      await callers.signIn(c, { kind: 'admin' });
      return c.text('');
    },
  });
  const routes = appOf([...codecRoutes({ keyring }), signIn], createGuard(callers));
  return answerProblems(new Hono<Authenticated>(), () => {})
    .use('/codec/*', codecCors({ links: { api: 'https://relay.example' }, webUi: `${webUi}/namespaces/default` }))
    .route('/', routes);
}
const app = appWith(keys);

async function ask(path: string, payloads: unknown, headers: Record<string, string> = admin, on = app) {
  const body = typeof payloads === 'string' ? payloads : JSON.stringify({ payloads });
  const response = await on.request(`/codec/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-namespace': 'default', ...headers },
    body,
  });
  const { payloads: answered, detail } = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, payloads: answered, detail };
}

describe('the codec endpoints', () => {
  it('encrypt payloads and decrypt them again', async () => {
    const { payloads } = await ask('encode', [plain, plain]);
    assert.equal(payloads.length, 2);
    for (const { metadata, data } of payloads) {
      assert.deepEqual(metadata, { encoding: base64('binary/encrypted'), 'encryption-key-id': base64('new') });
      assert(!Buffer.from(data, 'base64').includes('jane'));
    }
    assert.notEqual(payloads[0].data, payloads[1].data);
    const { headers, ...decoded } = await ask('decode', payloads);
    assert.deepEqual(decoded.payloads, [plain, plain]);
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  it('decrypt with an older key, and return plain payloads and payloads without data unchanged', async () => {
    const { payloads } = await ask('encode', [plain], admin, appWith(oldKeys));
    const nothing = { metadata: { encoding: base64('binary/null') } };
    const decoded = await ask('decode', [...payloads, plain, nothing]);
    assert.deepEqual(decoded.payloads.slice(0, 2), [plain, plain]);
    assert.deepEqual(decoded.payloads[2].metadata, nothing.metadata);
  });

  it('return plain payloads unchanged when no keys are set', async () => {
    const without = appWith(undefined);
    assert.deepEqual((await ask('encode', [plain], admin, without)).payloads, [plain]);
    assert.deepEqual((await ask('decode', [plain], admin, without)).payloads, [plain]);
  });

  for (const [which, keyring] of Object.entries({ 'other keys': oldKeys, 'no keys': undefined })) {
    it(`name the missing key when there are ${which}`, async () => {
      const { payloads } = await ask('encode', [plain]);
      const { status, detail } = await ask('decode', payloads, admin, appWith(keyring));
      assert.equal(status, 400);
      assert.match(detail, /^\/payloads\/0 .*\bnew\b/);
      assert.match(detail, /RELAY_ENCRYPTION_KEYS/);
    });
  }

  it('refuse payloads that the relay did not encrypt, and name the payload', async () => {
    const metadata = { encoding: base64('binary/encrypted'), 'encryption-key-id': base64('new') };
    for (const garbage of [{ metadata }, { metadata, data: base64('no ciphertext') }]) {
      const { status, detail } = await ask('decode', [plain, garbage]);
      assert.equal(status, 400);
      assert.match(detail, /^\/payloads\/1 cannot be decrypted/);
    }
    const nameless = { metadata: { encoding: base64('binary/encrypted') }, data: base64('x') };
    const { status, detail } = await ask('decode', [nameless]);
    assert.equal(status, 400);
    assert.match(detail, /names no key/);
  });

  it('refuse modified payloads', async () => {
    const { payloads } = await ask('encode', [plain]);
    const data = Buffer.from(payloads[0].data, 'base64');
    data[20] = (data[20] ?? 0) ^ 1;
    const { status } = await ask('decode', [{ ...payloads[0], data: data.toString('base64') }]);
    assert.equal(status, 400);
  });

  it("accept payloads up to the size of Temporal's limit", async () => {
    const large = (bytes: number) => [{ data: Buffer.alloc(bytes).toString('base64') }];
    assert.equal((await ask('encode', large(2 * 1024 * 1024))).status, 200);
    assert.equal((await ask('encode', large(4 * 1024 * 1024))).status, 413);
    assert.equal(
      (
        await ask(
          'encode',
          Array.from({ length: 1001 }, () => plain),
        )
      ).status,
      400,
    );
    assert.equal((await ask('encode', [{ data: 'no base64' }])).status, 400);
    assert.equal((await ask('decode', '{}')).status, 200);
  });

  it('need an admin token', async () => {
    assert.equal((await ask('decode', [plain], {})).status, 401);
    assert.equal((await ask('decode', [plain], { authorization: 'Bearer rlk_company' })).status, 401);
  });
});

describe('in a browser, the codec endpoints', () => {
  const preflight = async (origin: string) => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-namespace',
    };
    return app.request('/codec/decode', { method: 'OPTIONS', headers });
  };

  it('answer requests of the Web UI with the session of the person who views the page', async () => {
    const { status, headers } = await preflight(webUi);
    assert.equal(status, 204);
    assert.equal(headers.get('access-control-allow-origin'), webUi);
    assert.equal(headers.get('access-control-allow-credentials'), 'true');
    assert.match(headers.get('access-control-allow-headers') ?? '', /X-Namespace/);
    const cookie = (await app.request('/in', { method: 'POST' })).headers.getSetCookie().at(-1)?.split(';')[0] ?? '';
    const answer = await ask('decode', [plain], { origin: webUi, cookie, 'sec-fetch-site': 'same-site' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('access-control-allow-origin'), webUi);
  });

  it('tell the pages of the Web UI where to sign in', async () => {
    const { status, headers, detail } = await ask('decode', [plain], { origin: webUi, 'sec-fetch-site': 'same-site' });
    assert.equal(status, 401);
    assert.equal(headers.get('access-control-allow-origin'), webUi);
    assert.match(detail, / sign in at https:\/\/relay\.example\/web-ui\/workflows$/);
  });

  for (const origin of ['http://127.0.0.1:8234', 'http://localhost:8233', 'https://evil.example', 'null']) {
    it(`refuse the pages of ${origin}`, async () => {
      assert.equal((await preflight(origin)).headers.get('access-control-allow-origin'), null);
      const cookie = (await app.request('/in', { method: 'POST' })).headers.getSetCookie().at(-1)?.split(';')[0] ?? '';
      const { status, headers } = await ask('decode', [plain], { origin, cookie, 'sec-fetch-site': 'same-site' });
      assert.equal(status, 403);
      assert.equal(headers.get('access-control-allow-origin'), null);
    });
  }
});
