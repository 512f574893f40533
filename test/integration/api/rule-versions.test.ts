import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { z } from 'zod';
import { apiRoutes } from '../../../src/api/app.js';
import { type Role, roles } from '../../../src/contract/credential.js';
import { problemSchema } from '../../../src/contract/problem.js';
import {
  contentsDiffSchema,
  draftResponse,
  shadowRequest,
  versionSchema,
  versionsResponse,
  wholeVersionSchema,
} from '../../../src/contract/rule-contents.js';
import { doorSchema, eventTokensResponse } from '../../../src/contract/rule-event.js';
import { adminToken, wholeApi } from '../../api/whole-api.js';

const path = '/admin/companies/acme/rules/1';
const send = { action: 'platform_sendAssignment', platformAssignmentId: '${id}', sendRadius: '5' };
const contents = { variables: { id: { path: 'workorder.id', missing: 'refuse' } }, actions: [send] };
const wider = { ...contents, actions: [{ ...send, sendRadius: '25' }] };

describe('a rule with contents', () => {
  let api: Awaited<ReturnType<typeof wholeApi>>;
  const keys = {} as Record<Role, string>;
  let foreign: string;
  before(async () => {
    api = await wholeApi();
    const company = { name: 'Acme', notify: { emails: ['ops@example.com'] } };
    for (const id of ['acme', 'other']) {
      assert.equal((await api.ask('PUT', `/admin/companies/${id}`, adminToken, company)).status, 201);
      await api.ask('POST', `/admin/companies/${id}/rules`, adminToken, { name: 'Rule', relayId: '1' });
    }
    for (const role of roles)
      keys[role] = (await api.ask('POST', '/admin/companies/acme/keys', adminToken, { name: role, role })).json.key;
    foreign = (await api.ask('POST', '/admin/companies/other/keys', adminToken, { name: 'foreign', role: 'manage' })).json.key;
  });
  after(() => api.close());

  async function ask<Schema extends z.ZodType>(
    schema: Schema,
    method: string,
    at: string,
    body?: unknown,
    { status = 200, bearer = keys.author } = {},
  ): Promise<z.infer<Schema>> {
    const answer = await api.ask(method, path + at, bearer, body);
    assert.equal(answer.status, status, answer.text);
    return schema.parse(answer.json);
  }
  const refused = async (method: string, at: string, body: unknown, status: number, slug: string) => {
    const problem = await ask(problemSchema, method, at, body, { status });
    assert.equal(problem.type, `/problems/${slug}`);
    return problem;
  };
  const audited = async () => {
    const { entries } = (await api.ask('GET', '/admin/companies/acme/audit?limit=200', adminToken)).json;
    return entries.map(({ action }: { action: string }) => action);
  };

  it('has an empty draft at first, and no version', async () => {
    assert.deepEqual(await ask(draftResponse, 'GET', '/draft'), { revision: 0, problems: [], warnings: [] });
    assert.deepEqual(await ask(versionsResponse, 'GET', '/versions'), { versions: [] });
    await refused('POST', '/publish', { revision: 1 }, 409, 'draft-changed');
    for (const at of ['/versions/1', '/versions/x', '/versions/1/diff']) await refused('GET', at, undefined, 404, 'not-found');
  });

  it('saves a draft with mistakes, names them, and does not publish it', async () => {
    const wrong = { actions: [{ ...send, delayInSeconds: 'soon' }], variables: {} };
    const saved = await ask(draftResponse, 'PUT', '/draft', { revision: 0, contents: wrong });
    assert.deepEqual([saved.revision, saved.contents, saved.updatedBy], [1, wrong, 'key author']);
    assert.ok(
      saved.problems.some(({ pointer }) => pointer === '/actions/0/delayInSeconds'),
      JSON.stringify(saved.problems),
    );
    assert.deepEqual(await ask(draftResponse, 'GET', '/draft'), saved);
    const { errors = [] } = await refused('POST', '/publish', { revision: 1 }, 409, 'unpublishable');
    assert.deepEqual(errors, saved.problems);
  });

  it('accepts the draft of one of two editors, and shows both drafts to the other editor', async () => {
    const { revision } = await ask(draftResponse, 'PUT', '/draft', { revision: 1, contents });
    assert.equal(revision, 2);
    const { detail, conflict } = await refused('PUT', '/draft', { revision: 1, contents: wider }, 409, 'draft-changed');
    assert.match(detail, /revision 2, not 1: key author saved it at 20/);
    assert.deepEqual([conflict?.stored.contents, conflict?.yours], [contents, wider]);
    assert.deepEqual(conflict?.diff?.actions[0]?.changes, [{ field: 'sendRadius', before: '5', after: '25' }]);
    assert.deepEqual((await ask(draftResponse, 'GET', '/draft')).contents, contents);
  });

  it('publishes a version once, shows differences, and publishes an earlier version again', async () => {
    const one = await ask(versionSchema, 'POST', '/publish', { revision: 2, note: 'first' }, { status: 201 });
    assert.deepEqual([one.version, one.note, one.publishedBy], [1, 'first', 'key author']);
    assert.deepEqual(await ask(versionSchema, 'POST', '/publish', { revision: 2, note: 'twice' }), one);
    await ask(draftResponse, 'PUT', '/draft', { revision: 2, contents: wider });
    const diff = await ask(contentsDiffSchema, 'GET', '/versions/1/diff');
    assert.deepEqual(diff.actions[0]?.changes, [{ field: 'sendRadius', before: '5', after: '25' }]);
    assert.equal((await ask(contentsDiffSchema, 'GET', '/versions/1/diff?with=published')).same, true);
    await refused('POST', '/publish', { revision: 2 }, 409, 'draft-changed');
    assert.equal((await ask(versionSchema, 'POST', '/publish', { revision: 3 }, { status: 201 })).version, 2);
    assert.equal((await ask(contentsDiffSchema, 'GET', '/versions/1/diff?with=2')).same, false);

    const back = await ask(versionSchema, 'POST', '/versions/1/publish', { note: 'too far' }, { status: 201 });
    assert.deepEqual([back.version, back.fromVersion, back.note], [3, 1, 'too far']);
    assert.equal((await ask(versionSchema, 'POST', '/versions/1/publish', {})).version, 3);
    assert.deepEqual((await ask(wholeVersionSchema, 'GET', '/versions/3')).contents, contents);
    const { versions, published } = await ask(versionsResponse, 'GET', '/versions?limit=2');
    assert.deepEqual([versions.map(({ version }) => version), published], [[3, 2], 3]);
    const draft = await ask(draftResponse, 'GET', '/draft');
    assert.deepEqual([draft.contents, draft.revision], [contents, 4], 'a draft without changes follows, once');
    assert.deepEqual(
      (await audited()).filter((action: string) => /^rule\.(publish|go-back)$/.test(action)),
      ['rule.go-back', 'rule.publish', 'rule.publish'],
    );
  });

  it('can have a shadow version, also from a draft that is not published', async () => {
    assert.deepEqual(await ask(shadowRequest, 'PUT', '/shadow', { version: 2 }), { version: 2 });
    assert.equal((await ask(versionsResponse, 'GET', '/versions')).shadow, 2);
    await refused('PUT', '/shadow', { version: 99 }, 404, 'not-found');
    const third = { ...contents, when: 'event.status == "created"' };
    await ask(draftResponse, 'PUT', '/draft', { revision: 4, contents: third });
    await ask(versionSchema, 'POST', '/publish', { revision: 5, as: 'shadow' }, { status: 201 });
    const { published, shadow } = await ask(versionsResponse, 'GET', '/versions');
    assert.deepEqual([published, shadow], [3, 4]);
    await ask(shadowRequest, 'PUT', '/shadow', { version: null });
    assert.equal((await ask(versionsResponse, 'GET', '/versions')).shadow, undefined);
  });

  it('has a door (its settings for events), whose key is write-only', async () => {
    assert.deepEqual(await ask(doorSchema, 'GET', '/door'), { refuseLists: false, eventDays: 30 });
    const signature = { scheme: 'hmac', header: 'X-Signature', key: 's3cret', prefix: 'sha256=' };
    const set = await ask(doorSchema, 'PUT', '/door', { signature, dedupeBy: 'event.id' });
    assert.deepEqual([set.signature?.key, set.dedupeBy], ['***', 'event.id']);
    assert.equal((await api.store.rules.getDoor('acme', '1'))?.signature?.key, 's3cret');
    for (const kept of [{}, { signature: { ...signature, key: '***' } }]) {
      await ask(doorSchema, 'PUT', '/door', { eventDays: 7, ...kept });
      assert.equal((await api.store.rules.getDoor('acme', '1'))?.signature?.key, 's3cret');
    }
    assert.equal((await ask(doorSchema, 'GET', '/door')).dedupeBy, undefined, 'a missing setting gets its default');
    const { errors } = await refused('PUT', '/door', { signature: { scheme: 'other' }, eventDays: 401 }, 400, 'invalid-body');
    assert.deepEqual(errors?.map(({ pointer }) => pointer).sort(), ['/eventDays', '/signature/scheme']);
    assert.equal((await ask(doorSchema, 'PUT', '/door', { signature: null })).signature, undefined);
    assert.ok((await audited()).includes('rule.door'));
    const all = await api.ask('GET', '/admin/companies/acme/audit?limit=200', adminToken);
    assert.ok(!all.text.includes('s3cret'));
  });

  it('has event tokens, which are shown only once, and work only for events', async () => {
    const made = await ask(eventTokensResponse, 'POST', '/event-tokens', {}, { status: 201 });
    assert.equal(made.url, `${api.links.api}/co/acme/events/1/${made.eventToken}`);
    const { text, json } = await api.ask('GET', `${path}/tokens`, keys.manage);
    assert.ok(!text.includes(made.eventToken));
    assert.deepEqual(
      json.tokens.map(({ purpose, state }: { purpose: string; state: string }) => [purpose, state]),
      [
        ['event', 'active'],
        ['rule', 'active'],
      ],
    );
    await ask(eventTokensResponse, 'POST', '/event-tokens', {}, { status: 201 });
    const { tokens } = (await api.ask('GET', `${path}/tokens`, keys.manage)).json;
    assert.deepEqual(
      tokens.map(({ state }: { state: string }) => state),
      ['active', 'expired', 'active'],
    );
  });

  it('may be read, written and connected only by the right roles, and never by another company', async () => {
    const gets = ['/draft', '/versions', '/versions/1', '/versions/1/diff', '/door', '/events'];
    const writes = [
      ['PUT', '/draft', { revision: 99, contents }, 409],
      ['POST', '/publish', { revision: 99 }, 409],
      ['POST', '/versions/3/publish', {}, 200],
      ['PUT', '/shadow', { version: null }, 200],
      ['PUT', '/door', {}, 200],
      ['POST', '/event-tokens', {}, 201],
      ['POST', '/tokens', { graceSeconds: null }, 201],
      ['POST', '/try', {}, 200],
      ['POST', '/events', {}, 400],
    ] as const;
    for (const at of gets)
      for (const role of roles)
        await api.ask('GET', path + at, keys[role]).then((answer) => {
          assert.equal(answer.status, 200, `${role} ${at} ${answer.text}`);
        });
    for (const [method, at, body, status] of writes) {
      for (const role of roles) {
        const isAllowed = roles.indexOf(role) >= roles.indexOf('author');
        const answer = await api.ask(method, path + at, keys[role], body);
        assert.equal(answer.status, isAllowed ? status : 403, `${role} ${method} ${at} ${answer.text}`);
      }
    }
    for (const [method, at, body] of [
      ['PATCH', '', { platform: { kind: 'http', baseUrl: 'https://evil.example' } }],
      ['POST', '/keys', { name: 'more', role: 'manage' }],
      ['DELETE', '/rules/1', undefined],
      ['PATCH', '/rules/1', { notify: { webhookUrl: 'https://evil.example' } }],
    ] as const)
      assert.equal((await api.ask(method, `/admin/companies/acme${at}`, keys.author, body)).status, 403, `${method} ${at}`);

    const own = apiRoutes(api).filter(({ path }) => /rules\/:relayId\/(?!tokens)/.test(path));
    assert.equal(own.length, 18);
    for (const route of own) {
      const at = route.path.replace(':companyId', 'acme').replace(':relayId', '1').replaceAll(/:\w+/g, '1');
      for (const bearer of [foreign, undefined])
        assert.equal(
          (await api.ask(route.method.toUpperCase(), at, bearer, route.method === 'get' ? undefined : {})).status,
          401,
          `${route.method} ${at}`,
        );
    }
    const theirs = await api.ask('GET', '/admin/companies/other/rules/1/versions', foreign);
    assert.deepEqual([theirs.status, theirs.json], [200, { versions: [] }]);
  });
});
