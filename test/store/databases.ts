/** The databases that the store's tests run against: PGlite always, PostgreSQL where RELAY_TEST_DATABASE_URL names a server. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Database } from '../../src/store/database.js';
import { openPostgres } from '../../src/store/postgres.js';
import { openEmptied } from './emptied.js';

export interface TestDatabase {
  name: string;
  /** An empty database with the schema; to be closed after use. */
  open(): Promise<Database>;
  /** Why its tests are skipped. */
  skip: string | false;
}

const server = process.env.RELAY_TEST_DATABASE_URL;

export const testDatabases: readonly TestDatabase[] = [
  { name: 'PGlite', open: openEmptied, skip: false },
  {
    name: 'PostgreSQL',
    skip: server === undefined && 'RELAY_TEST_DATABASE_URL is not set',
    async open() {
      const { url, drop } = await createDatabase();
      const database = await openPostgres(url);
      const close = async () => {
        await database.close();
        await drop();
      };
      return { ...database, close };
    },
  },
];

/**
 * A new database on the server of RELAY_TEST_DATABASE_URL, without a schema, or the copy of one that nobody uses.
 * @param original - its URL
 */
export async function createDatabase(original?: string): Promise<{ url: string; drop(): Promise<void> }> {
  if (server === undefined) throw new Error('RELAY_TEST_DATABASE_URL is not set');
  const name = `relay_test_${randomBytes(6).toString('hex')}`;
  const template = original === undefined ? '' : ` TEMPLATE ${new URL(original).pathname.slice(1)}`;
  await onServer(server, `CREATE DATABASE ${name}${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}

async function onServer(databaseUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
