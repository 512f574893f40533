import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Hono } from 'hono';
import { type Authenticated, Callers, createGuard } from '../../../src/api/bearer-authentication.js';
import { exportRoutes } from '../../../src/api/export.js';
import { answerProblems } from '../../../src/api/problems.js';
import { appOf } from '../../../src/api/route.js';
import type { Database } from '../../../src/store/database.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { extent } from '../../extent.js';
import { admin, newCompany, testDatabases } from '../../store/databases.js';

const adminToken = 'the-admin-token';
const many = extent(10_000, 100_000);
const lastAt = new Date(Date.parse('2026-07-01T00:00:00Z') + many * 1000).toISOString();

for (const { name, open, skip } of testDatabases) {
  describe(`exports on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    let app: Hono<Authenticated>;
    let companyId: string;
    let queries = 0;
    before(async () => {
      const opened = await open();
      // Other reads of the process, such as reads of settings, do not count.
      const count = (text: string) => (/FROM events\b/.test(text) ? 1 : 0);
      database = { ...opened, query: (text, ...rest) => opened.query(text, ...rest).finally(() => (queries += count(text))) };
      store = createStore(database);
      const callers = new Callers({ adminToken, store, links: { api: '' } });
      app = answerProblems(new Hono<Authenticated>(), assert.fail).route(
        '/',
        appOf(exportRoutes({ store, links: { api: '' } }), createGuard(callers)),
      );
      companyId = await newCompany(store);
      for (const relayId of ['1', '2'])
        await store.rules.create(companyId, { name: 'Rule', onFailure: 'hold', onUnknown: 'resend', relayId }, admin);
      const insert = `INSERT INTO events (company_id, relay_id, event_id, received_at, bytes, body, hash, encryption_key, outcome, version, dedupe)
        SELECT $1, '1', 'e' || n, '2026-07-01T00:00:00Z'::timestamptz + n * interval '1 second', 2, '{"n":"a,b"}', 'h', '',
          CASE WHEN n % 1000 = 0 THEN 'refused' ELSE 'chain' END, 1, '=1+' || n FROM generate_series(1, ${many}) AS n
        UNION ALL SELECT $1, '2', 'other', '2026-06-01', 2, '{}', 'h', '', 'not-applicable', 1, NULL`;
      await database.query(insert, [companyId]);
    });
    after(() => store.close());

    const ask = async (path: string, token = adminToken) =>
      app.request(`/co/${companyId}/export/${path}`, { headers: { authorization: `Bearer ${token}` } });
    const lines = async (path: string) => (await (await ask(path)).text()).trim().split(/\r?\n/);

    it('contain every row once, also across many pages', async () => {
      const rows = (await lines('events')).map((line): { eventId: string } => JSON.parse(line));
      assert.equal(rows.length, many + 1);
      assert.equal(new Set(rows.map(({ eventId }) => eventId)).size, many + 1);
      assert.deepEqual(rows[0], {
        ...{
          eventId: `e${many}`,
          relayId: '1',
          receivedAt: lastAt,
          bytes: 2,
          outcome: 'refused',
          version: 1,
        },
        ...{ dedupe: `=1+${many}`, body: '{"n":"a,b"}' },
      });
    });

    it('read a page only after the receiver has taken the previous page', async () => {
      const reader = (await ask('events')).body?.getReader() ?? assert.fail();
      const before = queries;
      for (let page = 0; page < 5; page += 1) await reader.read();
      const read = queries - before;
      assert(read >= 4 && read <= 7, `${read} pages were read for 5`);
      await reader.cancel();
      const cancelled = queries;
      await database.query('SELECT 1 FROM events LIMIT 1');
      assert.equal(queries, cancelled + 1);
    });

    it('filter by rule, outcome and time', async () => {
      assert.equal((await lines('events?relayId=1&outcome=refused')).length, many / 1000);
      assert.equal((await lines('events?until=2026-07-01T00:00:11Z&format=csv')).length, 1 + 10 + 1);
      assert.equal((await lines('events?since=2027-01-01T00:00:00Z')).join(), '');
    });

    it('are safe in a spreadsheet', async () => {
      const answer = await ask(`events?format=csv&relayId=1&since=${lastAt}`);
      assert.equal(answer.headers.get('content-disposition'), `attachment; filename="${companyId}-events.csv"`);
      const head =
        'eventId,relayId,receivedAt,bytes,outcome,version,chainId,rejectedId,assignmentId,reason,dedupe,resentFrom,shadow,body';
      const row = `e${many},1,${lastAt},2,refused,1,,,,,'=1+${many},,,"{""n"":""a,b""}"`;
      assert.equal(await answer.text(), `${head}\r\n${row}\r\n`);
    });

    it('are sheets for people, in words and with local times', async () => {
      const [head, row] = await lines(`events?format=sheet&relayId=1&since=${lastAt}`);
      assert.equal(head, 'Received (UTC),Assignment,Rule,Result,Reason,Version,Page of the chain,Event');
      const received = lastAt.slice(0, 19).replace('T', ' ');
      assert.equal(row, `${received},,Rule,refused,,1,,"{""n"":""a,b""}"`);
      const [, written] = await lines('audit?format=sheet');
      assert.match(written ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,the administrator,created rule Rule,,$/);
      const chains = await ask('chains?format=sheet');
      assert.equal(chains.headers.get('content-disposition'), `attachment; filename="${companyId}-chains.csv"`);
      assert.match(await chains.text(), /^Assignment,Rule,Received \(UTC\),/);
    });

    it('of the audit log need the role manage, and name no other company', async () => {
      await store.rules.create(await newCompany(store), { name: 'Other', onFailure: 'hold', onUnknown: 'resend' }, admin);
      const entries = (await lines('audit')).map((line): { companyId: string; action: string } => JSON.parse(line));
      assert.deepEqual(
        entries.map(({ action }) => action),
        ['rule.create', 'rule.create', 'company.create'],
      );
      assert(entries.every((entry) => entry.companyId === companyId));
      const made = await store.keys.create(companyId, 'reader', admin, { role: 'read' });
      assert(typeof made === 'object');
      assert.deepEqual([(await ask('audit', made.key)).status, (await ask('events?relayId=2', made.key)).status], [403, 200]);
    });
  });
}
