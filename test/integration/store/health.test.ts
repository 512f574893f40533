import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Database } from '../../../src/store/database.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { admin, newCompany, testDatabases } from '../../store/databases.js';

const hour = 3_600_000;
// Recent enough that events are not purged.
const today = Math.floor(Date.now() / (24 * hour) - 2) * 24 * hour;
const now = today + 10.5 * hour;
const iso = (time: number) => new Date(time).toISOString();

for (const { name, open, skip } of testDatabases) {
  describe(`the health of rules on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    before(async () => {
      database = await open();
      store = createStore(database);
    });
    after(() => store.close());

    async function newRules(...relayIds: string[]): Promise<string> {
      const companyId = await newCompany(store);
      for (const relayId of relayIds)
        await store.rules.create(companyId, { name: `Rule ${relayId}`, onFailure: 'hold', onUnknown: 'resend', relayId }, admin);
      return companyId;
    }
    let made = 0;
    async function chain(
      companyId: string,
      relayIds: string[],
      at: number,
      status: string,
      seconds = 1,
      failures: string[] = [],
    ) {
      await database.query(
        `INSERT INTO chains (company_id, chain_id, received_at, closed_at, status, nobody_found, relay_ids, failure_types,
           place, assignment_ids, ticket_ids)
         VALUES ($1, $2, $3::text::timestamptz, $4::text::timestamptz, $5, $6, $7::text[], $8::text[], $2, '{}', '{}')`,
        [companyId, `c${++made}`, iso(at), iso(at + seconds * 1000), status, failures.includes('NoWorker'), relayIds, failures],
      );
      for (const id of relayIds)
        await database.query(
          `INSERT INTO chain_ids (company_id, kind, id, chain_id, received_at, status, nobody_found, took)
           VALUES ($1, 'rule', $2, $3, $4::text::timestamptz, $5, $6, $7)`,
          [companyId, id, `c${made}`, iso(at), status, failures.includes('NoWorker'), seconds],
        );
    }
    const event = (companyId: string, relayId: string, at: number, outcome: 'chain' | 'not-applicable') =>
      store.events.add({
        ...{
          companyId,
          relayId,
          eventId: `e${++made}`,
          receivedAt: iso(at),
          bytes: 2,
          outcome,
          version: 1,
          body: '{}',
          hash: 'h',
        },
      });

    it('counts chains and other events by day in the zone, and by hour', async () => {
      const companyId = await newRules('1', '2');
      const midnight = today - 2 * hour; // in the zone +02:00
      for (const [at, status, seconds] of [
        [midnight - 1, 'failed', 5],
        [midnight, 'completed', 10],
        [midnight + 1000, 'completed', 20],
        [midnight + hour, 'running', 1],
        [now - 100 * 24 * hour, 'failed', 1],
      ] as const)
        await chain(companyId, ['1'], at, status, seconds, status === 'failed' ? ['PlatformError', 'NoWorker'] : []);
      await chain(companyId, ['2'], now - hour, 'failed');
      event(companyId, '1', midnight + 2000, 'not-applicable');
      event(companyId, '1', midnight + 2000, 'chain'); // not counted, because its chain is counted
      await store.events.flush();
      const of = { days: 90, timeZone: '+02:00' };
      const byDay = await store.health.rule(companyId, '1', { ...of, by: 'day' }, now);
      assert.deepEqual(byDay.buckets, [
        { at: iso(midnight - 24 * hour), events: 1, chains: 1, failed: 1, nobody: 1 },
        { at: iso(midnight), events: 4, chains: 3, failed: 0, nobody: 0, p50: 15, p95: 19.5 },
      ]);
      assert.deepEqual(byDay.causes, [
        { type: 'NoWorker', chains: 1 },
        { type: 'PlatformError', chains: 1 },
      ]);
      const byHour = await store.health.rule(companyId, '1', { ...of, by: 'hour' }, now);
      assert.deepEqual(
        byHour.buckets.map(({ at, events }) => [at, events]),
        [
          [iso(midnight - hour), 1],
          [iso(midnight), 3],
          [iso(midnight + hour), 1],
        ],
      );
      assert.deepEqual(await store.health.eventMinutes(companyId, '2', now), [(now - hour) / 60_000]);
    });

    it('compares each rule with the period before, and each hour with the same hour of earlier weeks', async () => {
      const companyId = await newRules('1', '2');
      const day = 24 * hour;
      for (const [weeks, chains] of [
        [0, 5],
        [1, 1],
        [2, 3],
        [3, 2],
      ] as const)
        for (let n = 0; n < chains; n += 1)
          await chain(companyId, ['1', '2'], now - weeks * 7 * day, weeks === 1 ? 'failed' : 'completed');
      await chain(companyId, ['2'], now - day, 'completed', 60);
      const { rules, hours } = await store.health.companyNow(companyId, 7, now + 60_000);
      assert.deepEqual(
        rules.map(({ relayId, chains, failed, p50, before, held }) => [relayId, chains, failed, p50, before.failed, held]),
        [
          ['1', 5, 0, 1, 1, 0],
          ['2', 6, 0, 1, 1, 0],
        ],
      );
      assert.equal(hours.length, 24);
      const { at, events, usual } = hours.at(-1) ?? assert.fail();
      // A chain of two rules counts once. `usual` is the median of three weeks: four weeks ago, the company had no chain yet.
      assert.deepEqual([at, events, usual], [iso(now - hour / 2), 5, 2]);
      const { rules: inWeek, ...all } = await store.health.company(companyId, iso(now - 8 * day), iso(now - 6 * day));
      assert.deepEqual(all, { events: 1, chains: 1, failed: 1, nobody: 0, refused: 0 });
      assert.deepEqual(
        inWeek.map(({ relayId, failed }) => [relayId, failed]),
        [
          ['1', 1],
          ['2', 1],
        ],
      );
    });

    it('finds the last event of each watched rule, and the outages of the relay', async () => {
      const companyId = await newRules('1', '2', '3');
      for (const relayId of ['1', '2'])
        await store.rules.update(
          companyId,
          relayId,
          (rule) => ({ ...rule, expectEvery: 3600, expectWithin: { days: ['mon'] } }),
          admin,
        );
      event(companyId, '1', now - hour, 'not-applicable');
      await store.events.flush();
      await chain(companyId, ['1', '3'], now - 2 * hour, 'completed');
      await chain(companyId, ['2'], now - 3 * hour, 'completed');
      const watched = (await store.quiet.watched()).filter((rule) => rule.companyId === companyId);
      const facts = watched.map(({ relayId, expectEvery, expectWithin, lastEvent }) => [
        relayId,
        expectEvery,
        expectWithin,
        lastEvent,
      ]);
      assert.deepEqual(facts.sort(), [
        ['1', 3600, { days: ['mon'] }, iso(now - hour)],
        ['2', 3600, { days: ['mon'] }, iso(now - 3 * hour)],
      ]);

      assert.deepEqual(await store.quiet.outages(), [{ since: iso(0) }]);
      const up = (process: string, since: string, until: string) =>
        database.query('INSERT INTO uptimes VALUES ($1, $2::text::timestamptz, $3::text::timestamptz)', [process, since, until]);
      await up('a', '2026-07-01T00:00:00Z', '2026-07-01T06:00:00Z');
      await up('b', '2026-07-01T05:00:00Z', '2026-07-01T07:00:00Z');
      await up('c', '2026-07-01T09:00:00Z', iso(Date.now() - 10_000));
      const outages = [
        { since: iso(0), until: '2026-07-01T00:00:00.000Z' },
        { since: '2026-07-01T07:00:00.000Z', until: '2026-07-01T09:00:00.000Z' },
      ];
      assert.deepEqual(await store.quiet.outages(), outages);
      await database.query("UPDATE uptimes SET until = '2026-07-01T10:00:00Z' WHERE process = 'c'");
      assert.deepEqual(await store.quiet.outages(), [...outages, { since: '2026-07-01T10:00:00.000Z' }]);
    });
  });
}
