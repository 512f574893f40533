/** The settings in docs/systems/http.md, against servers that behave as the vendors' documentation and clients say. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ConnectorError } from '../../../src/connectors/call.js';
import { type Company, companyRequest } from '../../../src/contract/company.js';
import { failing } from '../../connectors/failing.js';
import { bare, startLocalConnectors } from '../../connectors/local-connectors.js';
import { answering, type LocalHttp, type Received } from '../../connectors/local-http.js';

const { server, connectors } = await startLocalConnectors();
const { platformOf, ticketingOf } = connectors();
const page = readFileSync(new URL('../../../../docs/systems/http.md', import.meta.url), 'utf8');
const blocks = Array.from(page.matchAll(/^```json\n(.*?)^```$/gms), ([, json = '']) => json);

/** The company with the settings for this host. @param secrets - these replace each `…` in the settings */
function documented(host: string, ...secrets: string[]): Company {
  const json = blocks.find((block) => block.includes(host)) ?? assert.fail(host);
  const left = [...secrets];
  const filled = json.replaceAll(/…/g, () => left.shift() ?? assert.fail('one more …')).replaceAll(`https://${host}`, server.url);
  const {
    name: _,
    notify: _notify,
    noticeLinks: _links,
    noticeEdits: _edits,
    timeZone: _zone,
    ...sections
  } = companyRequest.parse({
    name: 'Acme',
    ...JSON.parse(filled),
  });
  return { ...bare, ...(sections as Partial<Company>) };
}

const call = { timeoutMs: 5000 };
const setField = (company: Company, ticketId: string, name: string, value: string) =>
  ticketingOf(company).setField({ ticketId, name, text: value, value, hasPattern: false, timeZone: 'UTC' }, call);
const basic = `Basic ${Buffer.from('k3y:X').toString('base64')}`;
const idIn = ({ path }: Received) => /^\/api(?:\/v2)?\/tickets\/(\d+)$/.exec(path)?.[1];

interface Tickets {
  [id: string]: Record<string, unknown>;
}

/** Answers like Freshdesk and Freshservice. @param shown - the form of a ticket in an answer */
function freshworks(tickets: Tickets, shown: (ticket: object) => object): LocalHttp['answer'] {
  return (response, request) => {
    const respond = (status: number, body: string | object = '') => answering(status, body)(response, request);
    if (request.headers.authorization !== basic) return respond(401, { code: 'invalid_credentials', message: 'Log in first' });
    const id = idIn(request);
    if (request.method !== 'PUT' || id === undefined) return respond(405, { message: 'not allowed' });
    const ticket = tickets[id];
    if (!ticket) return respond(404);
    const { custom_fields = {}, ...others } = JSON.parse(request.body) as { custom_fields?: object };
    const unknown = [...Object.keys(others), ...Object.keys(custom_fields).filter((name) => !Object.hasOwn(ticket, name))];
    const errors = unknown.map((field) => ({ field, message: `Unexpected/invalid field in request`, code: 'invalid_field' }));
    if (errors.length > 0) return respond(400, { description: 'Validation failed', errors });
    Object.assign(ticket, custom_fields);
    respond(200, shown({ id: Number(id), custom_fields: ticket }));
  };
}

for (const [host, shown] of [
  ['acme.freshdesk.com', (ticket: object) => ticket],
  ['acme.freshservice.com', (ticket: object) => ({ ticket })],
] as const) {
  describe(host, () => {
    const company = documented(host, basic.slice('Basic '.length));

    it('sets a field', async () => {
      const tickets: Tickets = { 7: { cf_arrival: null } };
      server.answer = freshworks(tickets, shown);
      await setField(company, '7', 'cf_arrival', '2026-01-05');
      assert.deepEqual(tickets, { 7: { cf_arrival: '2026-01-05' } });
      const { method, path, body, headers } = server.last();
      assert.deepEqual([method, path, headers['content-type']], ['PUT', '/api/v2/tickets/7', 'application/json']);
      assert.equal(body, '{"custom_fields":{"cf_arrival":"2026-01-05"}}');
    });

    it('keeps exactly the values that were sent', async () => {
      const tickets: Tickets = { 7: { cf_note: null } };
      server.answer = freshworks(tickets, shown);
      const keeps = async (value: string) => {
        await setField(company, '7', 'cf_note', value);
        assert.equal(tickets['7']?.cf_note, value);
      };
      await fc.assert(fc.asyncProperty(fc.string({ unit: 'grapheme' }), keeps), { numRuns: 1000 });
    });

    const mistakes: [title: string, answer: LocalHttp['answer'] | undefined, id: string, kind: ConnectorError['kind'], RegExp][] =
      [
        ['a field that does not exist', undefined, '7', 'permanent', /answered 400: .*cf_other.*invalid_field/],
        ['a ticket that does not exist', undefined, '8', 'permanent', /answered 404; check the id/],
        ['a wrong key', answering(401, { code: 'invalid_credentials', message: 'Log in' }), '7', 'permanent', /check auth/],
        ['too many requests', answering(429, '', { 'retry-after': '30' }), '7', 'retryable', /answered 429/],
      ];
    for (const [title, answer, id, kind, words] of mistakes)
      it(`reports ${title}`, async () => {
        server.answer = answer ?? freshworks({ 7: { cf_note: null } }, shown);
        const error = await failing(setField(company, id, 'cf_other', 'x'));
        assert.equal(error.kind, kind);
        assert.match(error.message, words);
        assert.ok(!error.message.includes('k3y') && !error.message.includes(basic));
      });

    it('is never asked to change a collection', async () => {
      server.received.length = 0;
      for (const id of ['', '..', '0', 'T7', '7/../8'])
        assert.equal((await failing(setField(company, id, 'a', 'b'))).kind, 'permanent');
      assert.deepEqual(server.received, []);
    });

    it('has a check', async () => {
      server.answer = freshworks({}, shown);
      assert.match(await ticketingOf(company).check(call), /^answers and accepts/);
      server.answer = answering(401);
      assert.match((await failing(ticketingOf(company).check(call))).message, /check auth/);
    });
  });
}

it('Freshservice: an answer about another ticket is a failure', async () => {
  server.answer = answering(200, { ticket: { id: 8 } });
  const error = await failing(setField(documented('acme.freshservice.com', 'x'), '7', 'a', 'b'));
  assert.match(error.message, /but ticket\.id was "8", not ticket\.id==\{ticketId\}/);
});

/** Answers like HaloPSA, which creates a ticket if a request has no number as id. */
function halo(tickets: Tickets, tokens = new Set<string>(), seconds = 3600): LocalHttp['answer'] {
  return (response, request) => {
    const respond = (status: number, body: string | object) => answering(status, body)(response, request);
    if (request.path === '/auth/token?tenant=acme') {
      const form = new URLSearchParams(request.body);
      if (form.get('grant_type') !== 'client_credentials' || form.get('scope') !== 'read:tickets edit:tickets')
        return respond(400, {});
      if (form.get('client_id') !== 'cl1ent' || form.get('client_secret') !== 's3cret')
        return respond(401, { error: 'invalid_client' });
      const token = `t0ken${server.received.length}`;
      tokens.add(token);
      return respond(200, { access_token: token, expires_in: seconds, token_type: 'Bearer' });
    }
    if (!tokens.has((request.headers.authorization ?? '').replace('Bearer ', ''))) return respond(401, { message: 'no' });
    if (request.method === 'GET') {
      const ticket = tickets[idIn(request) ?? ''];
      return ticket ? respond(200, { id: Number(idIn(request)), customfields: [ticket] }) : respond(404, { message: 'no' });
    }
    for (const { id, customfields } of JSON.parse(request.body) as { id: unknown; customfields: Record<string, unknown>[] }[]) {
      const key = typeof id === 'number' && id > 0 ? String(id) : `new ${Object.keys(tickets).length}`;
      tickets[key] = { ...tickets[key], ...Object.fromEntries(customfields.map(({ name, value }) => [name, value])) };
    }
    respond(201, { id: 7 });
  };
}

describe('HaloPSA', () => {
  const withSecret = (secret: string) => documented('acme.halopsa.com', 'cl1ent', secret);
  it('fetches a token once, reads the ticket, and sets the field', async () => {
    const tickets: Tickets = { 7: { CFArrival: null } };
    server.answer = halo(tickets);
    server.received.length = 0;
    const company = withSecret('s3cret');
    for (const value of ['2026-01-05', '2026-01-06']) await setField(company, '7', 'CFArrival', value);
    assert.deepEqual(tickets, { 7: { CFArrival: '2026-01-06' } });
    assert.deepEqual(
      server.received.map(({ method, path }) => `${method} ${path}`),
      ['POST /auth/token?tenant=acme', ...['GET /api/tickets/7', 'POST /api/tickets', 'GET /api/tickets/7', 'POST /api/tickets']],
    );
    assert.equal(server.last().body, '[{"id":7,"customfields":[{"name":"CFArrival","value":"2026-01-06"}]}]');
  });

  it('is asked for one new token after it refuses the old token', async () => {
    server.received.length = 0;
    server.answer = halo({ 7: {} }); // this server does not know the token of the previous test
    await setField(withSecret('s3cret'), '7', 'a', 'b');
    assert.equal(server.received.filter(({ path }) => path.startsWith('/auth')).length, 1);
    server.received.length = 0;
    server.answer = (response, request) =>
      request.path.startsWith('/auth') ? halo({})(response, request) : answering(401, { message: 'no' })(response, request);
    const error = await failing(setField(withSecret('s3cret'), '7', 'a', 'b'));
    assert.match(error.message, /tickets\/7 answered 401: no; check auth/);
    assert.deepEqual([error.kind, server.received.filter(({ path }) => path.startsWith('/auth')).length], ['permanent', 1]);
  });

  it('causes an error about wrong credentials that does not show them, also in a check, and nothing changes', async () => {
    const tickets: Tickets = { 7: {} };
    server.answer = halo(tickets);
    const company = withSecret('wr0ng');
    for (const attempt of [setField(company, '7', 'a', 'b'), ticketingOf(company).check(call)]) {
      const { kind, message } = await failing(attempt);
      assert.equal(kind, 'permanent');
      assert.equal(
        message,
        `POST ${server.url}/auth/token answered 401: invalid_client; check auth in the company's ticketing settings`,
      );
    }
    assert.deepEqual(tickets, { 7: {} });
  });

  it('never creates a ticket', async () => {
    const tickets: Tickets = { 7: {} };
    server.answer = halo(tickets);
    for (const id of ['8', '0', '', '-7', '7.5', '7e3', 'new', '99999999999999999999'])
      assert.equal((await failing(setField(withSecret('s3cret'), id, 'a', 'b'))).kind, 'permanent');
    const other = halo(tickets);
    for (const found of [{}, [], { id: 8 }, { record_count: 0, tickets: [] }, 'null']) {
      server.answer = (response, request) =>
        request.method === 'GET' ? answering(200, found)(response, request) : other(response, request);
      assert.equal((await failing(setField(withSecret('s3cret'), '7', 'a', 'b'))).kind, 'permanent');
    }
    assert.deepEqual(tickets, { 7: {} });
  });

  it('reports a plain-text mistake', async () => {
    const known = halo({ 7: {} });
    server.answer = (response, request) =>
      request.path === '/api/tickets' ? answering(400, 'Invalid value')(response, request) : known(response, request);
    assert.match((await failing(setField(withSecret('s3cret'), '7', 'a', 'b'))).message, /answered 400: Invalid value$/);
  });
});

describe('the platform in docs/systems/http.md', () => {
  const company = documented('platform.example.com', 'k3y');

  it('returns an assignment, and sends it', async () => {
    server.answer = answering(200, { found: true, accepted: true, job: { state: { name: 'draft' } } });
    const platform = platformOf(company);
    assert.equal((await platform.getAssignment('A 1', call)).status, 'draft');
    assert.deepEqual([server.last().path, server.last().headers['x-api-key']], ['/api/jobs?number=A%201', 'k3y']);
    await platform.sendAssignment('A1', { groupIds: ['7', '8'], radiusMiles: 25 }, call);
    assert.equal(server.last().body, '{"pools":[7,8],"area":{"miles":25}}');
    await platform.sendAssignment('A1', { groupIds: [] }, call);
    assert.equal(server.last().body, '{"area":{}}');
    assert.equal((await failing(platform.sendAssignment('A1', { groupIds: ['Berlin'] }, call))).kind, 'permanent');
  });
});
