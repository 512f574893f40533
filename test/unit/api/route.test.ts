import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Hono } from 'hono';
import { z } from 'zod';
import { createGuard } from '../../../src/api/bearer-authentication.js';
import { openApi } from '../../../src/api/openapi.js';
import { answerProblems } from '../../../src/api/problems.js';
import { appOf, route } from '../../../src/api/route.js';

const thing = z.strictObject({ name: z.string() }).meta({ id: 'Thing' });
const routes = [
  route.manager('PUT /admin/companies/:companyId/keys/:keyId', 'putThing', 'Put a thing', {
    query: z.object({ count: z.enum(['1', '2'], 'must be 1 or 2').optional() }),
    body: thing,
    answers: { 200: ['The thing.', thing] },
    handle: (c, { keyId, actor, query, body }) => c.json({ actor: actor.kind, keyId, ...query, ...body }),
  }),
  route.anyone('GET /open', 'getOpen', 'Open', {
    answers: { 200: ['It is.'] },
    handle: (c) => c.text('open'),
  }),
];
const guard = createGuard({
  of: async (c) => (c.req.header('Authorization') === 'Bearer the-admin-token' ? { kind: 'admin' } : undefined),
});
const app = answerProblems(new Hono(), assert.ifError).route('/', appOf(routes, guard));

async function put(query: string, body: string, token = 'the-admin-token') {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await app.request(`/admin/companies/acme/keys/k${query}`, { method: 'PUT', headers, body });
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

describe('a route', () => {
  it('gets the caller, the parsed query and the parsed body', async () => {
    const { status, answer } = await put('?count=2&other=1', '{"name":"a"}');
    assert.deepEqual([status, answer], [200, { actor: 'admin', keyId: 'k', count: '2', name: 'a' }]);
  });

  for (const [what, query, body, status] of [
    ['a wrong query', '?count=3', '{"name":"a"}', 400],
    ['a wrong body', '', '{"nam":"a"}', 400],
    ['a body that is not strict JSON', '', '{"name":"a","name":"b"}', 400],
    ['a body that is too large', '', `{"name":"${'a'.repeat(256 * 1024)}"}`, 413],
  ] as const) {
    it(`refuses ${what}, and tells a stranger nothing about it`, async () => {
      assert.equal((await put(query, body)).status, status);
      assert.equal((await put(query, body, 'wrong')).status, 401);
    });
  }

  it('hides its existence from a stranger', async () => {
    for (const path of ['/admin/nothing', '/chains/nothing', '/co/acme/chains/nothing', '/co/acme/rejected'])
      assert.equal((await app.request(path)).status, 401, path);
    assert.equal((await app.request('/admin/companies/acme/keys/k', { method: 'PATCH' })).status, 401);
    assert.equal((await app.request('/nothing')).status, 404);
    assert.equal(await (await app.request('/open')).text(), 'open');
  });

  it('is described with its tag, its parameters, and the problems that follow from its declaration', () => {
    const document = openApi('http://127.0.0.1:8080', routes);
    const described = document.paths['/admin/companies/{companyId}/keys/{keyId}']?.put;
    assert.deepEqual(described?.tags, ['Keys']);
    assert.deepEqual(
      described?.parameters.map(({ name, in: place, required }) => [name, place, required]),
      [
        ['companyId', 'path', true],
        ['keyId', 'path', true],
        ['count', 'query', false],
      ],
    );
    assert.deepEqual(described?.requestBody?.content['application/json']?.schema, { $ref: '#/components/schemas/Thing' });
    assert.deepEqual(document.components.schemas.Thing?.required, ['name']);
    assert.deepEqual(Object.keys(described?.responses ?? {}), [
      '200',
      '400',
      '401',
      '403',
      '404',
      '405',
      '408',
      '413',
      '415',
      '421',
      '429',
      '431',
      '500',
    ]);
    assert.deepEqual(Object.keys(document.paths['/open']?.get?.responses ?? {}), [
      '200',
      '400',
      '405',
      '408',
      '421',
      '431',
      '500',
    ]);
  });
});
