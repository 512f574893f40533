import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Database } from '../../../src/store/database.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { testDatabases } from '../../store/databases.js';

const admin = { kind: 'admin' } as const;
const future = '2126-07-01T12:00:00.000Z';

for (const { name, open, skip } of testDatabases) {
  describe(`pauses on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store;
    before(async () => {
      database = await open();
      store = createStore(database);
      for (const companyId of ['acme', 'other'])
        await store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC' }), admin);
    });
    after(() => store.close());

    it('begin, change and end, and stay on record for attention windows', async () => {
      const begun = await store.pauses.begin('acme', { what: 'mail', reason: 'new server' }, admin);
      assert.ok(begun);
      const changed = await store.pauses.begin('acme', { what: 'mail', until: future }, admin);
      assert.deepEqual(changed, { what: 'mail', since: begun.since, until: future });
      await store.pauses.begin('acme', { what: 'all' }, admin);
      assert.deepEqual(
        (await store.pauses.current('acme')).map(({ what }) => what),
        ['all', 'mail'],
      );
      assert.deepEqual(await store.pauses.current('other'), []);

      assert.deepEqual(await store.pauses.end('acme', 'platform', admin), []);
      assert.deepEqual(await store.pauses.end('acme', 'mail', admin), ['mail']);
      assert.deepEqual(await store.pauses.end('acme', undefined, admin), ['all']);
      assert.deepEqual(await store.pauses.current('acme'), []);
      const ended = await store.pauses.since('acme', begun.since);
      assert.deepEqual(ended.map(({ what }) => what).sort(), ['all', 'mail']);
      assert.ok(ended.every(({ until }) => until !== undefined && until < future));
      assert.deepEqual(await store.pauses.since('acme', future), []);

      const { items } = await store.audit.list({ companyId: 'acme', limit: 3 });
      assert.deepEqual(
        items.map(({ action, details }) => [action, details]),
        [
          ['company.resume', { what: ['all'] }],
          ['company.resume', { what: ['mail'] }],
          ['company.pause', { what: 'all' }],
        ],
      );
    });

    it('end at their time', async () => {
      await store.pauses.begin('acme', { what: 'platform', until: '2020-01-01T00:00:00.000Z' }, admin);
      assert.deepEqual(await store.pauses.current('acme'), []);
    });

    it('need an existing company, and are deleted with it', async () => {
      assert.equal(await store.pauses.begin('nobody', { what: 'all' }, admin), undefined);
      assert.equal(await store.pauses.end('nobody', undefined, admin), undefined);
      await store.pauses.begin('other', { what: 'all' }, admin);
      await store.companies.delete('other', admin);
      assert.deepEqual(await store.pauses.current('other'), []);
    });

    it('begin once if two requests begin them at once', async () => {
      await Promise.all(Array.from({ length: 5 }, () => store.pauses.begin('acme', { what: 'ticketing' }, admin)));
      assert.equal((await store.pauses.current('acme')).length, 1);
    });
  });
}
