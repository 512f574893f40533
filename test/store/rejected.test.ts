import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Database } from '../../src/store/database.js';
import { keptOfReason, type NewRejectedRequest } from '../../src/store/rejected.js';
import { createStore, type Store } from '../../src/store/store.js';
import { testDatabases } from './databases.js';

const admin = { kind: 'admin' } as const;

for (const { name, open, skip } of testDatabases) {
  describe(`rejected requests on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    before(async () => {
      database = await open();
      store = createStore(database);
      for (const companyId of ['acme', 'other', 'bounds', 'age'])
        await store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC' }), admin);
    });
    after(() => store.close());

    const request = (companyId: string, more: Partial<NewRejectedRequest> = {}): NewRejectedRequest => ({
      companyId,
      receivedAt: new Date(),
      reason: 'invalid-chain',
      problem: { type: '/problems/invalid-chain', title: 'Invalid chain', status: 400, detail: 'no' },
      relayIds: ['1'],
      elements: [],
      ...more,
    });
    const kept = async (given: NewRejectedRequest) => (await store.rejected.keep(given)) ?? assert.fail();
    const listed = async (companyId: string) => (await store.rejected.list(companyId, { limit: 1000 })).items;

    it('are kept as they came, field by field', async () => {
      const given = request('acme', {
        relayIds: ['1', '2'],
        idempotencyKey: 'key',
        problem: { ...request('acme').problem, errors: [{ pointer: '/0', detail: 'ünïcode "x"' }] },
        elements: [{ z: 1, a: { nested: [null, true, 1.5, '🎉'] } }, { b: '' }],
      });
      const rejectedId = await kept(given);
      const stored = (await store.rejected.get('acme', rejectedId)) ?? assert.fail();
      const { companyId, receivedAt, ...rest } = given;
      assert.deepEqual(stored, { rejectedId, receivedAt: receivedAt.toISOString(), ...rest });
      assert.deepEqual(Object.keys((stored.elements[0] ?? {}) as object), ['z', 'a']);
      assert.equal(await store.rejected.get('other', rejectedId), undefined);
      assert.deepEqual(await listed('other'), []);
    });

    it('of a company that is not there are not kept, and go with their company', async () => {
      assert.equal(await store.rejected.keep(request('nobody')), undefined);
      await store.companies.put('gone', () => ({ companyId: 'gone', name: 'gone', timeZone: 'UTC' }), admin);
      await kept(request('gone'));
      await store.companies.delete('gone', admin);
      assert.deepEqual(await listed('gone'), []);
    });

    it(`are at most ${keptOfReason} of each reason, the newest`, async () => {
      const rare = await kept(request('bounds', { reason: 'rule-disabled' }));
      const ids: string[] = [];
      for (let n = 0; n < keptOfReason + 5; n += 1) ids.push(await kept(request('bounds')));
      const items = await listed('bounds');
      assert.deepEqual(
        items.map(({ rejectedId }) => rejectedId),
        [...ids.slice(5).reverse(), rare],
      );
      const first = await store.rejected.list('bounds', { limit: 60 });
      const second = await store.rejected.list('bounds', { limit: 60, cursor: first.nextCursor });
      assert.deepEqual([...first.items, ...second.items], items);
      assert.equal(second.nextCursor, undefined);
    });

    it('older than 30 days are not shown, and deleted with the next one that is kept, whosever it is', async () => {
      const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3600 * 1000);
      await kept(request('age', { receivedAt: daysAgo(29) }));
      await kept(request('age', { receivedAt: daysAgo(31) }));
      assert.equal((await listed('age')).length, 1);
      await kept(request('other'));
      assert.equal((await database.query('SELECT 1 FROM rejected_requests WHERE company_id = $1', ['age'])).length, 1);
    });

    it('note what became of them once, and who did it', async () => {
      const rejectedId = await kept(request('acme'));
      const revisionOf = () => database.query('SELECT revision FROM settings_revision');
      const revision = await revisionOf();
      await store.rejected.noteResent({ companyId: 'acme', rejectedId, chainId: 'chain-1', mended: ['/0/subject'] }, admin);
      await store.rejected.noteResent({ companyId: 'acme', rejectedId, chainId: 'chain-2' }, admin);
      const { chainId, resentAt } = (await store.rejected.get('acme', rejectedId)) ?? assert.fail();
      assert.deepEqual([chainId, Date.parse(resentAt ?? '') > 0], ['chain-1', true]);
      const { items } = await store.audit.list({ companyId: 'acme', limit: 2 });
      assert.deepEqual(items[0]?.details, { rejectedId, chainId: 'chain-1', mended: ['/0/subject'] });
      assert.notEqual(items[1]?.action, 'rejected.resend');
      assert.deepEqual(await revisionOf(), revision, 'no setting has changed');
    });
  });
}
