import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { createHttpClient } from '../../../src/connectors/http.js';
import { createHttpPlatform, createHttpTicketing } from '../../../src/connectors/systems.js';
import { filled } from '../../../src/connectors/templates.js';
import { companyRequest } from '../../../src/contract/company.js';
import { replaceKeepingSecrets } from '../../../src/contract/secrets.js';
import type { RequestTemplate } from '../../../src/contract/templates.js';
import { failing } from '../../connectors/failing.js';
import { answering, startHttp } from '../../connectors/local-http.js';

const http = createHttpClient({ allowPrivateNetworks: true });
after(() => http.close());
const server = await startHttp();
const call = { timeoutMs: 5000, idempotencyKey: 'relay:acme:c1/0' };
const fieldUpdate = (ticketId: string, name: string, value: string) => {
  return { ticketId, name, text: value, value, hasPattern: false, timeZone: 'UTC' };
};

const update = {
  method: 'PUT',
  path: '/tickets/{ticketId}',
  body: { custom_fields: { '{field}': '{value}' } },
} satisfies RequestTemplate;
const post = { ...update, method: 'POST' } as const;
const read = { method: 'GET', path: '/tickets/{ticketId}' } as const;

describe('templates in settings', () => {
  const problems = (section: 'platform' | 'ticketing', templates: unknown) => {
    const settings = { name: 'Acme', [section]: { kind: 'http', baseUrl: 'https://h.example', templates } };
    const { error } = companyRequest.safeParse(settings);
    return error?.issues.map(({ path, message }) => `${path.slice(1).join('.')} ${message}`) ?? [];
  };
  const send = { method: 'POST', path: '/x/{assignmentId}' };

  it('may be absent, one by one', () => {
    for (const templates of [{}, { update }, { read }, { read, update: post }, { ticketIdPattern: '[A-Z]+-\\d+' }])
      assert.deepEqual(problems('ticketing', templates), []);
    for (const templates of [{}, { send }, { status: 'a.b[0].c' }]) assert.deepEqual(problems('platform', templates), []);
  });

  const cases: [section: 'platform' | 'ticketing', templates: object, problem: RegExp][] = [
    ['ticketing', { update: post }, /^templates\.read is required for an update with POST/],
    [
      'ticketing',
      { update: { ...update, path: '/tickets' } },
      /^templates\.update\.path must have \{ticketId\} here or in the body/,
    ],
    ['ticketing', { update: { ...update, body: {} } }, /^templates\.update\.path must have \{field\}, \{value\}/],
    ['ticketing', { update: { ...update, body: { a: 'to {vale}', '{fields}': 1 } } }, /body can have .*not \{vale\}, \{fields\}/],
    ['ticketing', { update: { ...update, body: { f: '{field}', v: '{value:int}' } } }, /body can have .*not \{value:int\}/],
    ['ticketing', { read: { method: 'POST', path: '/tickets/{ticketId}' } }, /^templates\.read\.method must be GET$/],
    ['ticketing', { update: { ...update, method: 'GET' } }, /^templates\.update\.method must be POST or PUT or PATCH$/],
    ['ticketing', { update: { ...update, method: 'DELETE' } }, /^templates\.update\.method /],
    ['ticketing', { update: { ...update, success: 'ok=true' } }, /^templates\.update\.success must be one comparison/],
    ['ticketing', { update: { ...update, success: 'id=={id}' } }, /success can have .*not \{id\}/],
    ['ticketing', { ticketIdPattern: '(a+)+' }, /^templates\.ticketIdPattern must be a regular expression/],
    ['ticketing', { ticketIdPattern: '\\d+\\d+\\d+' }, /^templates\.ticketIdPattern/],
    ['ticketing', { ticketIdPattern: '[z-a]' }, /^templates\.ticketIdPattern/],
    ['platform', { send: { ...send, path: '/x?g={groupIds}&a={assignmentId}' } }, /path can have .*not \{groupIds\}/],
    ['platform', { send: { ...send, path: '//evil.example/{assignmentId}' } }, /path must begin with one \//],
    ['platform', { send: { ...send, path: 'https://evil.example/{assignmentId}' } }, /path must begin with one \//],
    ['platform', { send: { ...send, headers: { Authorization: 'Bearer x' } } }, /secret belongs in auth|Invalid key/],
    ['platform', { assignment: { method: 'GET', path: '/{ticketId}' } }, /can have \{assignmentId\}, but not \{ticketId\}/],
    ['platform', { status: 'a b' }, /^templates\.status must be the path/],
    ['platform', { update }, /Unrecognized key/],
  ];
  for (const [section, templates, problem] of cases)
    it(`${JSON.stringify(templates)} are refused`, () => {
      assert.ok(
        problems(section, templates).some((one) => problem.test(one)),
        problems(section, templates).join('; '),
      );
    });

  it('are replaced by PUT, with all their headers, and need no new secret', () => {
    const platform = { kind: 'http', baseUrl: 'https://h.example', auth: { type: 'bearer', token: 's3cret' } };
    const stored = { name: 'Acme', platform: { ...platform, templates: { send: { ...send, headers: { A: '1', B: '2' } } } } };
    const shown = { ...platform, auth: { type: 'bearer', token: '***' } };
    const given = { name: 'Acme', platform: { ...shown, templates: { send: { ...send, headers: { B: '3' } } } } };
    const { value, problems } = replaceKeepingSecrets(companyRequest, given, stored);
    assert.deepEqual([value, problems], [{ name: 'Acme', platform: { ...given.platform, auth: platform.auth } }, []]);
    const elsewhere = { ...given, platform: { ...given.platform, baseUrl: 'https://q.example', auth: null } };
    assert.deepEqual(replaceKeepingSecrets(companyRequest, elsewhere, stored).problems, []);
  });
});

describe('a filled template', () => {
  const bodyOf = (body: unknown, values: Parameters<typeof filled>[2]) =>
    JSON.stringify(filled('https://h.example', { method: 'POST', path: '/', body }, values).body);

  it('can have values as JSON, as numbers, or within a text', () => {
    const values = { groupIds: ['7', '8'], radiusMiles: 25, ticketId: '12', field: 'a"b', value: '{ticketId} $& \n' };
    const cases: [body: unknown, expected: string][] = [
      ['{groupIds}', '["7","8"]'],
      ['{groupIds:number}', '[7,8]'],
      ['{radiusMiles}', '25'],
      ['{ticketId}', '"12"'],
      ['{ticketId:number}', '12'],
      ['{ticketId} in {groupIds} within {radiusMiles}', '"12 in 7,8 within 25"'],
      [
        { '{field}': '{value}', n: null, deep: [[true, { x: 1 }]] },
        '{"a\\"b":"{ticketId} $& \\n","n":null,"deep":[[true,{"x":1}]]}',
      ],
    ];
    for (const [body, expected] of cases) {
      const used = Object.fromEntries(Object.entries(values).filter(([name]) => JSON.stringify(body).includes(`{${name}`)));
      assert.equal(bodyOf(body, used), expected);
    }
  });

  it('omits the members of absent values', () => {
    const body = { a: '{groupIds}', b: { miles: '{radiusMiles}' }, c: ['{radiusMiles:number}', 1], d: 'x{radiusMiles}' };
    assert.equal(bodyOf(body, { groupIds: undefined, radiusMiles: undefined }), '{"b":{},"c":[1],"d":"x"}');
  });

  it('is refused if it would ignore a value, or if a value is no number', () => {
    for (const values of [{ groupIds: ['7'] }, { radiusMiles: 0 }])
      assert.throws(() => bodyOf({ a: 1 }, values), { kind: 'permanent', message: /^nothing was sent: the template has no \{/ });
    for (const value of ['', 'a', '1e3', '0x10', '12345678901234567', ' 1', '1;2', 'Infinity'])
      assert.throws(() => bodyOf(['{value:number}'], { value }), { kind: 'permanent', message: /needs a number/ });
  });

  it('never lets a field replace a member of the template, whatever the name of the field is', () => {
    const body = { id: '{ticketId}', '{field}': '{value}' };
    const values = { ticketId: '7', value: '8' };
    assert.throws(() => bodyOf(body, { ...values, field: 'id' }), { kind: 'permanent', message: /a name that the template/ });
    assert.equal(bodyOf(body, { ...values, field: '__proto__' }), '{"id":"7","__proto__":"8"}');
  });

  it('has every value in exactly its place, and in one segment of the path', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('{value}', '../x', '"', '?a=b#c'),
    );
    const check = (ticketId: string, field: string, value: string) => {
      const segment = () => filled('https://h.example/v1', update, { ticketId, field, value });
      if (/^\s*$|^\.\.?$|\p{Cs}/u.test(ticketId)) return void assert.throws(segment, { kind: 'permanent' });
      const { url, body } = segment();
      const [, version, tickets, id, ...more] = url.pathname.split('/');
      assert.deepEqual([version, tickets, decodeURIComponent(id ?? ''), more, url.search], ['v1', 'tickets', ticketId, [], '']);
      assert.deepEqual(Object.entries(Object(body).custom_fields), [[field, value]]);
    };
    fc.assert(fc.property(text, text, text, check), { numRuns: 1000 });
  });
});

describe('a platform with templates', () => {
  const platform = createHttpPlatform(
    {
      kind: 'http',
      baseUrl: `${server.url}/api`,
      auth: { type: 'bearer', token: 't0ken' },
      templates: {
        assignment: { method: 'POST', path: '/query', body: { q: 'job {assignmentId}' }, success: 'found==true' },
        send: {
          ...{ method: 'PUT', path: '/jobs/{assignmentId}/offers', headers: { 'X-Mode': 'now' } },
          ...{ body: { pools: '{groupIds}', miles: '{radiusMiles}' }, success: 'accepted==true' },
        },
        status: 'job.state.name',
      },
    },
    http,
  );

  it('reads the assignment and its status', async () => {
    server.answer = answering(200, { found: true, job: { state: { name: 'draft' } } });
    assert.deepEqual(await platform.getAssignment('A1', call), {
      found: true,
      job: { state: { name: 'draft' } },
      status: 'draft',
    });
    const { method, path, body, headers } = server.last();
    assert.deepEqual([method, path, body, headers.authorization], ['POST', '/api/query', '{"q":"job A1"}', 'Bearer t0ken']);
    server.answer = answering(200, { found: false, message: 'no job t0ken' });
    const { kind, message } = await failing(platform.getAssignment('A1', call));
    assert.deepEqual(
      [kind, message],
      ['permanent', `POST ${server.url}/api/query answered 200, but found was "false", not found==true: no job ***`],
    );
    assert.match(await platform.check(call), /^answers and accepts/);
  });

  it('sends', async () => {
    server.answer = answering(200, { accepted: true, recipients: 3 });
    assert.deepEqual(await platform.sendAssignment('A/1', { groupIds: ['g1'], radiusMiles: 25 }, call), { recipients: 3 });
    const { method, path, body, headers } = server.last();
    assert.deepEqual([method, path, body], ['PUT', '/api/jobs/A%2F1/offers', '{"pools":["g1"],"miles":25}']);
    assert.deepEqual([headers['x-mode'], headers['idempotency-key']], ['now', call.idempotencyKey]);
    await platform.sendAssignment('A1', { groupIds: [] }, call);
    assert.equal(server.last().body, '{}');
  });

  it('causes a permanent failure with a 2xx answer that reports no success', async () => {
    for (const [answer, words] of [
      [{ accepted: false, error: 'no funds' }, /but accepted was "false", not accepted==true: no funds$/],
      [{}, /accepted: no such property/],
      ['OK', /a body that is not JSON: OK$/],
      ['', /a body that is not JSON: \(empty\)$/],
    ] as const) {
      server.answer = answering(200, answer);
      const error = await failing(platform.sendAssignment('A1', { groupIds: [] }, call));
      assert.deepEqual([error.kind, error.facts.status], ['permanent', 200]);
      assert.match(error.message, words);
    }
  });
});

describe('a ticket system with templates', () => {
  const ticketing = createHttpTicketing(
    { kind: 'http', baseUrl: server.url, templates: { read, update: post, ticketIdPattern: '[1-9]\\d*' } },
    http,
  );
  const set = (ticketId: string, options = call) => ticketing.setField(fieldUpdate(ticketId, 'a', 'b'), options);

  it('reads the ticket before an update', async () => {
    server.received.length = 0;
    server.answer = answering(200, {});
    await set('7');
    assert.deepEqual(
      server.received.map(({ method, path, headers }) => [method, path, headers['idempotency-key']]),
      [
        ['GET', '/tickets/7', undefined],
        ['POST', '/tickets/7', call.idempotencyKey],
      ],
    );
  });

  it('never updates after a failed read, and the outcome is not unknown then', async () => {
    for (const [answer, kind, title] of [
      [answering(404, {}), 'permanent', 'Ticket 7 does not exist at the ticket system'],
      [answering(401, {}), 'permanent', 'The ticket system does not accept the credentials'],
      [answering(200, 'Hello'), 'permanent', 'The ticket system answered in an unknown format'],
      [answering(503, {}, { 'retry-after': '7' }), 'retryable', 'The ticket system does not work at the moment'],
      [() => {}, 'retryable', 'The ticket system did not answer'],
    ] as const) {
      server.received.length = 0;
      server.answer = answer;
      const error = await failing(set('7', { ...call, timeoutMs: title.endsWith('did not answer') ? 300 : 20_000 }));
      assert.deepEqual([error.kind, error.facts.title, error.facts.unanswered ?? false], [kind, title, false]);
      assert.deepEqual(
        server.received.map(({ method }) => method),
        ['GET'],
      );
    }
  });

  it('makes no call for an id that does not match the pattern', async () => {
    server.received.length = 0;
    for (const id of ['0', 'T1', '7a', '7 ', ' 7', '7\n', '', '٧'])
      assert.match((await failing(set(id))).message, /is not the id of a ticket: it does not match/);
    assert.deepEqual(server.received, []);
  });

  it('has a check without effects', async () => {
    server.answer = answering(404, {});
    assert.match(await ticketing.check(call), /^answers and accepts/);
    assert.deepEqual([server.last().method, server.last().path], ['GET', '/tickets/0']);
    server.answer = answering(401, {});
    await failing(ticketing.check(call));
  });
});

it('without templates, requests are the same as before templates existed, with every header', async () => {
  const platform = createHttpPlatform({ kind: 'http', baseUrl: server.url }, http);
  const ticketing = createHttpTicketing({ kind: 'http', baseUrl: server.url }, http);
  server.answer = answering(200, {});
  server.received.length = 0;
  await platform.getAssignment('A1', { timeoutMs: 5000 });
  await platform.sendAssignment('A1', { groupIds: [], radiusMiles: 2 }, call);
  await ticketing.setField(fieldUpdate('T1', 'a', 'b'), call);
  const always = ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'];
  const writing = [...always, 'content-length', 'content-type', 'idempotency-key'].sort();
  assert.deepEqual(
    server.received.map(({ method, path, headers, body }) => [method, path, Object.keys(headers).sort(), body]),
    [
      ['GET', '/assignments/A1', always, ''],
      ['POST', '/assignments/A1/send', writing, '{"groupIds":[],"radiusMiles":2}'],
      ['PATCH', '/tickets/T1', writing, '{"userDefinedFields":[{"name":"a","value":"b"}]}'],
    ],
  );
});
