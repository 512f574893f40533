import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { answerProblems } from '../../../src/api/problems.js';
import { Problem, problemSchema } from '../../../src/contract/problem.js';

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

  it('logs only unexpected errors', () => {
    assert.deepEqual(
      reported.map(({ message }) => message),
      ['connect postgres://user:s3cret@db'],
    );
  });
});
