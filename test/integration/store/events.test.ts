import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { AwayError } from '../../../src/service/config.js';
import type { Database } from '../../../src/store/database.js';
import { Events, keptOfRule, type NewEvent, storedEvents } from '../../../src/store/events.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { admin, keyring, newCompany, testDatabases } from '../../store/databases.js';

const relayId = '4711';
const dayMs = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * dayMs).toISOString();

for (const { name, open, skip } of testDatabases) {
  describe(`events on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    before(async () => {
      database = await open();
      store = createStore(database, { keyring });
    });
    after(() => store.close());

    let made = 0;
    async function newRule(companyId?: string, id = relayId): Promise<string> {
      const company = companyId ?? (await newCompany(store));
      await store.rules.create(company, { name: 'Alert', onFailure: 'hold', onUnknown: 'resend', relayId: id }, admin);
      return company;
    }
    const eventOf = (companyId: string, given: Partial<NewEvent> = {}): NewEvent => ({
      ...{ companyId, relayId, eventId: `e${++made}`, receivedAt: new Date().toISOString(), bytes: 9 },
      ...{ outcome: 'chain', version: 1, chainId: `c${made}`, body: `{"n": ${made}}`, hash: `h${made}`, ...given },
    });
    const idsIn = async (companyId: string, events: Events = store.events, id = relayId) =>
      (await events.list(companyId, id, { limit: 200 })).items.map(({ eventId }) => eventId);
    const countIn = async (companyId: string) => {
      const count = 'SELECT count(*)::int AS count FROM events WHERE company_id = $1';
      return z.array(z.object({ count: z.int() })).parse(await database.query(count, [companyId]))[0]?.count;
    };
    /** Opens the store of another process, which is closed without a flush, as after a crash. */
    const elsewhere = () => {
      const other = createStore(database, { keyring });
      other.settings.close();
      return other;
    };

    it('are listed the newest first, page by page, without bodies', async () => {
      const companyId = await newRule();
      const reason = 'event.priority is 1';
      const events = [
        eventOf(companyId, { dedupe: 'wo 17', shadow: { version: 2, outcome: 'same' } }),
        eventOf(companyId, { outcome: 'not-applicable', chainId: undefined, reason }),
        eventOf(companyId, { outcome: 'refused', chainId: undefined, rejectedId: 'r', receivedAt: ago(20) }),
      ];
      for (const event of events) store.events.add(event);
      const shown = events.map(({ companyId: _, body: _body, hash: _hash, ...event }) => JSON.parse(JSON.stringify(event)));
      const first = await store.events.list(companyId, relayId, { limit: 2 });
      const rest = await store.events.list(companyId, relayId, { limit: 2, cursor: first.nextCursor ?? assert.fail() });
      assert.deepEqual([...first.items, ...rest.items], shown.toReversed());
      const filtered = async (filter: Parameters<Events['list']>[3]) =>
        (await store.events.list(companyId, relayId, { limit: 9 }, filter)).items.map(({ outcome }) => outcome);
      assert.deepEqual(await filtered({ outcome: 'not-applicable' }), ['not-applicable']);
      assert.deepEqual(await filtered({ until: ago(10) }), ['refused']);
      assert.deepEqual(await filtered({ since: ago(10) }), ['not-applicable', 'chain']);
      assert.deepEqual(await idsIn(companyId, store.events, '404'), []);
      const whole = await store.events.get(companyId, relayId, events[1]?.eventId ?? '');
      assert.deepEqual([whole?.body, whole?.hash, whole?.reason], [events[1]?.body, events[1]?.hash, reason]);
      assert.equal(await store.events.get(companyId, '404', events[1]?.eventId ?? ''), undefined);
      assert.deepEqual(await store.events.shadowCounts(companyId, relayId, 2), { same: 1 });
      assert.deepEqual(await store.events.shadowCounts(companyId, relayId, 3), {});
    });

    it('are encrypted', async () => {
      const companyId = await newRule();
      store.events.add(eventOf(companyId, { body: '{"s3cret": 1}', reason: 's3cret', dedupe: 's3cret' }));
      await store.events.flush();
      const [row] = await database.query('SELECT events::text AS row FROM events WHERE company_id = $1', [companyId]);
      assert.doesNotMatch(JSON.stringify(row), /s3cret/);
    });

    it('are chosen by number, time or id, and a thread can decrypt them', async () => {
      const companyId = await newRule();
      const times = [ago(3), ago(2), ago(1)];
      const events = times.map((receivedAt) => eventOf(companyId, { receivedAt }));
      for (const event of events) store.events.add(event);
      const ids = events.map(({ eventId }) => eventId);
      const last = async (chosen: Parameters<Events['lastRows']>[2]) =>
        (await store.events.lastRows(companyId, relayId, chosen)).map((row) =>
          ids.indexOf(storedEvents.parse({ keyring }, row).eventId),
        );
      assert.deepEqual(await last({}), [2, 1, 0]);
      assert.deepEqual(await last({ limit: 2 }), [2, 1]);
      assert.deepEqual(await last({ since: times[1], until: times[2] }), [1]);
      assert.deepEqual(await last({ ids: [ids[0] ?? '', ids[2] ?? '', 'none'] }), [2, 0]);
      const [row] = await store.events.lastRows(companyId, relayId, { limit: 1 });
      assert.equal(storedEvents.parse({ keyring }, structuredClone(row ?? assert.fail())).body, events[2]?.body);
      await database.query('UPDATE events SET bytes = 20 * 1024 * 1024 WHERE company_id = $1', [companyId]);
      assert.deepEqual(await last({}), [2], 'more than 32 MiB');
    });

    it('that were not applicable: the first one is found by key and body, before and after it is written', async () => {
      const companyId = await newRule();
      const answer = { dedupe: 'k', hash: 'h', outcome: 'not-applicable', reason: 'status was "draft"' } as const;
      const of = (given: Partial<NewEvent>) => eventOf(companyId, { ...answer, ...given });
      const [first, ...others] = [
        of({}),
        of({}),
        of({ outcome: 'chain', hash: 'of a chain' }),
        of({ dedupe: 'other', hash: 'h2' }),
      ];
      for (const event of [of({ outcome: 'refused' }), first ?? assert.fail(), ...others]) store.events.add(event);
      assert.equal((await store.events.findAnswer(companyId, relayId, 'k', 'h'))?.eventId, first?.eventId);
      await store.events.flush();
      for (const { events } of [store, elsewhere()]) {
        const { eventId, version, reason } = (await events.findAnswer(companyId, relayId, 'k', 'h')) ?? assert.fail();
        assert.deepEqual([eventId, version, reason], [first?.eventId, 1, answer.reason]);
      }
      for (const [id, key, hash] of [
        [relayId, 'K', 'h'],
        [relayId, 'k', 'of a chain'],
        [relayId, 'k', 'h2'],
        ['404', 'k', 'h'],
      ] as const)
        assert.equal(await store.events.findAnswer(companyId, id, key, hash), undefined);
    });

    it('are written in batches, at the latest when the store closes', async () => {
      const companyId = await newRule();
      const inserts: string[] = [];
      const query: Database['query'] = (text, parameters) => {
        if (text.startsWith('INSERT')) inserts.push(text);
        return database.query(text, parameters);
      };
      const events = new Events({ ...database, query });
      for (let count = 0; count < 450; count++) events.add(eventOf(companyId));
      await events.close();
      assert.deepEqual([await countIn(companyId), inserts.length], [450, 3]);
      for (let count = 0; count < 20; count++) events.add(eventOf(companyId, { bytes: 256 * 1024 }));
      await events.close();
      assert.deepEqual([await countIn(companyId), inserts.length], [470, 6], '2 MiB at once');
    });

    it('of a crashed process are lost only if they came in its last second', async () => {
      const companyId = await newRule();
      const crashed = elsewhere();
      const written = eventOf(companyId);
      crashed.events.add(written);
      await crashed.events.flush();
      const stopped = new Events({ ...database, query: () => new Promise(() => {}) });
      stopped.add(eventOf(companyId));
      assert.deepEqual(await idsIn(companyId), [written.eventId]);
    });

    it('wait in a limited memory while the database is away; no request fails', async () => {
      const companyId = await newRule();
      let [away, lost] = [true, 0];
      const query: Database['query'] = (...asked) =>
        away ? Promise.reject(new AwayError('away', '')) : database.query(...asked);
      const events = new Events({ ...database, query }, () => {
        lost += 1;
      });
      for (let count = 0; count < 300; count++) events.add(eventOf(companyId, { bytes: 100 * 1024 }));
      await assert.rejects(events.flush(), /away/);
      for (let count = 0; count < 50; count++) events.add(eventOf(companyId, { bytes: 100 * 1024 }));
      assert.equal(lost, 350 - 327, '32 MiB');
      away = false;
      await events.close();
      assert.equal(await countIn(companyId), 327);
      away = true;
      for (let count = 0; count < 5001; count++) events.add(eventOf(companyId, { bytes: 1 }));
      assert.equal(lost, 24);
    });

    it('are written, although other events are refused, or of a deleted company or rule, or of a rule that stores none', async () => {
      const companyId = await newRule();
      const [gone, off] = [await newRule(), await newRule()];
      let lost = 0;
      const events = new Events(database, () => {
        lost += 1;
      });
      await store.companies.delete(gone, admin);
      await store.rules.setDoor(off, relayId, (door) => ({ ...door, eventDays: 0 }), admin);
      const kept = [eventOf(companyId), eventOf(companyId)];
      const refused = eventOf(companyId, { reason: 'U+0000: \0' });
      for (const event of [eventOf(gone), kept[0], refused, eventOf(off), eventOf(companyId, { relayId: '404' }), kept[1]])
        events.add(event ?? assert.fail());
      await events.close();
      assert.deepEqual(await idsIn(companyId), kept.map(({ eventId }) => eventId).toReversed());
      assert.deepEqual([await countIn(gone), await countIn(off), lost], [0, 0, 1]);
    });

    it('are deleted when they are older than the eventDays of their rule', async () => {
      const [companyId, quiet] = [await newRule(), await newRule()];
      await newRule(companyId, '4712');
      await store.rules.setDoor(companyId, '4712', (door) => ({ ...door, eventDays: 3 }), admin);
      const [events, purging] = [elsewhere().events, elsewhere().events];
      events.add(eventOf(companyId, { relayId: '404' }));
      await events.flush(); // this flush also purges
      const old = [eventOf(companyId, { receivedAt: ago(31) }), eventOf(quiet, { receivedAt: ago(40) })];
      const young = eventOf(companyId, { receivedAt: ago(29) });
      const ofOther = [4, 2].map((days) => eventOf(companyId, { relayId: '4712', receivedAt: ago(days) }));
      for (const event of [...old, young, ...ofOther]) events.add(event);
      await events.flush();
      purging.add(eventOf(quiet));
      await purging.flush();
      assert.deepEqual(await idsIn(companyId), [young.eventId]);
      assert.deepEqual(await idsIn(companyId, store.events, '4712'), [ofOther[1]?.eventId]);
      assert.equal(await countIn(quiet), 1);
      await store.rules.setDoor(companyId, relayId, (door) => ({ ...door, eventDays: 7 }), admin);
      assert.deepEqual(await idsIn(companyId), [], 'at once, if somebody asks for fewer days');
    });

    it('of a rule are limited in number and size; the oldest events are deleted first', async () => {
      const fill = async (companyId: string, events: number, bytes: number) => {
        const insert = `INSERT INTO events (company_id, relay_id, event_id, received_at, bytes, body, hash, outcome, version, encryption_key)
          SELECT $1, '${relayId}', gen_random_uuid(), now(), $3::int, '{}', '', 'chain', 1, '' FROM generate_series(1, $2::int) AS n`;
        await database.query(insert, [companyId, events, bytes]);
      };
      const [many, large] = [await newRule(), await newRule()];
      await fill(many, keptOfRule.events + 5, 1);
      await fill(large, 70, 1024 * 1024);
      const { events } = elsewhere();
      const newest = [eventOf(many), eventOf(large, { bytes: 1024 * 1024 })];
      for (const event of newest) events.add(event);
      await events.flush();
      assert.deepEqual([await countIn(many), await countIn(large)], [keptOfRule.events, 64]);
      assert.deepEqual([(await idsIn(many))[0], (await idsIn(large))[0]], [newest[0]?.eventId, newest[1]?.eventId]);
      // The process has already purged this rule. If the rule grows quickly, the process purges it again.
      await fill(large, 20, 1024 * 1024);
      for (let count = 0; count < 17; count++) events.add(eventOf(large, { bytes: 1024 * 1024 }));
      await events.flush();
      assert.equal(await countIn(large), 64);
    });
  });
}
