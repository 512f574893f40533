import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { z } from 'zod';
import { remarksOf, required } from '../../src/api/input.js';
import { answerProblems } from '../../src/api/problems.js';
import { jsonPointer } from '../../src/chain/request.js';
import { Problem, problemSchema } from '../../src/contract/problem.js';

describe('jsonPointer', () => {
  for (const [path, pointer] of [
    [[], ''],
    [[1, 'delayInSeconds'], '/1/delayInSeconds'],
    [['a/b', 'm~n', ''], '/a~1b/m~0n/'],
  ] as const) {
    it(`of ${JSON.stringify(path)} is "${pointer}"`, () => assert.equal(jsonPointer(path), pointer));
  }
});

describe('remarksOf', () => {
  it('names every mistake at its place', () => {
    const schema = z.strictObject({
      name: z.string(),
      on: z.enum(['a', 'b']),
      auth: z.strictObject({ headers: z.record(z.string().regex(/^a/, 'not a name'), z.string()) }),
    });
    const parsed = schema.safeParse({ on: 'c', auth: { headers: { b: 'x' }, other: 1 }, 'x/y': 1 }, { error: required });
    assert.ok(parsed.error);
    assert.deepEqual(
      new Map(remarksOf(parsed.error).map(({ pointer, detail }) => [pointer, detail])),
      new Map([
        ['/name', 'is required'],
        ['/on', 'Invalid option: expected one of "a"|"b"'],
        ['/auth/headers/b', 'not a name'],
        ['/auth/other', 'is not a field that is known here'],
        ['/x~1y', 'is not a field that is known here'],
      ]),
    );
  });
});

describe('answerProblems', () => {
  const reported: Error[] = [];
  const app = answerProblems(new Hono(), (error) => reported.push(error))
    .get('/problem', () => {
      throw new Problem('temporal-unavailable', 'Wait.', {
        headers: { 'Retry-After': '7' },
        errors: [{ pointer: '/0', detail: 'x' }],
      });
    })
    .get('/http', () => {
      throw new HTTPException(400, { message: 'Malformed' });
    })
    .get('/bug', () => {
      throw new Error('connect postgres://user:s3cret@db');
    });

  for (const [method, path, status, header] of [
    ['GET', '/problem', 503, ['Retry-After', '7']],
    ['GET', '/http', 400, undefined],
    ['GET', '/bug', 500, undefined],
    ['GET', '/nothing', 404, undefined],
    ['POST', '/problem', 405, ['Allow', 'GET, HEAD']],
    ['GET', '/nothing%00', 400, undefined],
  ] as const) {
    it(`answers ${method} ${path} with a problem document of status ${status}`, async () => {
      const response = await app.request(path, { method });
      assert.equal(response.status, status);
      assert.equal(response.headers.get('Content-Type'), 'application/problem+json');
      if (header) assert.equal(response.headers.get(header[0]), header[1]);
      const problem = problemSchema.parse(await response.json());
      assert.equal(problem.status, status);
      assert.ok(!JSON.stringify(problem).includes('s3cret'));
    });
  }

  it('reports what nobody expected, and only that', () => {
    assert.deepEqual(
      reported.map(({ message }) => message),
      ['connect postgres://user:s3cret@db'],
    );
  });
});
