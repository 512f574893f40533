import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Hono } from 'hono';
import { z } from 'zod';
import { createApi } from '../../../src/api/app.js';
import { Callers, createGuard } from '../../../src/api/bearer-authentication.js';
import { answerProblems } from '../../../src/api/problems.js';
import { appOf, routeFor } from '../../../src/api/route.js';
import { makeCredential, roles } from '../../../src/contract/credential.js';
import { adminToken, wholeApi } from '../../api/whole-api.js';

it('a route that is open to this machine needs the admin token from other machines, and through a local proxy', async () => {
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
  const metrics = routeFor('admin or this machine')('GET /metrics', 'm', 'm', { answers: {}, handle: (c) => c.text('ok') });
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

it('each route checks the role of a key, although the guard of its path lets the key pass', async () => {
  const guard = createGuard({
    of: async (c) => ({
      ...{ kind: 'key', companyId: 'acme', keyId: 'k', name: 'a key' },
      role: z.enum(roles).parse(c.req.header('role')),
    }),
  });
  const at = '/admin/companies/:companyId';
  const routes = ['admin or company key', 'admin or author key', 'admin or manage key', 'admin'] as const;
  const made = routes.flatMap((access, place) =>
    (['GET', 'POST'] as const).map((method) =>
      routeFor(access)(`${method} ${at}/${place}`, 'x', 'x', { answers: {}, handle: (c) => c.text('ok') }),
    ),
  );
  const app = answerProblems(new Hono(), assert.fail).route('/', appOf(made, guard));
  for (const [method, place, allowed] of [
    ['GET', 0, roles],
    ['POST', 0, ['steer', 'author', 'manage']],
    ['GET', 1, ['author', 'manage']],
    ['POST', 1, ['author', 'manage']],
    ['GET', 2, ['manage']],
    ['POST', 2, ['manage']],
    ['GET', 3, []],
    ['POST', 3, []],
  ] as const) {
    const asked = roles.map((role) => app.request(`/admin/companies/acme/${place}`, { method, headers: { role } }));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    const wanted = roles.map((role) => ((allowed as readonly string[]).includes(role) ? 200 : 403));
    assert.deepEqual(statuses, wanted, `${method} ${routes[place]}`);
  }
});

it('from other machines, a metrics token opens the metrics, and nothing else', async () => {
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

it('forged keys from an address with failures are looked up a few at a time; the admin token is checked at once', async () => {
  let under = 0;
  let most = 0;
  let looked = 0;
  const answers: (() => void)[] = [];
  const authenticate = async () => {
    looked += 1;
    most = Math.max(most, ++under);
    await new Promise<void>((resolve) => answers.push(resolve));
    under -= 1;
    return undefined;
  };
  const api = await wholeApi();
  const store = { ...api.store, keys: { ...api.store.keys, authenticate } };
  const limits = { failing: async () => ({}) };
  const callers = new Callers({ ...api, store, limits });
  const companies = routeFor('admin')('GET /admin/companies', 'c', 'c', { answers: {}, handle: (c) => c.text('ok') });
  const app = answerProblems(new Hono(), assert.fail).route('/', appOf([companies], createGuard(callers)));
  const ask = async (bearer: string) =>
    (await app.request('/admin/companies', { headers: { authorization: `Bearer ${bearer}` } })).status;
  const forged = Array.from({ length: 40 }, () => ask(makeCredential('rlk_')));
  while (answers.length < 4) await setImmediate();
  assert.equal(await ask(adminToken), 200);
  while (looked < 40 || answers.length > 0) {
    answers.shift()?.();
    await setImmediate();
  }
  assert.deepEqual([...new Set(await Promise.all(forged)), most], [401, 4]);
  await api.close();
});
