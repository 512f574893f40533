import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Hono } from 'hono';
import { createApi } from '../../src/api/app.js';
import { createGuard } from '../../src/api/bearer-authentication.js';
import { answerProblems } from '../../src/api/problems.js';
import { appOf, route } from '../../src/api/route.js';
import { wholeApi } from './whole-api.js';

it('what is for this machine alone needs the admin token from elsewhere, and through a proxy on this machine', async () => {
  const admin = { authorization: 'Bearer the-admin-token' };
  const guard = createGuard({
    of: async (c) => {
      const bearer = c.req.header('authorization');
      if (bearer === undefined) return undefined;
      return bearer === admin.authorization
        ? { kind: 'admin' }
        : { kind: 'key', companyId: 'acme', keyId: 'k', name: 'a key', role: 'manage' };
    },
  });
  const metrics = route('GET /metrics', 'm', 'm', { access: 'admin or this machine', answers: {}, handle: (c) => c.text('ok') });
  const app = answerProblems(new Hono(), assert.fail).route('/', appOf([metrics], guard));
  for (const [remoteAddress, headers, status] of [
    ['127.0.0.1', {}, 200],
    ['::1', {}, 200],
    ['::ffff:127.0.0.1', {}, 200],
    ['127.0.0.1', { 'x-forwarded-for': '198.51.100.7' }, 401],
    ['127.0.0.1', { forwarded: 'for=198.51.100.7' }, 401],
    ['127.0.0.1', { 'x-forwarded-for': '198.51.100.7', ...admin }, 200],
    ['10.0.0.5', {}, 401],
    ['::ffff:10.0.0.5', {}, 401],
    ['10.0.0.5', { authorization: 'Bearer a-key-of-acme' }, 403],
    ['10.0.0.5', admin, 200],
  ] as const) {
    const asked = await app.request('/metrics', { headers }, { incoming: { socket: { remoteAddress } } });
    assert.equal(asked.status, status, `${remoteAddress} ${JSON.stringify(headers)}`);
  }
});

it('a token for metrics opens them from elsewhere, and nothing else', async () => {
  const api = await wholeApi();
  const elsewhere = { incoming: { socket: { remoteAddress: '10.0.0.5' } } };
  const app = createApi({ ...api, metricsToken: 'a-token-for-metrics' });
  const ask = async (path: string, bearer: string) =>
    (await app.request(path, { headers: { authorization: `Bearer ${bearer}` } }, elsewhere)).status;
  const statuses = [
    await ask('/metrics', 'a-token-for-metrics'),
    await ask('/metrics', 'another-token-for-it'),
    await ask('/admin/companies', 'a-token-for-metrics'),
  ];
  await api.close();
  assert.deepEqual(statuses, [200, 401, 401]);
});
