import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { DecryptionError, Keyring } from '../../../src/contract/encryption.js';
import type { Database } from '../../../src/store/database.js';
import { openPostgres } from '../../../src/store/postgres.js';
import { createStore } from '../../../src/store/store.js';
import { createDatabase, testDatabases } from '../../store/databases.js';

const key = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`;
const [first, second] = [new Keyring(key('first')), new Keyring(`${key('second')},${key('first')}`)];
const signingKeyIn = (database: Database, keyring?: Keyring) => createStore(database, { keyring }).sessions.signingKey();
const admin = { kind: 'admin' } as const;

for (const { name, open, skip } of testDatabases) {
  describe(`the key that signs sessions, on ${name}`, { skip }, async () => {
    if (skip) return;
    const database = await open();
    after(() => database.close());
    const stored = () => database.query('SELECT key, encryption_key FROM service_keys');

    it('is created once, at random, and stored encrypted', async () => {
      const made = await signingKeyIn(database, first);
      assert.equal(Buffer.from(made, 'base64').length, 32);
      assert.equal(await signingKeyIn(database, first), made);
      const [row] = JSON.parse(JSON.stringify(await stored()));
      assert.match(row.key, /^enc:1:first:/);
      assert.equal(row.encryption_key, 'first');
      await database.query('DELETE FROM service_keys');
      assert.notEqual(await signingKeyIn(database, first), made);
    });

    it('stays the same when the encryption key changes, and is not replaced if its encryption key is missing', async () => {
      const made = await signingKeyIn(database, first);
      const store = createStore(database, { keyring: second });
      assert.equal(await store.sessions.signingKey(), made);
      await store.encryption.rotate(100, admin);
      assert.equal(await signingKeyIn(database, second), made);
      assert.match(JSON.stringify(await stored()), /enc:1:second:/);
      await assert.rejects(signingKeyIn(database, first), DecryptionError);
    });

    it('stored in plain text stays readable, is reported, and is encrypted by the rotation', async () => {
      await database.query('DELETE FROM service_keys');
      const made = await signingKeyIn(database);
      const store = createStore(database, { keyring: first });
      assert.equal(await store.sessions.signingKey(), made);
      const { rows, left } = await store.encryption.status();
      assert.deepEqual([rows.filter(({ table }) => table === 'service_keys'), left], [[{ table: 'service_keys', rows: 1 }], 1]);
      assert.equal((await store.encryption.rotate(100, admin)).left, 0);
      assert.equal(await store.sessions.signingKey(), made);
      assert(!JSON.stringify(await stored()).includes(made.slice(0, 10)));
    });
  });
}

const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed';
it('processes that start together agree on one key', { skip }, async () => {
  const { url, drop } = await createDatabase();
  const databases = await Promise.all(Array.from({ length: 5 }, () => openPostgres(url)));
  const made = await Promise.all(databases.map((database) => signingKeyIn(database, first)));
  assert.equal(new Set(made).size, 1);
  for (const database of databases) await database.close();
  await drop();
});
