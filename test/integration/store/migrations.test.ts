import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { companies, rules } from '../../../src/store/companies.js';
import type { Database } from '../../../src/store/database.js';
import { type Migration, migrate, migrations, NewerSchemaError } from '../../../src/store/migrations.js';
import { openPostgres } from '../../../src/store/postgres.js';
import { createDatabase, testDatabases } from '../../store/databases.js';

for (const { name, open, skip } of testDatabases) {
  describe(`migrations on ${name}`, { skip }, () => {
    let database: Database;
    let released: Migration[];
    before(async () => {
      database = await open();
      const [{ version }] = z
        .tuple([z.object({ version: z.int() })])
        .parse(await database.query('SELECT version FROM relay_schema'));
      released = migrations.slice(0, version);
    });
    after(() => database.close());
    const steps = (...more: string[]) => [...released, ...more.map((statement) => ({ name: 'more', statements: [statement] }))];

    it('run once, in order', async () => {
      await migrate(database, steps('CREATE TABLE first (x integer)'));
      await migrate(database, steps('CREATE TABLE first (x integer)', 'ALTER TABLE first ADD COLUMN y integer'));
      await migrate(database, steps('CREATE TABLE first (x integer)', 'ALTER TABLE first ADD COLUMN y integer'));
      assert.deepEqual(await database.query('SELECT x, y FROM first'), []);
    });

    it('run completely or not at all', async () => {
      const known = steps('CREATE TABLE first (x integer)', 'ALTER TABLE first ADD COLUMN y integer');
      await assert.rejects(
        migrate(database, [...known, { name: 'half', statements: ['CREATE TABLE half (x integer)', 'CREATE TABLE nonsense ('] }]),
      );
      await assert.rejects(database.query('SELECT * FROM half'));
      await migrate(database, known);
    });

    it("refuse a newer program's database", async () => {
      await assert.rejects(
        migrate(database),
        (error) => error instanceof NewerSchemaError && error.message.includes(`up to ${released.length}:`),
      );
    });

    it('revoke the token that every demo company of earlier versions had, and no other', async () => {
      const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
      const known = hashOf('demo-token-for-this-laptop-only');
      await database.query('DROP SCHEMA public CASCADE');
      await database.query('CREATE SCHEMA public');
      const revoking = migrations.findIndex(({ statements }) => statements.some((statement) => statement.includes(known)));
      await migrate(database, migrations.slice(0, revoking));
      await database.query("INSERT INTO companies (company_id, name, time_zone) VALUES ('demo', 'Demo', 'UTC')");
      await database.query(
        "INSERT INTO rules (company_id, relay_id, name, on_failure, on_unknown) VALUES ('demo', '4711', 'Demo', 'hold', 'hold')",
      );
      for (const [id, hash] of Object.entries({ known, own: hashOf('a-token-of-their-own') })) {
        const values = `('${id}', 'demo', '4711', '\\x${hash}')`;
        await database.query(`INSERT INTO tokens (token_id, company_id, relay_id, hash) VALUES ${values}`);
      }
      await migrate(database);
      assert.deepEqual(await database.query('SELECT token_id, revoked_at IS NOT NULL AS revoked FROM tokens ORDER BY 1'), [
        { token_id: 'known', revoked: true },
        { token_id: 'own', revoked: false },
      ]);
    });

    it('assign existing addresses to the operator', async () => {
      await database.query('DROP SCHEMA public CASCADE');
      await database.query('CREATE SCHEMA public');
      const before = migrations.findIndex((migration) => migration.name === 'addresses-set-by-companies');
      await migrate(database, migrations.slice(0, before));
      const notify = `'{"webhookUrl": "https://hooks.example.com/"}'`;
      await database.query(
        `INSERT INTO companies (company_id, name, time_zone, notify) VALUES ('acme', 'Acme', 'UTC', ${notify})`,
      );
      await database.query(
        `INSERT INTO rules (company_id, relay_id, name, on_failure, on_unknown, notify) VALUES ('acme', '1', 'A', 'hold', 'hold', ${notify})`,
      );
      await migrate(database);
      const stored = [
        await companies.find(database, "company_id = 'acme'", []),
        await rules.find(database, "relay_id = '1'", []),
      ];
      assert.deepEqual(
        stored.map((noun) => [noun?.notify?.webhookUrl, noun?.setByCompany]),
        [
          ['https://hooks.example.com/', undefined],
          ['https://hooks.example.com/', undefined],
        ],
      );
    });
  });
}

describe('openPostgres', () => {
  it('names DATABASE_URL and never shows it', async () => {
    for (const url of ['postgres://user:s3cret@[nonsense/db', 'postgres://user:s3cret@127.0.0.1:1/db']) {
      await assert.rejects(openPostgres(url), (error) => {
        assert.ok(error instanceof Error && error.message.includes('DATABASE_URL') && !error.message.includes('s3cret'));
        return true;
      });
    }
  });

  const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'RELAY_TEST_DATABASE_URL is not set';
  it('lets several processes start on an empty database at once', { skip }, async () => {
    const { url, drop } = await createDatabase();
    const opened = await Promise.all(Array.from({ length: 5 }, () => openPostgres(url)));
    for (const database of opened) await database.close();
    await drop();
  });
});

describe('migrations by several processes', {
  skip: process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed',
}, () => {
  it('run in the first process, while the other processes wait', async () => {
    const { url, drop } = await createDatabase();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url)));
    assert.deepEqual(await opened[0]?.query('SELECT version FROM relay_schema'), [{ version: migrations.length }]);
    for (const database of opened) await database.close();
    await drop();
  });
});
