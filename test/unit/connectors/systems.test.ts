import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createHttpClient } from '../../../src/connectors/http.js';
import { createHttpPlatform, createHttpTicketing } from '../../../src/connectors/systems.js';
import { filled } from '../../../src/connectors/templates.js';
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

const update = (ticketId: string, name: string, value: string) => {
  return { ticketId, name, text: value, value, hasPattern: false, timeZone: 'UTC' };
};

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
    assert.equal(await platform.check(call, { assignmentId: 'A1' }), 'knows the assignment A1');
    server.answer = answering(404, {});
    assert.match((await failing(platform.check(call, { assignmentId: 'A1' }))).message, /answered 404/);
    for (const [status, wrong] of [
      [401, /check auth/],
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

  it('lists the ids of the groups, if the system has no templates and offers the list', async () => {
    server.answer = answering(200, { groups: [{ id: '501', name: 'Metro' }, { id: '502' }] });
    assert.deepEqual(await platform.ids?.(call), ['501', '502']);
    assert.deepEqual([server.last().method, server.last().path], ['GET', '/api/groups']);
    server.answer = answering(200, { groups: 'many' });
    assert.deepEqual(await platform.ids?.(call), []);
    server.answer = answering(404, {});
    assert.equal((await failing((async () => platform.ids?.(call))())).facts.status, 404);
    const templates = { send: { method: 'POST', path: '/offers/{assignmentId}' } } as const;
    assert.equal(createHttpPlatform({ kind: 'http', baseUrl: server.url, templates }, http).ids, undefined);
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
    assert.match(error.message, /\/api\/assignments\/A1 answered 404: no such assignment; check the id/);
  });

  for (const [status, title, remedy] of [
    [301, 'The assignment platform refused assignment A1', 'Fix the cause (see the details), then retry'],
    [400, 'The assignment platform refused assignment A1', 'Fix the cause (see the details), then retry'],
    [
      401,
      'The assignment platform does not accept the credentials',
      "Enter new credentials in the company's platform settings, then retry",
    ],
    [403, "The relay's user at the assignment platform has no rights for assignment A1", 'Give this user the rights, then retry'],
    [404, 'Assignment A1 does not exist at the assignment platform', 'Change the number, then retry'],
    [409, 'The assignment platform refused assignment A1', 'Fix the cause (see the details), then retry'],
    [429, 'The assignment platform takes no more requests now', 'Wait a while, then retry'],
    [503, 'The assignment platform does not work at the moment', 'Wait until it works again, then retry'],
  ] as const) {
    it(`explains the failure ${status} to people`, async () => {
      server.answer = answering(status, {});
      for (const asked of [platform.getAssignment('A1', call), platform.sendAssignment('A1', { groupIds: [] }, call)]) {
        const { facts } = await failing(asked);
        assert.deepEqual([facts.status, facts.title, facts.remedy], [status, title, remedy]);
      }
    });
  }

  it('explains to people that it was not reached, not called, or answered in an unknown format', async () => {
    const at = (baseUrl: string) => createHttpPlatform({ kind: 'http', baseUrl, auth: { type: 'bearer', token: 't' } }, http);
    server.answer = answering(200, 'OK');
    for (const [ask, title] of [
      [() => at('http://127.0.0.1:1').getAssignment('A1', call), 'The assignment platform did not answer'],
      [() => at('http://platform.example').getAssignment('A1', call), 'Nothing was sent to the assignment platform'],
      [() => platform.getAssignment('A1', call), 'The assignment platform answered in an unknown format'],
      [() => platform.getAssignment('..', call), '".." cannot be an id'],
    ] as const) {
      const { facts } = await failing(ask());
      assert.equal(facts.title, title);
      assert.match(facts.remedy ?? '', /, then retry$/);
    }
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
    it(`reads the number of reached people from ${JSON.stringify(answer)}`, async () => {
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
    await ticketing.setField(update('T 1', 'checkedIn', '2024-05-01'), call);
    const { method, path, headers, body } = server.last();
    assert.deepEqual([method, path], ['PATCH', '/tickets/T%201']);
    assert.equal(body, '{"userDefinedFields":[{"name":"checkedIn","value":"2024-05-01"}]}');
    assert.equal(headers['idempotency-key'], call.idempotencyKey);
  });

  it('says what to check if the credentials are refused', async () => {
    server.answer = answering(403);
    const error = await failing(ticketing.setField(update('T1', 'a', 'b'), call));
    assert.equal(error.message, `PATCH ${server.url}/tickets/T1 answered 403; check auth in the company's ticketing settings`);
    assert.equal(error.facts.remedy, 'Give this user the rights, then retry');
  });

  it('never patches the collection, even for the id ..', async () => {
    assert.equal((await failing(ticketing.setField(update('..', 'a', 'b'), call))).kind, 'permanent');
  });
});

describe('the URL', () => {
  const urlOf = (base: string, path: string, assignmentId: string) =>
    filled(base, { method: 'GET', path }, { assignmentId }).url.href;
  const [one, send] = ['/assignments/{assignmentId}', '/assignments/{assignmentId}/send'];
  const cases: [base: string, path: string, id: string, expected: string][] = [
    ['https://h.example', one, 'A1', 'https://h.example/assignments/A1'],
    ['https://h.example/', send, 'A1', 'https://h.example/assignments/A1/send'],
    ['https://h.example/api/v2', one, '7', 'https://h.example/api/v2/assignments/7'],
    ['https://h.example/api/v2//', one, '7', 'https://h.example/api/v2/assignments/7'],
    ['https://h.example/api?key=k', one, '7', 'https://h.example/api/assignments/7?key=k'],
    ['https://h.example', one, 'a/b?c#d%2e é', 'https://h.example/assignments/a%2Fb%3Fc%23d%252e%20%C3%A9'],
    ['https://h.example', send, '../admin', 'https://h.example/assignments/..%2Fadmin/send'],
    ['https://h.example', one, '...', 'https://h.example/assignments/...'],
    ['https://h.example', one, '%2e%2e', 'https://h.example/assignments/%252e%252e'],
    ['https://h.example/api', '/jobs?number={assignmentId}&x=1', 'a&b=?', 'https://h.example/api/jobs?number=a%26b%3D%3F&x=1'],
  ];
  for (const [base, path, id, expected] of cases)
    it(`${base} + ${path} for ${id}`, () => assert.equal(urlOf(base, path, id), expected));
  for (const id of ['', ' ', '.', '..', '\ud800']) {
    it(`refuses ${JSON.stringify(id)}`, () =>
      assert.throws(() => urlOf('https://h.example', send, id), { name: 'ConnectorError', kind: 'permanent' }));
  }
});
