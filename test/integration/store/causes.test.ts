import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { HeldAction } from '../../../src/contract/causes.js';
import type { HeldFor } from '../../../src/store/causes.js';
import type { Database } from '../../../src/store/database.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { admin, keyring, newCompany, testDatabases } from '../../store/databases.js';

const dana = { kind: 'key', keyId: 'k1', name: 'dana', companyId: 'acme', role: 'steer' } as const;
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

for (const { name, open, skip } of testDatabases) {
  describe(`causes on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    before(async () => {
      database = await open();
      store = createStore(database, { keyring });
    });
    after(() => store.close());

    const company = () => newCompany(store);
    const why = (companyId: string, causeId = 'c1', message = 'no mailbox ada@people.example'): HeldFor => ({
      companyId,
      causeId,
      reason: 'PlatformError',
      message,
    });
    const action = (chainId: string, more: Partial<HeldAction> = {}): HeldAction => ({
      chainId,
      index: 0,
      relayId: '1',
      since: minutesAgo(10),
      heldUntil: minutesAgo(-60),
      ...more,
    });
    const get = async (companyId: string, causeId = 'c1') => (await store.causes.get(companyId, causeId)) ?? assert.fail();
    const end = (companyId: string, chainId: string, at = new Date().toISOString()) =>
      store.causes.end(companyId, [{ chainId, index: 0 }], at);

    it('show the number of held chains, the start, the rules, and an example chain', async () => {
      const companyId = await company();
      const [first, last] = [minutesAgo(30), minutesAgo(5)];
      await store.causes.hold(why(companyId), action('a', { since: first, assignmentId: '1001' }));
      await store.causes.hold(why(companyId), action('a', { index: 3, relayId: '2', since: minutesAgo(20) }));
      await store.causes.hold(why(companyId, 'c1', 'no mailbox bob@people.example'), action('b', { since: last }));
      const { message, reason, since, chains, actions, relayIds, chainId, lastAt, endedAt } = await get(companyId);
      assert.deepEqual([message, reason], ['no mailbox ada@people.example', 'PlatformError']);
      assert.deepEqual([chains, actions, relayIds.sort(), chainId], [2, 3, ['1', '2'], 'a']);
      assert.deepEqual([since, lastAt, endedAt], [first, last, undefined]);
      const { items, nextCursor } = await store.causes.actions(companyId, 'c1', { limit: 2 });
      assert.deepEqual(
        items.map(({ chainId, index }) => [chainId, index]),
        [
          ['b', 0],
          ['a', 3],
        ],
      );
      const [rest] = (await store.causes.actions(companyId, 'c1', { limit: 2, cursor: nextCursor })).items;
      assert.deepEqual(rest, { ...action('a'), since: first, heldUntil: rest?.heldUntil, assignmentId: '1001' });
      const held = [...(await store.causes.heldFor(companyId, 'c1'))].map(([chainId, indexes]) => [chainId, indexes.sort()]);
      assert.deepEqual(held.sort(), [
        ['a', [0, 3]],
        ['b', [0]],
      ]);
    });

    it('name the assignment that all held actions have, or that all actions had', async () => {
      const companyId = await company();
      const named = async () => (({ assignments, assignmentId }) => [assignments, assignmentId])(await get(companyId));
      await store.causes.hold(why(companyId), action('a', { assignmentId: '3002' }));
      assert.deepEqual(await named(), [1, '3002']);
      await store.causes.hold(why(companyId), action('b', { assignmentId: '3003' }));
      assert.deepEqual(await named(), [2, undefined]);
      const [reason = assert.fail(), ...others] = await store.causes.ofChains(companyId, ['b', 'c']);
      assert.deepEqual(
        [reason.chainId, reason.assignmentId, reason.message, others],
        ['b', '3003', 'no mailbox ada@people.example', []],
      );
      await end(companyId, 'a');
      assert.deepEqual(await named(), [1, '3003']);
      await end(companyId, 'b');
      assert.deepEqual(await named(), [0, undefined]);
    });

    it('do not count repeats, and ignore outdated reports', async () => {
      const companyId = await company();
      const held = action('a');
      for (let n = 0; n < 3; n += 1) await store.causes.hold(why(companyId), held);
      assert.equal((await get(companyId)).actions, 1);
      await end(companyId, 'a');
      await store.causes.hold(why(companyId), held);
      assert.deepEqual([(await get(companyId)).actions, typeof (await get(companyId)).endedAt], [0, 'string']);
      await store.causes.hold(why(companyId), action('a', { since: minutesAgo(1) }));
      assert.deepEqual([(await get(companyId)).actions, (await get(companyId)).endedAt], [1, undefined]);
      await end(companyId, 'a', minutesAgo(5));
      assert.equal((await get(companyId)).actions, 1, 'an end from before the second hold does not count');
    });

    it('count an action once if it is now held for another reason', async () => {
      const companyId = await company();
      await store.causes.hold(why(companyId), action('a'));
      await store.causes.hold(why(companyId, 'c2'), action('a', { since: minutesAgo(1) }));
      assert.equal((await get(companyId, 'c2')).chains, 1);
      assert.equal(await store.causes.get(companyId, 'c1'), undefined, 'the first cause is deleted');
    });

    it('count correctly with many writers', async () => {
      const companyId = await company();
      await Promise.all(Array.from({ length: 40 }, (_, n) => store.causes.hold(why(companyId), action(`chain-${n}`))));
      assert.equal((await get(companyId)).chains, 40);
      await Promise.all(Array.from({ length: 30 }, (_, n) => end(companyId, `chain-${n}`)));
      assert.equal((await get(companyId)).chains, 10);
    });

    it('are listed page by page, those with held chains first', async () => {
      const companyId = await company();
      for (const id of ['one', 'two', 'three']) await store.causes.hold(why(companyId, id), action(id));
      await end(companyId, 'three');
      const first = await store.causes.list(companyId, { limit: 2 });
      assert.deepEqual(
        first.items.map(({ causeId }) => causeId),
        ['two', 'one'],
      );
      const rest = await store.causes.list(companyId, { limit: 2, cursor: first.nextCursor });
      assert.deepEqual(
        rest.items.map(({ causeId }) => causeId),
        ['three'],
      );
      assert.equal(rest.nextCursor, undefined);
      assert.deepEqual((await store.causes.list(await company(), { limit: 2 })).items, []);
    });

    it('are listed by their latest hold: a cause that returns is first', async () => {
      const companyId = await company();
      for (const id of ['old', 'newer']) await store.causes.hold(why(companyId, id), action(id));
      await store.causes.hold(why(companyId, 'old'), action('again', { since: minutesAgo(1) }));
      const { items } = await store.causes.list(companyId, { limit: 2 });
      assert.deepEqual(
        items.map(({ causeId }) => causeId),
        ['old', 'newer'],
      );
    });

    it('have one owner at a time, which is recorded', async () => {
      const companyId = await company();
      assert.equal(await store.causes.take(companyId, 'c1', dana), false, 'there is none');
      await store.causes.hold(why(companyId), action('a'));
      assert.equal(await store.causes.take(companyId, 'c1', dana), true);
      assert.equal(await store.causes.take(companyId, 'c1', dana), true);
      assert.equal(await store.causes.take(companyId, 'c1', admin), false);
      assert.equal((await get(companyId)).takenBy, 'key dana');
      assert.equal(await store.causes.release(companyId, 'c1', admin), true);
      assert.equal(await store.causes.release(companyId, 'c1', admin), false);
      assert.deepEqual([(await get(companyId)).takenBy, (await get(companyId)).takenAt], [undefined, undefined]);
      const { items } = await store.audit.list({ companyId, limit: 3 });
      assert.deepEqual(
        items.map(({ action, details }) => [action, details.causeId]),
        [
          ['cause.release', 'c1'],
          ['cause.take', 'c1'],
          ['cause.take', 'c1'],
        ],
      );
    });

    it('can be silenced for a while', async () => {
      const companyId = await company();
      await store.causes.hold(why(companyId), action('a'));
      assert.equal(await store.causes.isSilent(companyId, 'c1'), false);
      assert.equal(await store.causes.silence(companyId, 'c1', 3600, dana), true);
      assert.equal(await store.causes.isSilent(companyId, 'c1'), true);
      const { silencedBy, silencedUntil = '' } = await get(companyId);
      assert.equal(silencedBy, 'key dana');
      assert.ok(Math.abs(Date.parse(silencedUntil) - Date.now() - 3_600_000) < 60_000);
      await store.causes.silence(companyId, 'c1', 0, dana);
      assert.deepEqual([await store.causes.isSilent(companyId, 'c1'), (await get(companyId)).silencedBy], [false, undefined]);
      await store.causes.silence(companyId, 'c1', 3600, dana);
      await database.query("UPDATE causes SET silenced_until = now() - interval '1 second' WHERE company_id = $1", [companyId]);
      assert.equal(await store.causes.isSilent(companyId, 'c1'), false);
    });

    it('stay taken and silenced if they return within an hour; after a longer time they are new', async () => {
      const companyId = await company();
      await store.causes.hold(why(companyId), action('a', { since: minutesAgo(300) }));
      await store.causes.take(companyId, 'c1', dana);
      await store.causes.silence(companyId, 'c1', 86_400, dana);
      await end(companyId, 'a');
      await store.causes.hold(why(companyId, 'c1', 'another'), action('b'));
      assert.deepEqual([(await get(companyId)).takenBy, (await get(companyId)).message], ['key dana', why(companyId).message]);
      await end(companyId, 'b');
      await database.query("UPDATE held_actions SET ended_at = now() - interval '61 minutes' WHERE company_id = $1", [companyId]);
      const since = minutesAgo(0);
      await store.causes.hold(why(companyId, 'c1', 'another'), action('c', { since }));
      const anew = await get(companyId);
      assert.deepEqual([anew.takenBy, anew.silencedUntil, anew.message, anew.since], [undefined, undefined, 'another', since]);
    });

    it('that return have a new start, unless an action was held for them all the time', async () => {
      const companyId = await company();
      const first = action('a', { since: minutesAgo(30) });
      await store.causes.hold(why(companyId), first);
      await end(companyId, 'a');
      const back = minutesAgo(5);
      await store.causes.hold(why(companyId), action('b', { since: back }));
      assert.equal((await get(companyId)).since, back);
      await store.causes.hold(why(companyId), action('c', { since: minutesAgo(1) }));
      await end(companyId, 'b');
      assert.equal((await get(companyId)).since, back);
      await end(companyId, 'c');
      await store.causes.hold(why(companyId), first);
      assert.equal((await get(companyId)).since, back, 'a repetition');
    });

    it('are deleted some days after their end; if nobody reports the end of a hold, after its attention window', async () => {
      const companyId = await company();
      await store.causes.hold(why(companyId, 'over'), action('a'));
      await end(companyId, 'a');
      await store.causes.hold(why(companyId, 'window'), action('b', { heldUntil: minutesAgo(4 * 24 * 60) }));
      await store.causes.hold(why(companyId, 'held'), action('c'));
      await database.query("UPDATE held_actions SET ended_at = now() - interval '4 days' WHERE chain_id = 'a'");
      await database.query("UPDATE causes SET updated_at = now() - interval '4 days' WHERE company_id = $1", [companyId]);
      // This store stands for another process, which has not pruned yet.
      await createStore(database, { keyring }).causes.hold(why(companyId, 'held'), action('d'));
      assert.deepEqual(await database.query('SELECT cause_id FROM causes WHERE company_id = $1', [companyId]), [
        { cause_id: 'held' },
      ]);
    });

    it('need an existing company, and are deleted with it', async () => {
      await store.causes.hold(why('nobody'), action('a'));
      const companyId = await company();
      await store.causes.hold(why(companyId), action('a'));
      await store.companies.delete(companyId, admin);
      for (const table of ['causes', 'held_actions'])
        assert.deepEqual(await database.query(`SELECT 1 FROM ${table} WHERE company_id = ANY ($1)`, [['nobody', companyId]]), []);
    });

    it('keep their error text encrypted: it may quote people', async () => {
      const companyId = await company();
      await store.causes.hold(why(companyId), action('a'));
      const stored = JSON.stringify(await database.query('SELECT * FROM causes WHERE company_id = $1', [companyId]));
      assert.doesNotMatch(stored, /people\.example|mailbox/);
      assert.match(stored, /enc:1:k:/);
    });
  });
}
