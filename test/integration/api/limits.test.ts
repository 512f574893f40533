import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { Hono } from 'hono';
import type { Authenticated } from '../../../src/api/bearer-authentication.js';
import { busyKeys, failuresPerMinute, Limits, limitFailures, limitUse, noteBounds, ofStream } from '../../../src/api/limits.js';
import { answerProblems } from '../../../src/api/problems.js';
import { Problem, problemSchema } from '../../../src/contract/problem.js';
import { addressGroup } from '../../../src/service/client-address.js';
import { createLog, type Metrics } from '../../../src/service/telemetry.js';
import type { Database } from '../../../src/store/database.js';
import { testDatabases } from '../../store/databases.js';

const silent = createLog('silent');

describe('the address group for limits', () => {
  const groups: [address: string, group: string][] = [
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:1:2::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:0db8:0001:0000:ffff::', '2001:db8:1:0'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['unknown', 'unknown'],
  ];
  for (const [address, group] of groups) it(`of ${address} is ${group}`, () => assert.equal(addressGroup(address), group));
});

describe('limits in memory', () => {
  it('do not block anybody for hours after the clock was set', async (t) => {
    const limits = new Limits({ perMinute: 1, log: silent });
    const take = async () => (await limits.ofCompany('a')).exceeded;
    assert.deepEqual([await take(), await take()], [false, true]);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 });
    assert.deepEqual([await take(), await take(), await take()], [false, false, true]);
  });
  it('count each company separately', async () => {
    const limits = new Limits({ perMinute: 2, log: silent });
    const shares = [
      await limits.ofCompany('a'),
      await limits.ofCompany('a'),
      await limits.ofCompany('a'),
      await limits.ofCompany('b'),
    ];
    assert.deepEqual(
      shares.map(({ exceeded, headers }) => [exceeded, headers['RateLimit-Remaining'], 'Retry-After' in headers]),
      [
        [false, '1', false],
        [false, '0', false],
        [true, '0', true],
        [false, '1', false],
      ],
    );
  });
});

for (const { name, open, skip } of testDatabases) {
  describe(`limits across processes, on ${name}`, { skip }, () => {
    let database: Database;
    before(async () => {
      database = await open();
    });
    after(() => database.close());

    it('are counted together, at the same time or in sequence', async () => {
      const processes = [1, 2, 3].map(() => new Limits({ perMinute: 30, shared: database, log: silent }));
      const rounds = Array.from({ length: 20 }, () => processes).flat();
      const shares = await Promise.all(rounds.map((limits) => limits.ofCompany('acme')));
      assert.equal(shares.filter(({ exceeded }) => !exceeded).length, 30);
      const late = await new Limits({ perMinute: 30, shared: database, log: silent }).ofCompany('acme');
      assert(late.exceeded);
      assert.match(late.headers['Retry-After'] ?? '', /^([1-9]|[1-5]\d|60)$/);
    });

    it('query the database once for twenty requests of a company', async () => {
      const queries = mock.fn(database.query.bind(database));
      const limits = new Limits({ perMinute: 400, shared: { query: queries as Database['query'] }, log: silent });
      const shares = [];
      for (let n = 0; n < 400; n += 1) shares.push(await limits.ofCompany('busy'));
      assert.equal(queries.mock.callCount(), 20);
      assert.deepEqual(
        shares.map(({ headers }) => Number(headers['RateLimit-Remaining'])),
        Array.from({ length: 400 }, (_, n) => 399 - n),
      );
      assert((await limits.ofCompany('busy')).exceeded);
    });

    it('count addresses and companies separately', async () => {
      const limits = new Limits({ perMinute: 1, shared: database, log: silent });
      await limits.ofAddress('same');
      assert.equal((await limits.ofCompany('same')).exceeded, false);
    });
  });
}

describe('limits without a database', () => {
  it('let every request pass, and log this once', async () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => lines.push(line) });
    const shared = { query: () => Promise.reject(new Error('the database is down')) };
    const limits = new Limits({ perMinute: 1, shared, log });
    for (let n = 0; n < 5; n += 1) assert.deepEqual(await limits.ofCompany('a'), { exceeded: false, headers: {} });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /cannot be counted: no rate limits apply/);
  });

  it('make simultaneous requests share one query', async () => {
    const query = mock.fn(() => Promise.reject(new Error('the database is down')));
    const limits = new Limits({ perMinute: 600, shared: { query }, log: silent });
    const shares = await Promise.all(Array.from({ length: 20 }, () => limits.ofCompany('a')));
    assert(shares.every(({ exceeded }) => !exceeded));
    assert.equal(query.mock.callCount(), 1);
  });
});

describe('failed authentications', () => {
  const limits = new Limits({ perMinute: 1, log: silent });
  const app = answerProblems(new Hono(), assert.ifError)
    .use(limitFailures(limits))
    .get('/:secret', (c) => {
      if (c.req.param('secret') === 'right') return c.text('welcome');
      throw new Problem('unauthorized', 'Not this one.', { headers: { 'WWW-Authenticate': 'Bearer' } });
    });
  const ask = (secret: string, remoteAddress = '192.0.2.1') =>
    app.request(`/${secret}`, {}, { incoming: { socket: { remoteAddress } } });

  it('are counted per address, and get 429 beyond the limit; valid credentials pass', async () => {
    for (let n = 0; n < failuresPerMinute; n += 1) assert.equal((await ask('wrong')).status, 401);
    const refused = await ask('wrong');
    assert.deepEqual([refused.status, refused.headers.get('WWW-Authenticate')], [429, null]);
    assert.match(refused.headers.get('Retry-After') ?? '', /^[1-9]\d*$/);
    assert.equal(problemSchema.parse(await refused.json()).type, '/problems/rate-limited');
    assert.equal((await ask('right')).status, 200);
    assert.equal((await ask('wrong', '192.0.2.2')).status, 401);
  });
});

describe("a key's requests", () => {
  const met: string[] = [];
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => lines.push(line) });
  const limits = new Limits({ perMinute: 1, uses: { lists: 2, reads: 3, steering: 1 }, log });
  const metrics = { boundsMet: { inc: ({ bound }: { bound: string }) => met.push(bound) } } as unknown as Metrics;
  const app = answerProblems(new Hono<Authenticated>(), assert.ifError).use(noteBounds(metrics, log));
  for (const use of ['lists', 'reads', 'steering'] as const)
    app.get(
      `/co/acme/${use}/:who`,
      async (c, next) => {
        const who = c.req.param('who');
        const key = { kind: 'key', keyId: who, name: who, companyId: 'acme', role: 'steer' } as const;
        c.set('actor', who === 'admin' ? { kind: 'admin' } : key);
        await next();
      },
      limitUse(limits, use),
      (c) => c.text('done'),
    );
  const statuses = async (use: string, who: string, times: number) => {
    const answers = [];
    for (let n = 0; n < times; n += 1) answers.push((await app.request(`/co/acme/${use}/${who}`)).status);
    return answers;
  };

  it("are counted by key and kind; an admin's requests are not counted", async () => {
    assert.deepEqual(await statuses('lists', 'one', 3), [200, 200, 429]);
    assert.deepEqual(await statuses('lists', 'other', 1), [200]);
    assert.deepEqual(await statuses('steering', 'one', 2), [200, 429]);
    assert.deepEqual(await statuses('lists', 'admin', 5), [200, 200, 200, 200, 200]);
    const allowed = await app.request('/co/acme/reads/one');
    assert.deepEqual([allowed.headers.get('RateLimit-Limit'), allowed.headers.get('RateLimit-Remaining')], ['3', '2']);
  });

  it('are counted separately if an event stream makes them, so that an open page does not block its user', async () => {
    const ask = async (env?: object) => (await app.request('/co/acme/lists/reader', {}, env)).status;
    for (let read = 0; read < 5; read += 1) assert.equal(await ask(ofStream({})), 200);
    assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429]);
    assert.equal(await ask(ofStream({})), 200);
  });

  it('are counted for all keys of the company together, so that a new key allows no further requests', async () => {
    const limits = new Limits({ perMinute: 1, uses: { lists: 2 }, log: silent });
    const ask = async (keyId: string, companyId: string) => (await limits.ofUse('lists', keyId, companyId)).exceeded;
    for (let key = 0; key < busyKeys; key += 1)
      assert.deepEqual(
        [await ask(`k${key}`, 'acme'), await ask(`k${key}`, 'acme'), await ask(`k${key}`, 'acme')],
        [false, false, true],
      );
    const beyond = await limits.ofUse('lists', 'another', 'acme');
    assert.deepEqual([beyond.exceeded, beyond.together, beyond.headers['RateLimit-Limit']], [true, true, '10']);
    assert.equal(await ask('of-other', 'other'), false);
  });

  it('add no database row for a company that a stranger invents', async () => {
    const said: string[] = [];
    const ofStrangers = createLog('warn', { write: (line) => said.push(line) });
    const refusing = answerProblems(new Hono<Authenticated>(), assert.ifError)
      .use(noteBounds(metrics, ofStrangers))
      .get('/co/:companyId/relay', () => {
        throw new Problem('rate-limited', 'too many', { bound: 'failed-authentications' });
      });
    for (let n = 0; n < 20; n += 1) assert.equal((await refusing.request(`/co/made-up-${n}/relay`)).status, 429);
    assert.equal(said.length, 1);
    assert.doesNotMatch(said[0] ?? '', /made-up/);
  });

  it('beyond the limit are reported in the answer, once a minute in the log, and in the metrics', async () => {
    met.length = 0;
    const refused = await app.request('/co/acme/lists/one');
    assert.match(refused.headers.get('Retry-After') ?? '', /^[1-9]\d*$/);
    assert.match(problemSchema.parse(await refused.json()).detail, /The key one sent more than 2 requests of the kind "lists"/);
    assert.deepEqual(met, ['lists']);
    const logged = lines.map((line) => JSON.parse(line)).filter(({ bound }) => bound === 'lists');
    assert.deepEqual(
      logged.map(({ companyId }) => companyId),
      ['acme'],
    );
  });
});
