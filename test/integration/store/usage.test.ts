import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Database } from '../../../src/store/database.js';
import { Usage } from '../../../src/store/usage.js';
import { testDatabases } from '../../store/databases.js';

for (const { name, open, skip } of testDatabases) {
  describe(`a company's use in a day, on ${name}`, { skip }, () => {
    let database: Database;
    before(async () => {
      database = await open();
      await database.query("INSERT INTO companies (company_id, name, time_zone) VALUES ('acme', '', ''), ('other', '', '')");
    });
    after(() => database.close());

    it('is the sum over all processes, and survives a restart', async () => {
      const processes = [new Usage(database), new Usage(database)];
      for (const usage of processes) {
        usage.add('acme', { actions: 10, recipients: 2 });
        usage.add('gone', { actions: 1, recipients: 0 });
        assert.deepEqual(usage.of('acme'), { actions: 10, recipients: 2 });
      }
      await Promise.all(processes.map((usage) => usage.settle()));
      const [first, second] = processes;
      first?.add('acme', { actions: 5, recipients: 0 });
      second?.add('acme', { actions: 1, recipients: 1 }, -1);
      await second?.close();
      await first?.close();
      assert.deepEqual(first?.of('acme'), { actions: 24, recipients: 3 });

      const restarted = new Usage(database);
      await restarted.settle();
      assert.deepEqual(restarted.of('acme'), { actions: 24, recipients: 3 });
      assert.deepEqual(restarted.of('other'), { actions: 0, recipients: 0 });
      await restarted.close();
    });

    it("includes other processes' use", async () => {
      const [worker, api] = [new Usage(database), new Usage(database)];
      await worker.settle();
      const { actions, recipients } = worker.of('other');
      api.add('other', { actions: 1, recipients: 7 });
      await api.settle();
      assert.equal(worker.of('other').recipients, recipients);
      await worker.settle(['other', 'other', 'gone']);
      assert.deepEqual(worker.of('other'), { actions: actions + 1, recipients: recipients + 7 });
      api.add('other', { actions: 1, recipients: 7 }, -1);
      await Promise.all([worker.close(), api.close()]);
    });

    it('is not lost while the database is down', async () => {
      let away = true;
      const query: Database['query'] = (...asked) => (away ? Promise.reject(new Error('away')) : database.query(...asked));
      const usage = new Usage({ query });
      usage.add('other', { actions: 3, recipients: 0 });
      await assert.rejects(usage.settle());
      away = false;
      await usage.settle();
      await usage.settle();
      assert.deepEqual(usage.of('other'), { actions: 3, recipients: 0 });
      await usage.close();
    });
  });
}
