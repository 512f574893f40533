/** Events with a fake Temporal: who may send them, what is kept, and what a stranger learns. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it, mock } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { Limits } from '../../../src/api/limits.js';
import { rejectedListSchema, wholeRejectedSchema } from '../../../src/contract/problem.js';
import { acceptedEventSchema, notApplicableSchema } from '../../../src/contract/rule-event.js';
import { AwayError } from '../../../src/service/config.js';
import { createLog } from '../../../src/service/telemetry.js';
import { createStore } from '../../../src/store/store.js';
import { lastEvent, publish, ruleOf, setDoor } from '../../api/rule-with-contents.js';
import { adminToken, wholeApi } from '../../api/whole-api.js';
import { forgetful } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

const actor = { kind: 'admin' } as const;
const companyId = 'acme';
const lines: string[] = [];
const log = createLog('trace', { write: (line) => lines.push(line) });
const query = mock.fn<Awaited<ReturnType<typeof openEmptied>>['query']>();
const started = mock.fn(async (..._: unknown[]) => ({}));
const client = { ...forgetful, workflow: { ...forgetful.workflow, start: started } } as unknown as Client;
let api: Awaited<ReturnType<typeof wholeApi>>;
before(async () => {
  const database = await openEmptied();
  query.mock.mockImplementation((...statement) => database.query(...statement));
  const store = createStore({ ...database, query });
  await store.companies.put(companyId, () => ({ companyId, name: 'Acme', timeZone: 'UTC' }), actor);
  const limits = new Limits({ perMinute: 100_000, log });
  mock.method(limits, 'failing', async () => undefined);
  mock.method(limits, 'ofAddress', async () => ({ exceeded: false, headers: {} }));
  api = await wholeApi({ store, log, client, limits });
});
after(async () => {
  await api.close();
  await api.store.close();
});

const actions = [
  { action: 'ticket_updateUDF', externalSystemTicketId: '${ticket}', cfName: 'Field', cfValue: '${event.status}' },
];
const contents = { when: 'event.status == "created"', variables: { ticket: { path: 'id', missing: 'refuse' } }, actions };
const created = { id: 'T-1', status: 'created' };

type Sent = { headers?: Record<string, string>; token?: string; company?: string; path?: string; method?: string };
async function send(
  relayId: string,
  body: unknown,
  { headers = {}, token, company = companyId, path = '', method = 'POST' }: Sent = {},
) {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(`${api.url}/co/${company}/events/${relayId}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { 'x-relay-token': token }), ...headers },
    ...(method !== 'GET' && { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}
const slugOf = (sent: Awaited<ReturnType<typeof send>>) => String(sent.json().type).split('/').at(-1);

/** The refused requests of a rule with their bodies, the newest first. */
async function refused(relayId: string) {
  const { items } = rejectedListSchema.parse((await api.ask('GET', `/co/${companyId}/rejected?limit=200`, adminToken)).json);
  const ids = items.filter(({ relayIds }) => relayIds.includes(relayId)).map(({ rejectedId }) => rejectedId);
  const whole = ids.map(async (id) => (await api.ask('GET', `/co/${companyId}/rejected/${id}`, adminToken)).json);
  return (await Promise.all(whole)).map((one) => wholeRejectedSchema.parse(one));
}
const resend = (rejectedId = '', body?: object) =>
  api.ask('POST', `/co/${companyId}/rejected/${rejectedId}/resend`, adminToken, body ?? {});
const events = async (relayId: string) => (await api.store.events.list(companyId, relayId, { limit: 100 })).items;

describe('the sender of an event', () => {
  it('is identified by a token of the rule in a header, or by an event token, also in the path', async () => {
    const { relayId, token, eventToken } = await ruleOf(api.store, companyId, contents);
    const ways: [string, Sent][] = [
      ['bearer', { headers: { authorization: `Bearer ${token}` } }],
      ['X-Relay-Token', { token }],
      ['event token as bearer', { headers: { authorization: `Bearer ${eventToken}` } }],
      ['event token in the path', { path: `/${eventToken}` }],
      ['a proxy adds its own bearer', { token, headers: { authorization: 'Bearer of-the-proxy' } }],
    ];
    for (const [way, how] of ways) {
      const sent = await send(relayId, created, how);
      assert.equal(sent.status, 202, `${way}: ${sent.text}`);
      const { version, applies, actions: ran, links } = acceptedEventSchema.parse(sent.json());
      assert.deepEqual([version, applies, ran.length, ran[0]?.relayId], [1, true, 1, relayId]);
      assert.equal(links.webUi, undefined);
    }
  });

  it('learns nothing without a valid token: every refusal is the same, whatever exists', async () => {
    const mine = await ruleOf(api.store, companyId, contents);
    const other = await ruleOf(api.store, companyId);
    const disabled = await ruleOf(api.store, companyId, contents);
    await api.store.rules.update(companyId, disabled.relayId, (rule) => ({ ...rule, enabled: false }), actor);
    const signed = await ruleOf(api.store, companyId, contents, {
      signature: { scheme: 'hmac', header: 'x-signature', key: 'secret' },
    });
    const key = await api.store.keys.create(companyId, `key ${mine.relayId}`, actor, { role: 'manage' });
    assert(typeof key === 'object');
    const { relayId } = mine;
    const strangers: [string, string, unknown, Sent][] = [
      ['no token', relayId, created, {}],
      ['a wrong token', relayId, created, { token: 'wrong' }],
      ['a wrong token in the path', relayId, created, { path: '/wrong' }],
      ['the token of the rule in the path', relayId, created, { path: `/${mine.token}` }],
      ['the token of another rule', relayId, created, { token: other.token }],
      ['a key of the company', relayId, created, { token: key.key }],
      ['the admin token', relayId, created, { token: adminToken }],
      ['an unknown rule', '999999', created, { token: mine.token }],
      ['an impossible rule', 'rule', created, { token: mine.token }],
      ['an unknown company', relayId, created, { token: mine.token, company: 'nobody' }],
      ['a rule without contents', other.relayId, created, { token: 'wrong' }],
      ['a disabled rule', disabled.relayId, created, { token: 'wrong' }],
      ['a disabled rule with its token', disabled.relayId, created, { token: disabled.token }],
      ['a rule with a signature', signed.relayId, created, {}],
      ['a wrong signature', signed.relayId, created, { headers: { 'x-signature': 'ab' } }],
      ['a wrong signature and the token', signed.relayId, created, { token: signed.token }],
      ['a broken body', relayId, '{"', { token: 'wrong' }],
      ['a list', relayId, [created], { token: 'wrong' }],
    ];
    const seen = new Set<string>();
    for (const [what, rule, body, how] of strangers) {
      const sent = await send(rule, body, how);
      assert.equal(sent.status, 401, `${what}: ${sent.text}`);
      const headers = [...sent.headers].filter(([name]) => name !== 'date').sort();
      seen.add(JSON.stringify([sent.text, headers]));
    }
    assert.equal(seen.size, 1, [...seen].join('\n'));
    await api.store.rejected.list(companyId, { limit: 1 });
    const kept = [...(await refused(relayId)), ...(await refused(other.relayId))];
    assert.deepEqual(kept, [], 'something of a stranger was kept');
  });

  it('with an event token cannot send a list of actions', async () => {
    const { relayId, eventToken } = await ruleOf(api.store, companyId, contents);
    const list = actions.map((action) => ({
      ...action,
      externalSystemTicketId: 'T',
      cfValue: 'v',
      relayId,
      relayAccessToken: eventToken,
    }));
    assert.equal((await api.ask('POST', `/co/${companyId}/relay`, undefined, list)).status, 401);
    assert.deepEqual(await refused(relayId), []);
  });

  it('with a token that has ended, or of a disabled rule, gets 401, and the event is kept', async () => {
    const { relayId, token, eventToken } = await ruleOf(api.store, companyId, contents);
    await api.store.tokens.rotate(companyId, relayId, 0, actor);
    assert.equal((await send(relayId, created, { token })).status, 401);
    const [rotated] = await refused(relayId);
    assert.deepEqual([rotated?.reason, rotated?.body?.isEvent, rotated?.elements], ['token-expired', true, []]);
    assert.deepEqual(JSON.parse(rotated?.body?.text ?? ''), created);
    const asked = await resend(rotated?.rejectedId);
    assert.deepEqual([asked.status, asked.json.errors], [409, [{ pointer: '', detail: JSON.stringify(created) }]]);
    assert.equal((await resend(rotated?.rejectedId, { confirm: true })).status, 202);
    assert.deepEqual(
      (await events(relayId)).map(({ outcome }) => outcome),
      ['chain'],
      'a stranger must not fill the list of events',
    );

    await api.store.rules.update(companyId, relayId, (rule) => ({ ...rule, enabled: false }), actor);
    assert.equal((await send(relayId, { ...created, id: 'T-2' }, { path: `/${eventToken}` })).status, 401);
    const [off] = await refused(relayId);
    assert.equal(off?.reason, 'rule-disabled');
    assert.equal((await resend(off?.rejectedId)).status, 409);
  });

  it('never finds a token from the path in a log line or an answer', async () => {
    const { relayId, eventToken } = await ruleOf(api.store, companyId, contents);
    const wrong = `rle_${'a'.repeat(36)}`;
    const takenOver = 'a-token-of-an-earlier-system';
    const answers: string[] = [];
    for (const token of [eventToken, wrong, takenOver])
      for (const [body, how] of [
        [created, {}],
        ['{"', {}],
        ['x'.repeat(300_000), {}],
        [created, { path: `/${token}/` }],
        [created, { path: `/${token}/more` }],
        [created, { path: `/${token}?dryRun=true` }],
        [created, { path: `/${token}`, method: 'GET' }],
        [created, { path: `/${token}`, company: 'nobody' }],
        [created, { path: `/${token}%00` }],
      ] as [unknown, Sent][]) {
        const { text, headers } = await send(relayId, body, { path: `/${token}`, ...how });
        answers.push(text, JSON.stringify([...headers]));
      }
    // People also paste the token into wrong places.
    for (const path of [`/co/${companyId}/event/${relayId}/${eventToken}`, `/co/${companyId}/rejected/${eventToken}/x`])
      answers.push((await api.ask('POST', path, undefined, created)).text);
    const metrics = await api.metrics.registry.metrics();
    for (const token of [eventToken, wrong, takenOver])
      for (const text of [...answers, ...lines, metrics]) assert(!text.includes(token), text);
    assert(
      lines.some((line) => line.includes('/co/:companyId/events/:relayId/:token')),
      'the route is logged',
    );
  });
});

describe('a signature', () => {
  const secret = 'secret of the sender';
  const sign = (text: string, key = secret) => ({ 'x-hook-signature': createHmac('sha1', key).update(text).digest('hex') });
  const autotask = { signature: { scheme: 'hmac', header: 'x-hook-signature', algorithm: 'sha1', key: secret } };
  const body = JSON.stringify(created);

  it('of the rule replaces the token', async () => {
    const { relayId, eventToken } = await ruleOf(api.store, companyId, contents, autotask);
    assert.equal((await send(relayId, body, { headers: sign(body) })).status, 202);
    assert.equal((await send(relayId, body, { headers: sign(body), path: '/any' })).status, 202);
    assert.equal((await send(relayId, body, { headers: sign(body), path: `/${eventToken}` })).status, 202);
    // A new key is valid at once, also in a process that has not read it yet.
    await setDoor(api.store, companyId, relayId, { signature: { ...autotask.signature, key: 'new' } });
    assert.equal((await send(relayId, body, { headers: sign(body) })).status, 401);
    assert.equal((await send(relayId, body, { headers: sign(body, 'new') })).status, 202);
  });

  it('that is wrong refuses an event with a right token; the event is kept, and runs only after confirmation', async () => {
    const { relayId, token } = await ruleOf(api.store, companyId, contents, autotask);
    assert.equal((await send(relayId, body, { token, headers: sign(body, 'another') })).status, 401);
    assert.equal((await send(relayId, JSON.stringify({ ...created, id: 'T-3' }), { token })).status, 401);
    const [without, wrong] = await refused(relayId);
    assert.deepEqual([without?.reason, without?.signature, wrong?.reason], ['signature', 'wrong', 'signature']);
    assert.match(without?.problem.detail ?? '', /has no x-hook-signature/);
    assert.match(wrong?.problem.detail ?? '', /is not signed with the key/);
    assert.equal((await resend(wrong?.rejectedId)).status, 409);
    assert.equal((await resend(wrong?.rejectedId, { confirm: true })).status, 202);
  });

  it('is never switched off by an event: an unsigned `Deactivated` changes nothing', async () => {
    const { relayId, token, eventToken } = await ruleOf(
      api.store,
      companyId,
      { actions: contents.actions, variables: contents.variables },
      autotask,
    );
    const deactivated = { Action: 'Deactivated', Guid: 'g', EntityType: 'Ticket', id: 'T', status: 'x', SequenceNumber: 8 };
    const chains = () => started.mock.calls.filter(({ arguments: [type] }) => type === 'RuleChain').length;
    const [starts, before] = [chains(), await api.store.rules.getDoor(companyId, relayId)];
    for (const how of [{}, { token }, { path: `/${eventToken}` }, { headers: sign('') }])
      assert.equal((await send(relayId, deactivated, how)).status, 401);
    assert.equal(chains(), starts);
    assert.deepEqual(await api.store.rules.getDoor(companyId, relayId), before);
    assert.equal((await api.store.rules.get(companyId, relayId))?.enabled, true);
    const text = JSON.stringify(deactivated);
    assert.equal((await send(relayId, text, { headers: sign(text) })).status, 202);
    assert.equal((await send(relayId, body)).status, 401);
  });

  it('of the company is required in addition to the token, unless the rule has its own signature', async () => {
    const company = 'signing';
    const key = Buffer.from('a key of the company');
    const webhookSecret = `whsec_${key.toString('base64')}`;
    await api.store.companies.put(company, () => ({ companyId: company, name: 'S', timeZone: 'UTC', webhookSecret }), actor);
    const { relayId, eventToken: path } = await ruleOf(api.store, company, contents);
    const signed = (id: string) => {
      const time = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
      return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
    };
    const statusOf = async (how: Sent) => (await send(relayId, body, { company, ...how })).status;
    assert.equal(await statusOf({ path: `/${path}`, headers: signed('1') }), 202);
    assert.equal(await statusOf({ path: `/${path}` }), 401);
    assert.equal(await statusOf({ headers: signed('2') }), 401);
    await setDoor(api.store, company, relayId, autotask);
    assert.equal(await statusOf({ headers: sign(body) }), 202);
    assert.equal(await statusOf({ path: `/${path}`, headers: signed('3') }), 401);
  });
});

describe('the body of an event', () => {
  const deep = (levels: number) => `{"status":"created","id":"T","a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  const padded = (bytes: number) => {
    const [head, tail] = ['{"status":"created","id":"T","text":"', '"}'];
    return head + 'x'.repeat(bytes - head.length - tail.length) + tail;
  };
  const runs: [what: string, body: string | Uint8Array, Sent['headers']?, warning?: RegExp][] = [
    ['an object', JSON.stringify(created)],
    ['an own field __proto__', '{"__proto__":{"status":"draft","id":"P"},"constructor":1,"status":"created","id":"T"}'],
    ['32 levels', deep(32)],
    ['256 KiB', padded(256 * 1024)],
    ['another type', JSON.stringify(created), { 'content-type': 'text/plain' }, /another Content-Type/],
    ['gzip', gzipSync(JSON.stringify(created)), { 'content-encoding': 'gzip' }, /compressed with gzip/],
    ['a comma too much', '{"status":"created","id":"T",}', {}, /a comma/],
    ['a line break in a text', '{"status":"created","id":"T","note":"a\nb"}', {}, /unescaped line break/],
    ['a NUL and half a character', '{"status":"created","id":"T\\u0000\\ud800","\\ud800":1}'],
    ['a platform that adds a query', JSON.stringify(created)],
  ];
  for (const [what, body, headers, warning] of runs)
    it(`runs: ${what}`, async () => {
      const { relayId, token } = await ruleOf(api.store, companyId, contents);
      const path = what.includes('query') ? '?recordId=1&action=updated' : '';
      const sent = await send(relayId, body, { token, path, ...(headers && { headers }) });
      assert.equal(sent.status, 202, sent.text);
      const { warnings } = acceptedEventSchema.parse(sent.json());
      assert.equal(
        warnings.some(({ detail }) => warning?.test(detail) ?? true),
        warning !== undefined,
        JSON.stringify(warnings),
      );
      const [, start] = started.mock.calls.at(-1)?.arguments ?? assert.fail();
      const { args } = z
        .object({ args: z.tuple([z.object({ actions: z.array(z.object({ ticketId: z.string() })) })]) })
        .parse(start);
      assert.match(args[0].actions[0]?.ticketId ?? '', what.startsWith('a NUL') ? /^T\ufffd\ufffd$/ : /^T(-1)?$/);
      const [event] = await events(relayId);
      assert.equal(event?.outcome, 'chain');
      assert.equal(({} as Record<string, unknown>).status, undefined, 'the prototype of all objects is changed');
    });

  const isKept: [what: string, body: string, status: number, slug: string, detail: RegExp, headers?: Record<string, string>][] = [
    ['an array', JSON.stringify([created]), 400, 'not-an-object', /it is no object/],
    ['a text', '"created"', 400, 'not-an-object', /it is no object/],
    ['a number', '7', 400, 'not-an-object', /it is no object/],
    ['a quotation mark in a text', '{"status":"created","note":"the "blue" door"}', 400, 'malformed-json', /`blue`/],
    ['a field twice', '{"status":"draft","note":"x","status":"created"}', 400, 'malformed-json', /`status` occurs twice/],
    ['nothing', '', 400, 'malformed-json', /the body is empty/],
    ['33 levels', deep(33), 400, 'malformed-json', /deeper than 32/],
    ['more than 256 KiB', padded(256 * 1024 + 1), 413, 'body-too-large', /256 KiB/],
    [
      'a form',
      'status=created&id=T',
      415,
      'unsupported-media-type',
      /cannot be read/,
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
  ];
  const guesses: Record<string, object[]> = {
    'a quotation mark in a text': [{ status: 'created', note: 'the "blue" door' }],
    'a field twice': [{ status: 'created', note: 'x' }],
  };
  for (const [what, body, status, slug, detail, headers] of isKept)
    it(`is kept and reported: ${what}`, async () => {
      const { relayId, eventToken } = await ruleOf(api.store, companyId, contents);
      const starts = started.mock.callCount();
      const sent = await send(relayId, body, { path: `/${eventToken}`, ...(headers && { headers }) });
      assert.deepEqual([sent.status, slugOf(sent)], [status, slug], sent.text);
      assert.match(sent.json().detail, detail);
      const [kept, another] = await refused(relayId);
      assert.equal(another, undefined);
      assert.deepEqual(
        [kept?.reason, kept?.elements, kept?.proposal, kept?.body?.isEvent],
        ['event-unreadable', [], guesses[what]?.map((element) => ({ element, authenticated: true })), true],
      );
      assert.equal(kept?.body?.text, body.slice(0, 256 * 1024));
      assert.equal(kept?.body?.cut, status === 413);
      // The relay has started one workflow at the fake Temporal: the notice.
      const began = started.mock.calls.slice(starts).map(({ arguments: [type] }) => type);
      assert.deepEqual(began, ['NoticeDelivery']);
      assert.deepEqual(await events(relayId), []);

      const asked = await resend(kept?.rejectedId);
      assert.equal(asked.status, 400);
      assert.equal(asked.json.errors[0].pointer, '/event');
      const edited = await resend(kept?.rejectedId, { event: created });
      assert.equal(edited.status, 202, edited.text);
      assert.equal((await refused(relayId))[0]?.chainId, edited.json.chainId);
      assert.equal((await resend(kept?.rejectedId, { event: created })).status, 409);
    });

  it('runs as the relay has repaired it, if a person wants that', async () => {
    const { relayId, eventToken } = await ruleOf(api.store, companyId, contents);
    await send(relayId, '{"id":"T-1","status":"created","note":"the "blue" door"}', { path: `/${eventToken}` });
    const [kept] = await refused(relayId);
    const sent = await resend(kept?.rejectedId, { proposed: true });
    assert.equal(sent.status, 202, sent.text);
    assert.equal((await refused(relayId))[0]?.chainId, sent.json.chainId);
  });

  it('is a test that somebody sends from the console, with an entry in the audit log', async () => {
    const { relayId } = await ruleOf(api.store, companyId, contents);
    const at = `/admin/companies/${companyId}/rules/${relayId}/events`;
    const sent = await api.ask('POST', at, adminToken, { event: created });
    assert.equal(sent.status, 202, sent.text);
    const { entries } = (await api.ask('GET', `/admin/companies/${companyId}/audit`, adminToken)).json;
    assert.deepEqual([entries[0].action, entries[0].details.chainId], ['event.test', sent.json.chainId]);
    const other = await api.ask('POST', at, adminToken, { event: { ...created, status: 'closed' } });
    assert.deepEqual([other.status, other.json.applies], [200, false]);
    assert.equal((await api.ask('POST', at, adminToken, { event: [] })).status, 400);
  });

  it('names the assignment, whatever its outcome', async () => {
    const assigned = { ...contents, actions: [{ ...actions[0], platformAssignmentId: '${event.assignment.id}' }] };
    const { relayId, token } = await ruleOf(api.store, companyId, assigned);
    for (const status of ['created', 'closed']) await send(relayId, { ...created, status, assignment: { id: 1001 } }, { token });
    await send(relayId, { status: 'created', assignment: { id: '1002' } }, { token });
    const listed = await api.ask('GET', `/admin/companies/${companyId}/rules/${relayId}/events`, adminToken);
    assert.deepEqual(
      listed.json.events.map(({ outcome, assignmentId }: Record<string, string>) => [outcome, assignmentId]),
      [
        ['refused', '1002'],
        ['not-applicable', '1001'],
        ['chain', '1001'],
      ],
    );
  });

  it('is kept without the tokens in it, if somebody sent a list of actions as an event', async () => {
    const { relayId, token, eventToken } = await ruleOf(api.store, companyId, contents);
    const list = [{ action: 'sendEmails', relayId, relayAccessToken: token }, { relayAccessToken: eventToken }];
    assert.equal((await send(relayId, list, { token })).status, 400);
    assert.equal((await send(relayId, { ...created, list }, { token })).status, 202);
    const [kept] = await refused(relayId);
    const event = await lastEvent(api.store, companyId, relayId);
    for (const text of [kept?.body?.text, event?.body])
      for (const secret of [token, eventToken]) assert(text && !text.includes(secret) && text.includes('****'), text);
  });
});

describe('an event that the rule does not run', () => {
  it('is not applicable, with the reason and the version', async () => {
    const { relayId, token } = await ruleOf(api.store, companyId, contents);
    const sent = await send(relayId, { id: 'T', status: 'draft' }, { token });
    assert.equal(sent.status, 200);
    const { applies, version, reason, eventId } = notApplicableSchema.parse(sent.json());
    assert.deepEqual([applies, version], [false, 1]);
    assert.match(reason, /status/);
    const [event] = await events(relayId);
    assert.deepEqual([event?.eventId, event?.outcome, event?.version, event?.reason], [eventId, 'not-applicable', 1, reason]);
  });

  it('is refused, kept and reported if `when` fails or a value is missing, and runs after a new version is published', async () => {
    const { relayId, token } = await ruleOf(api.store, companyId, contents);
    for (const [event, pointer] of [
      [{ id: 'T' }, '/when'],
      [{ status: 'created' }, '/variables/ticket'],
    ] as const) {
      const sent = await send(relayId, event, { token });
      assert.deepEqual([sent.status, slugOf(sent)], [400, 'event-refused'], sent.text);
      assert(sent.text.includes(pointer), sent.text);
    }
    const [missing] = await refused(relayId);
    assert.deepEqual([missing?.reason, missing?.body?.text], ['event-refused', '{"status":"created"}']);
    assert.equal((await resend(missing?.rejectedId)).status, 400);
    const [event] = await events(relayId);
    assert.deepEqual([event?.outcome, event?.version, event?.rejectedId], ['refused', 1, missing?.rejectedId]);

    await publish(api.store, companyId, relayId, {
      ...contents,
      variables: { ticket: { path: 'id', missing: 'default', default: 'T' } },
    });
    const sent = await resend(missing?.rejectedId);
    assert.equal(sent.status, 202, sent.text);
    assert.deepEqual([sent.json.version, sent.json.applies], [2, true]);
    assert.equal((await resend(missing?.rejectedId)).status, 409);
    assert.equal((await resend(missing?.rejectedId, { proposed: true })).status, 409);
  });

  it('is kept if the rule has no contents, and can be tried and sent later', async () => {
    const { relayId, token } = await ruleOf(api.store, companyId);
    const sent = await send(relayId, created, { token });
    assert.deepEqual([sent.status, slugOf(sent)], [409, 'rule-without-contents']);
    const [kept] = await refused(relayId);
    assert.equal(kept?.reason, 'event-refused');
    assert.equal((await resend(kept?.rejectedId)).status, 409);
    const event = await lastEvent(api.store, companyId, relayId);
    assert.deepEqual([event?.body, event?.version], [JSON.stringify(created), 0]);
    await publish(api.store, companyId, relayId, contents);
    assert.equal((await resend(kept?.rejectedId)).status, 202);
  });

  it('is refused and kept if a recipient is not allowed, a limit is reached, or the key is unusable', async () => {
    const limited = 'limited';
    const company = {
      companyId: limited,
      name: 'L',
      timeZone: 'UTC',
      limits: { actionsPerDay: 1 },
      mail: { recipientDomains: ['a.example'] },
    };
    await api.store.companies.put(limited, () => company, actor);
    const mail = { action: 'sendEmails', emails: ['${event.to}'], subject: 's', body: 'b', bodyHtml: '<p>b</p>' };
    const { relayId, token } = await ruleOf(api.store, limited, { actions: [mail] });
    const cases: [unknown, Record<string, string>, number, string, string][] = [
      [{ to: 'x@b.example' }, {}, 400, 'event-refused', 'event-refused'],
      [{ to: 'x@a.example', n: 1 }, { 'idempotency-key': 'a', 'webhook-id': 'b' }, 400, 'idempotency-key', 'idempotency-key'],
      [{ to: 'x@a.example', n: 2 }, {}, 202, '', ''],
      [{ to: 'x@a.example', n: 3 }, {}, 429, 'quota-exceeded', 'actions-per-day'],
    ];
    const reasons: string[] = [];
    for (const [event, headers, status, slug, reason] of cases) {
      const sent = await send(relayId, event, { token, headers, company: limited });
      assert.equal(sent.status, status, sent.text);
      if (status === 202) continue;
      assert.equal(slugOf(sent), slug);
      reasons.unshift(reason);
    }
    const { items } = await api.store.rejected.list(limited, { limit: 10 });
    assert.deepEqual(
      items.map(({ reason }) => reason),
      reasons,
    );
    const { items: stored } = await api.store.events.list(limited, relayId, { limit: 10 });
    assert.deepEqual(
      stored.map(({ outcome }) => outcome),
      ['refused', 'chain', 'refused', 'refused'],
    );
    const whole = await api.store.rejected.get(limited, items.at(-1)?.rejectedId ?? '');
    assert.equal(whole?.problem.errors?.[0]?.pointer, '/actions/0/emails');
  });

  it('is refused as a dry run', async () => {
    const { relayId, token } = await ruleOf(api.store, companyId, contents);
    const starts = started.mock.callCount();
    for (const path of ['?dryRun=true', '?dry_run=true', '?dryRun=maybe'])
      assert.equal((await send(relayId, created, { token, path })).status, 400);
    assert.equal(started.mock.callCount(), starts);
  });
});

describe('a repeated event', () => {
  const key = (value: string) => ({ 'idempotency-key': value });

  it('that was not applicable gets the same answer after another version was published', async () => {
    const { relayId, token } = await ruleOf(api.store, companyId, contents, { dedupeBy: 'meta.id' });
    const draft = { id: 'T', status: 'draft', meta: { id: 5 } };
    const first = (await send(relayId, draft, { token })).json();
    const byHeader = (await send(relayId, { id: 'T', status: 'draft' }, { token, headers: key('k') })).json();
    assert.deepEqual([first.version, first.applies, byHeader.applies], [1, false, false]);
    await publish(api.store, companyId, relayId, { ...contents, when: 'event.status == "draft"' });
    for (const flushed of [false, true]) {
      if (flushed) await api.store.events.flush();
      const again = await send(relayId, draft, { token });
      assert.deepEqual([again.status, again.headers.get('idempotency-replayed'), again.json()], [200, 'true', first]);
      const header = await send(relayId, { id: 'T', status: 'draft' }, { token, headers: key('k') });
      assert.deepEqual(header.json(), byHeader);
    }
    // The first event ran nothing, so an event with the same id and another body counts as a new event.
    assert.equal((await send(relayId, { ...draft, more: 1 }, { token })).status, 202);
    // Without a key, each delivery counts as a new event.
    assert.equal((await send(relayId, { id: 'T', status: 'draft' }, { token })).status, 202);
  });

  it('without a value for `dedupeBy` runs again, with a warning', async () => {
    const { relayId, token } = await ruleOf(api.store, companyId, contents, { dedupeBy: 'meta.id' });
    for (const meta of [undefined, null, {}, { id: null }, { id: ' ' }, []]) {
      const sent = await send(relayId, { ...created, meta }, { token });
      assert.equal(sent.status, 202);
      assert.match(JSON.stringify(sent.json().warnings), /has no value at meta\.id/);
    }
    const long = await send(relayId, { ...created, meta: { id: 'x'.repeat(100_000) } }, { token });
    assert.deepEqual(long.json().warnings, []);
    const keys = (await events(relayId)).map(({ dedupe }) => dedupe?.length);
    assert.deepEqual(keys, [64, ...Array(6).fill(undefined)]);
  });
});

describe('a rule that refuses lists', () => {
  it('keeps and reports them; a rule without this setting accepts lists', async () => {
    const closed = await ruleOf(api.store, companyId, contents, { refuseLists: true });
    const open = await ruleOf(api.store, companyId, contents);
    const of = ({ relayId, token }: typeof open, id: string) => ({
      ...actions[0],
      externalSystemTicketId: id,
      cfValue: 'v',
      relayId,
      relayAccessToken: token,
    });
    const post = (...list: object[]) => api.ask('POST', `/co/${companyId}/relay`, undefined, list);
    assert.equal((await post(of(open, 'T'))).status, 202);
    const { status, json } = await post(of(open, 'T'), of(closed, 'T'));
    assert.deepEqual([status, json.type, json.errors[0].pointer], [409, '/problems/lists-refused', '/1/relayId']);
    const [kept] = await refused(closed.relayId);
    assert.deepEqual([kept?.reason, kept?.elements.length, kept?.body], ['lists-refused', 2, undefined]);
    assert.equal((await api.ask('POST', `/co/${companyId}/relay?dryRun=true`, undefined, [of(closed, 'T')])).status, 409);
    assert.equal((await send(closed.relayId, created, { token: closed.token })).status, 202);
    // A person may still send the kept list.
    assert.equal((await resend(kept?.rejectedId)).status, 202);
    assert.equal((await resend(kept?.rejectedId, { event: {} })).status, 409);
  });
});

describe('a shadow version', () => {
  it('is tried on each event, and its outcome is in the row of the event', async () => {
    const { relayId, token } = await ruleOf(api.store, companyId, contents);
    const shadow = await publish(api.store, companyId, relayId, { ...contents, when: 'event.status == "draft"' });
    await api.store.versions.goBack(companyId, relayId, 1, undefined, actor);
    await api.store.versions.setShadow(companyId, relayId, shadow, actor);
    assert.equal((await send(relayId, created, { token })).json().version, 3);
    assert.equal((await send(relayId, { ...created, status: 'x' }, { token })).json().applies, false);
    const tried = (await events(relayId)).map(({ shadow: { version, outcome } = { version: 0, outcome: '' } }) => [
      version,
      outcome,
    ]);
    assert.deepEqual(tried, [
      [shadow, 'not-applicable'],
      [shadow, 'no-longer-applies'],
    ]);
  });
});

describe('the cost of an event', () => {
  it('includes no query', async () => {
    const { relayId, token } = await ruleOf(api.store, companyId, contents);
    await send(relayId, created, { token });
    const [before, begun] = [query.mock.callCount(), performance.now()];
    for (let n = 0; n < 50; n += 1) assert.equal((await send(relayId, { ...created, n }, { token })).status, 202);
    // Each process reads changes and writes events and usage about once a second.
    const most = 4 + ((performance.now() - begun) / 1000) * 6;
    const count = query.mock.callCount() - before;
    assert(count <= most, `${count} queries, not ${most}`);
    assert.equal((await events(relayId)).length, 51);
  });
});

describe('if a system is unavailable', () => {
  it('Temporal: 503, nothing is kept, and the answer does not say that anything was done', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [] });
    const away = await wholeApi({ client: new Client({ connection }) });
    await away.store.companies.put(companyId, () => ({ companyId, name: 'Acme', timeZone: 'UTC' }), actor);
    const { relayId, token } = await ruleOf(away.store, companyId, contents);
    const ask = (event: object, idempotencyKey?: string) =>
      fetch(`${away.url}/co/${companyId}/events/${relayId}`, {
        method: 'POST',
        headers: { 'x-relay-token': token, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) },
        body: JSON.stringify(event),
      });
    // An event with this key may have run before, so the answer must not say that the event does not apply.
    for (const response of [await ask(created), await ask(created, 'k'), await ask({ ...created, status: 'draft' }, 'k')]) {
      assert.equal(response.status, 503);
      assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
      assert.match(await response.text(), /temporal-unavailable/);
    }
    assert.deepEqual((await away.store.rejected.list(companyId, { limit: 1 })).items, []);
    assert.deepEqual((await away.store.events.list(companyId, relayId, { limit: 1 })).items, []);
    await away.close();
  });

  it('the database: 503 if the answer needs it', async () => {
    const database = await openEmptied();
    let isAway = false;
    const refusing = <Result>(work: () => Promise<Result>) =>
      isAway ? Promise.reject(new AwayError('the database', 'wait')) : work();
    const store = createStore({
      ...database,
      query: (text, parameters) => refusing(() => database.query(text, parameters)),
      transaction: (work) => refusing(() => database.transaction(work)),
    });
    await store.companies.put(companyId, () => ({ companyId, name: 'Acme', timeZone: 'UTC' }), actor);
    const { relayId, token } = await ruleOf(store, companyId, contents);
    const shut = await wholeApi({ store, client });
    const ask = async (body: string, headers: Record<string, string> = {}) => {
      const path = `${shut.url}/co/${companyId}/events/${relayId}`;
      const response = await fetch(path, { method: 'POST', headers: { 'x-relay-token': token, ...headers }, body });
      const { type }: { type?: string } = JSON.parse(await response.text());
      return [response.status, type];
    };
    const text = JSON.stringify(created);
    assert.deepEqual(await ask(text), [202, undefined]);
    isAway = true;
    const unavailable = [503, '/problems/database-unavailable'];
    assert.deepEqual(await ask('[]'), unavailable, 'an event that cannot be kept');
    assert.deepEqual(await ask(text, { 'idempotency-key': 'k' }), unavailable, 'an event whose first answer cannot be looked up');
    assert.deepEqual(await ask(text, { 'x-relay-token': 'wrong' }), unavailable, 'a sender that cannot be looked up');
    isAway = false;
    assert.deepEqual(await ask(text, { 'idempotency-key': 'k' }), [202, undefined]);
    await shut.close();
    await store.close();
  });
});
