import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { Api, path, Refused, Unreachable } from '../../../src/cli/api.js';
import { UsageError } from '../../../src/cli/terminal.js';
import { type LocalApi, listen, problem, type ScriptedAnswer, scripted } from '../../cli/local-api.js';

describe('an API call', () => {
  let answer: ScriptedAnswer = {};
  let server: Awaited<ReturnType<typeof scripted>>;
  let api: Api;
  let silent: LocalApi;
  before(async () => {
    server = await scripted(() => answer);
    silent = await listen((request) => request.socket.destroy());
    api = apiAt(server.url);
  });
  after(() => Promise.all([server.close(), silent.close()]));

  function apiAt(url: string): Api {
    return new Api({ url, loopback: true, credential: { bearer: 's3cret', from: 'RELAY_KEY', kind: 'key' } });
  }

  it('sends JSON, the query and the bearer', async () => {
    answer = { status: 201, body: '{"a": 1}' };
    const said = await api.ask('POST', path`/co/${'a b/c'}/x`, z.object({ a: z.number() }), {
      body: { b: [2] },
      query: { limit: 5, cursor: undefined, q: 'ü&' },
    });
    assert.deepEqual([said.status, said.text, said.body], [201, '{"a": 1}', { a: 1 }]);
    assert.deepEqual(server.asked.at(-1), {
      method: 'POST',
      path: '/co/a%20b%2Fc/x?limit=5&q=%C3%BC%26',
      authorization: 'Bearer s3cret',
      idempotencyKey: undefined,
      body: '{"b":[2]}',
    });
    await api.ask('GET', '/readyz', z.unknown(), { bearer: false });
    assert.equal(server.asked.at(-1)?.authorization, undefined);
  });

  it('escapes values, so that none changes the path', () => {
    for (const value of ['', ' ', '.', '..']) assert.throws(() => path`/admin/companies/${value}`, UsageError);
  });

  it('reports a refusal unchanged', async () => {
    answer = {
      ...problem(400, 'Invalid body', '/name is required', [{ pointer: '/name', detail: 'is required' }]),
      headers: { 'Retry-After': '7' },
    };
    const refused: unknown = await api.ask('GET', '/', z.unknown()).catch((error: unknown) => error);
    assert.ok(refused instanceof Refused);
    assert.deepEqual(refused.problem, {
      type: '/problems/x',
      title: 'Invalid body',
      status: 400,
      detail: '/name is required',
      errors: [{ pointer: '/name', detail: 'is required' }],
    });
    assert.equal(refused.retryAfter, '7');
    assert.deepEqual(JSON.parse(refused.text), answer.body);
    answer = { status: 503, body: { status: 'not ready' } };
    assert.equal((await api.ask('GET', '/readyz', z.unknown(), { alsoAnswer: 503 })).status, 503);
  });

  it('recognises answers that are not from the relay', async () => {
    for (const [said, words] of [
      [{ status: 404, body: '<h1>Not found</h1>' }, /answers 404: it is not a relay/],
      [{ status: 502, body: { error: 'x' } }, /answers 502/],
      [
        { status: 302, headers: { Location: 'https://login.example.com/?s=s3cret' } },
        /redirects to https:\/\/login\.example\.com: /,
      ],
    ] as const) {
      answer = said;
      await assert.rejects(
        api.ask('POST', '/', z.unknown()),
        (error) => error instanceof Unreachable && words.test(error.message),
      );
    }
    answer = { body: 'hello' };
    await assert.rejects(api.ask('GET', '/', z.object({})), /answers in a form/);
  });

  it('says whether an unanswered request may have arrived', async () => {
    const closed = await listen(() => {});
    await closed.close();
    for (const [url, words, mayHaveArrived] of [
      [closed.url, /no process listens there/, false],
      [silent.url, /the connection failed/, true],
    ] as const) {
      const lost: unknown = await apiAt(url)
        .ask('GET', '/', z.unknown())
        .catch((error: unknown) => error);
      assert.ok(lost instanceof Unreachable);
      assert.match(lost.message, words);
      assert.ok(lost.message.includes(url) && !lost.message.includes('s3cret'));
      assert.equal(lost.mayHaveArrived, mayHaveArrived);
    }
  });
});
