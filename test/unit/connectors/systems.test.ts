import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createHttpClient } from '../../../src/connectors/http.js';
import { createHttpPlatform, createHttpTicketing, resourceUrl } from '../../../src/connectors/systems.js';
import { failing } from '../../connectors/failing.js';
import { answering, startHttp } from '../../connectors/local-http.js';

const http = createHttpClient({ allowPrivateNetworks: true });
const server = await startHttp();
const platform = createHttpPlatform(
  { kind: 'http', baseUrl: `${server.url}/api/`, auth: { type: 'bearer', token: 't0ken' } },
  http,
);
const ticketing = createHttpTicketing({ kind: 'http', baseUrl: server.url }, http);
const call = { timeoutMs: 5000, idempotencyKey: 'relay:acme:c1/0' };
after(() => http.close());

describe('the generic platform', () => {
  it('reads an assignment', async () => {
    server.answer = answering(200, { id: 'A/1', status: 'draft', location: { zip: '10115' } });
    assert.deepEqual(await platform.getAssignment('A/1', call), { id: 'A/1', status: 'draft', location: { zip: '10115' } });
    const { method, path, headers } = server.last();
    assert.deepEqual([method, path, headers.authorization], ['GET', '/api/assignments/A%2F1', 'Bearer t0ken']);
  });

  it('has a check without effects: it answers, refuses the credentials, or cannot be reached', async () => {
    server.answer = answering(404, {});
    assert.match(await platform.check(call), /^answers and accepts/);
    assert.deepEqual([server.last().method, server.last().path], ['GET', '/api/assignments/relay-check']);
    server.answer = answering(200, { status: 'draft' });
    assert.equal(await platform.check(call, 'A1'), 'knows the assignment A1');
    server.answer = answering(404, {});
    assert.match((await failing(platform.check(call, 'A1'))).message, /answered 404/);
    for (const [status, wrong] of [
      [401, /check the auth/],
      [503, /answered 503/],
    ] as const) {
      server.answer = answering(status, {});
      assert.match((await failing(platform.check(call))).message, wrong);
      assert.match((await failing(ticketing.check(call))).message, wrong);
    }
    server.answer = answering(405, {});
    assert.match(await ticketing.check(call), /^answers and accepts/);
    assert.deepEqual([server.last().method, server.last().path], ['GET', '/tickets/relay-check']);
  });

  for (const answer of ['[]', 'null', '"draft"', '7', 'OK']) {
    it(`rejects ${answer} as an assignment`, async () => {
      server.answer = answering(200, answer);
      const error = await failing(platform.getAssignment('A1', call));
      assert.equal(error.kind, 'permanent');
      assert.match(error.message, /JSON/);
    });
  }

  it('reports an unknown assignment', async () => {
    server.answer = answering(404, { detail: 'no such assignment' });
    const error = await failing(platform.getAssignment('A1', call));
    assert.equal(error.kind, 'permanent');
    assert.match(error.message, /\/api\/assignments\/A1 answered 404: no such assignment; check that it exists/);
  });

  const sends: [send: { groupIds: string[]; radiusMiles?: number }, body: string][] = [
    [{ groupIds: ['g1', 'g2'], radiusMiles: 25.5 }, '{"groupIds":["g1","g2"],"radiusMiles":25.5}'],
    [{ groupIds: ['g1'], radiusMiles: 0 }, '{"groupIds":["g1"],"radiusMiles":0}'],
    [{ groupIds: [] }, '{"groupIds":[]}'],
  ];
  for (const [send, body] of sends) {
    it(`sends ${body}`, async () => {
      server.answer = answering(200, {});
      await platform.sendAssignment('A1', send, call);
      const received = server.last();
      assert.deepEqual([received.method, received.path, received.body], ['POST', '/api/assignments/A1/send', body]);
      assert.equal(received.headers['idempotency-key'], call.idempotencyKey);
    });
  }

  const answers: [answer: string | object, recipients: number | undefined][] = [
    [{ recipients: 3 }, 3],
    [{ recipients: 0 }, 0],
    [{ recipients: ['w1', { id: 'w2' }] }, 2],
    [{ recipientCount: 4 }, 4],
    [{ recipients: 'many', recipientCount: 5 }, 5],
    [{ recipients: -1 }, undefined],
    [{ recipients: 1.5 }, undefined],
    [{}, undefined],
    [[], undefined],
    ['null', undefined],
    ['', undefined],
    ['sent', undefined],
  ];
  for (const [answer, recipients] of answers) {
    it(`reads the number reached from ${JSON.stringify(answer)}`, async () => {
      server.answer = answering(200, answer);
      const sent = await platform.sendAssignment('A1', { groupIds: [] }, call);
      assert.deepEqual(sent, recipients === undefined ? {} : { recipients });
    });
  }

  for (const id of ['.', '..', '', ' ']) {
    it(`makes no call for the id ${JSON.stringify(id)}`, async () => {
      const before = server.received.length;
      assert.equal((await failing(platform.sendAssignment(id, { groupIds: [] }, call))).kind, 'permanent');
      assert.equal((await failing(platform.getAssignment(id, call))).kind, 'permanent');
      assert.equal(server.received.length, before);
    });
  }
});

describe('the generic ticket system', () => {
  it('sets one field', async () => {
    server.answer = answering(204);
    await ticketing.updateField('T 1', { name: 'checkedIn', value: '2024-05-01' }, call);
    const { method, path, headers, body } = server.last();
    assert.deepEqual([method, path], ['PATCH', '/tickets/T%201']);
    assert.equal(body, '{"userDefinedFields":[{"name":"checkedIn","value":"2024-05-01"}]}');
    assert.equal(headers['idempotency-key'], call.idempotencyKey);
  });

  it('says what to check if the credentials are refused', async () => {
    server.answer = answering(403);
    const error = await failing(ticketing.updateField('T1', { name: 'a', value: 'b' }, call));
    assert.equal(
      error.message,
      `PATCH ${server.url}/tickets/T1 answered 403; check the auth of the company's ticketing settings`,
    );
  });

  it('never patches the collection, even for the id ..', async () => {
    assert.equal((await failing(ticketing.updateField('..', { name: 'a', value: 'b' }, call))).kind, 'permanent');
  });
});

describe('resourceUrl', () => {
  const cases: [base: string, segments: string[], expected: string][] = [
    ['https://h.example', ['assignments', 'A1'], 'https://h.example/assignments/A1'],
    ['https://h.example/', ['assignments', 'A1', 'send'], 'https://h.example/assignments/A1/send'],
    ['https://h.example/api/v2', ['tickets', '7'], 'https://h.example/api/v2/tickets/7'],
    ['https://h.example/api/v2//', ['tickets', '7'], 'https://h.example/api/v2/tickets/7'],
    ['https://h.example/api?key=k#top', ['tickets', '7'], 'https://h.example/api/tickets/7?key=k'],
    ['https://h.example', ['assignments', 'a/b?c#d%2e é'], 'https://h.example/assignments/a%2Fb%3Fc%23d%252e%20%C3%A9'],
    ['https://h.example', ['assignments', '../admin', 'send'], 'https://h.example/assignments/..%2Fadmin/send'],
    ['https://h.example', ['assignments', '...'], 'https://h.example/assignments/...'],
    ['https://h.example', ['assignments', '%2e%2e'], 'https://h.example/assignments/%252e%252e'],
  ];
  for (const [base, segments, expected] of cases) {
    it(`${base} + ${segments.join(' ')}`, () => assert.equal(resourceUrl(base, ...segments).href, expected));
  }
  for (const id of ['', ' ', '.', '..', '\ud800']) {
    it(`refuses ${JSON.stringify(id)}`, () =>
      assert.throws(() => resourceUrl('https://h.example', 'assignments', id, 'send'), {
        name: 'ConnectorError',
        kind: 'permanent',
      }));
  }
});
