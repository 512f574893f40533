import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../src/store/database.js';
import type { LeaseLimits } from '../../../src/store/leases.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { testDatabases } from '../../store/databases.js';

/** The limits of a new account. */
const limitsOf = (more: Partial<LeaseLimits> = {}): LeaseLimits => ({
  ...{ account: randomUUID(), threads: 3, callsPerHour: 6000, callsPerLease: 6, ms: 60_000 },
  ...more,
});

for (const { name, open, skip } of testDatabases) {
  describe(`leases on ${name}`, { skip }, () => {
    let database: Database;
    let store: Store; // of one process
    let other: Store; // of another process
    before(async () => {
      database = await open();
      [store, other] = [createStore(database), createStore(database)];
    });
    after(async () => {
      other.settings.close();
      await other.usage.close();
      await store.close();
    });
    afterEach(() => mock.timers.reset());

    it('are limited to the number of threads, for all processes together', async () => {
      const limits = limitsOf();
      const asked = Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).leases.take(limits));
      const taken = (await Promise.all(asked)).flatMap((lease) => lease ?? []);
      // A process may skip a slot that another process is reading.
      while (taken.length < 3) taken.push((await store.leases.take(limits)) ?? assert.fail('a slot is lost'));
      assert.equal(taken.length, 3);
      assert.equal(await other.leases.take(limits), undefined);
      assert.ok(await other.leases.take(limitsOf()), 'another account has its own');
      await taken[1]?.release();
      assert.ok(await other.leases.take(limits));
      assert.equal(await store.leases.take(limits), undefined);
    });

    it('end after their time if the holder is lost; a lost holder cannot free the lease of the next holder', async () => {
      const limits = limitsOf({ threads: 1 });
      const lost = await store.leases.take({ ...limits, ms: 50 });
      assert.ok(lost);
      let next: Awaited<ReturnType<Store['leases']['take']>>;
      while (!next) {
        await sleep(10);
        next = await other.leases.take(limits);
      }
      await lost.release();
      assert.equal(await store.leases.take(limits), undefined);
      await next.release();
      assert.ok(await store.leases.take(limits));
    });

    it('limit the calls of all processes together in an hour', async () => {
      const hourly = limitsOf({ threads: 2, callsPerHour: 24 });
      const use = async (by: Store) => {
        const lease = await by.leases.take(hourly);
        await lease?.release();
        return lease !== undefined;
      };
      const used = [];
      for (const by of [store, other, store, other, store, other]) used.push(await use(by));
      assert.deepEqual(used, [true, true, true, true, false, false]);
      await database.query(`UPDATE leases SET hour = hour - interval '1 hour' WHERE account = $1`, [hourly.account]);
      assert.deepEqual([await use(store), await use(other)], [true, true]);
    });

    it('do not depend on the clock of a worker', { skip: name === 'PGlite' && 'it has the clock of its process' }, async () => {
      const limits = limitsOf({ threads: 1 });
      assert.ok(await store.leases.take(limits));
      for (const now of [0, Date.now() + 86_400_000]) {
        mock.timers.enable({ apis: ['Date'], now });
        assert.equal(await other.leases.take(limits), undefined);
        mock.timers.reset();
      }
    });
  });
}
