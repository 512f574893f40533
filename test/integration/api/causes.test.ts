import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Hono } from 'hono';
import { apiRoutes } from '../../../src/api/app.js';
import { Callers, createGuard } from '../../../src/api/bearer-authentication.js';
import { answerProblems } from '../../../src/api/problems.js';
import { appOf } from '../../../src/api/route.js';
import { type Role, roles } from '../../../src/contract/credential.js';
import { wholeApi } from '../../api/whole-api.js';
import { type LocalApi, serve } from '../../cli/local-api.js';
import { forgetful } from '../../hostile/api.js';

const admin = { kind: 'admin' } as const;
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

describe('causes', () => {
  let whole: Awaited<ReturnType<typeof wholeApi>>;
  let api: LocalApi;
  const keys = {} as Record<Role, string>;
  before(async () => {
    whole = await wholeApi();
    const options = { ...whole, client: forgetful };
    const app = appOf(apiRoutes(options), createGuard(new Callers(options)), whole.limits);
    api = await serve(answerProblems(new Hono(), assert.ifError).route('/', app));
    for (const companyId of ['acme', 'other'])
      await whole.store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC' }), admin);
    for (const role of roles) {
      const made = await whole.store.keys.create('acme', role, admin, { role });
      keys[role] = typeof made === 'object' ? made.key : assert.fail(made);
    }
  });
  after(async () => {
    await api.close();
    await whole.close();
  });

  async function ask(method: string, path: string, bearer: string, body?: unknown) {
    const headers = { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${api.url}/co/${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of the answers.
    return { status: response.status, json: response.status === 204 ? undefined : ((await response.json()) as any) };
  }
  const hold = (causeId: string, chainId: string, since = new Date().toISOString()) => {
    const why = { companyId: 'acme', causeId, reason: 'PlatformError', message: 'answered 404' };
    return whole.store.causes.hold(why, { chainId, index: 0, relayId: '1', since, heldUntil: minutesAgo(-60) });
  };

  it('are read with a read key, taken and silenced with a steer key', async () => {
    await hold('c1', 'a');
    for (const [method, path, read, steer] of [
      ['GET', 'acme/causes', 200, 200],
      ['GET', 'acme/causes/c1', 200, 200],
      ['POST', 'acme/causes/c1/take', 403, 200],
      ['POST', 'acme/causes/c1/release', 403, 200],
      ['POST', 'acme/causes/c1/silence', 403, 200],
      ['GET', 'other/causes', 401, 401],
      ['POST', 'other/causes/c1/take', 401, 401],
      ['GET', 'acme/causes/none', 404, 404],
      ['POST', 'acme/causes/none/take', 403, 404],
      ['POST', 'acme/causes/none/silence', 403, 404],
    ] as const) {
      const body = method === 'GET' ? undefined : path.endsWith('silence') ? { seconds: 0 } : {};
      const statuses = [];
      for (const key of [keys.read, keys.steer]) statuses.push((await ask(method, path, key, body)).status);
      assert.deepEqual(statuses, [read, steer], `${method} ${path}`);
    }
  });

  it('have one owner at a time; after a release another person can take them', async () => {
    await hold('c2', 'b');
    const taken = await ask('POST', 'acme/causes/c2/take', keys.steer);
    assert.equal(taken.json.takenBy, 'key steer');
    const refused = await ask('POST', 'acme/causes/c2/take', keys.manage);
    assert.deepEqual([refused.status, refused.json.type], [409, '/problems/already-taken']);
    assert.match(refused.json.detail, /^Somebody else has taken this cause: key steer/);
    await ask('POST', 'acme/causes/c2/release', keys.manage);
    assert.equal((await ask('POST', 'acme/causes/c2/take', keys.manage)).json.takenBy, 'key manage');
  });

  it('can be silenced for a day at most', async () => {
    await hold('c3', 'c');
    for (const [body, status] of [
      [{ seconds: 86_400 }, 200],
      [{ seconds: 86_401 }, 400],
      [{}, 400],
      [{ seconds: 1, for: 'ever' }, 400],
      [{ seconds: 0 }, 200],
    ] as const)
      assert.equal((await ask('POST', 'acme/causes/c3/silence', keys.steer, body)).status, status, JSON.stringify(body));
  });

  it('include the refused requests without a decision, on the first page, for every reader', async () => {
    const { rejected } = whole.store;
    const keep = (n: number) =>
      rejected.keep({
        companyId: 'acme',
        receivedAt: new Date(),
        reason: 'malformed-body',
        mistake: 'quotation-mark',
        problem: { type: '/problems/malformed-json', title: 'Malformed JSON', status: 400, detail: `column ${n}` },
        relayIds: ['4711'],
        elements: [{ n }],
      });
    const kept = [await keep(1), await keep(2)].map((keeping) => keeping?.rejectedId ?? assert.fail());
    const list = async (query = '') => (await ask('GET', `acme/causes${query}`, keys.read)).json;
    const { refused, nextCursor } = await list('?limit=1');
    const [one] = refused;
    assert.deepEqual(
      [refused.length, one.relayId, one.reason, one.mistake, one.requests, one.repeats, one.notKept, one.rejectedId, one.message],
      [1, '4711', 'malformed-body', 'quotation-mark', 2, 0, 0, kept[1], 'column 2'],
    );
    assert.deepEqual((await list(`?cursor=${nextCursor}`)).refused, []);
    for (const rejectedId of kept) assert.equal((await ask('POST', `acme/rejected/${rejectedId}/drop`, keys.steer)).status, 204);
    assert.deepEqual((await list()).refused, []);
  });

  it('end once Temporal lists none of their chains', async () => {
    await hold('c4', 'd', minutesAgo(5));
    await whole.store.causes.hold(
      { companyId: 'other', causeId: 'c4', reason: 'PlatformError', message: 'answered 404' },
      { chainId: 'd', index: 0, relayId: '1', since: minutesAgo(5), heldUntil: minutesAgo(-60) },
    );
    const { json } = await ask('GET', 'other/causes/c4', 'the-admin-token');
    assert.deepEqual([json.chains, json.items.length, typeof json.endedAt], [0, 1, 'string']);
  });
});
