/** The databases for the store's tests: always PGlite, and also PostgreSQL if RELAY_TEST_DATABASE_URL names a server. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Keyring } from '../../src/contract/encryption.js';
import type { Database } from '../../src/store/database.js';
import { openPostgres } from '../../src/store/postgres.js';
import type { Store } from '../../src/store/store.js';
import { openEmptied } from './emptied.js';

export interface TestDatabase {
  name: string;
  /** An empty database with the schema; the caller closes it. */
  open(): Promise<Database>;
  /** The reason why the tests with this database are skipped. */
  skip: string | false;
}

const server = process.env.RELAY_TEST_DATABASE_URL;

export const admin = { kind: 'admin' } as const;
export const keyring = new Keyring(`k:${Buffer.alloc(32, 1).toString('base64')}`);

/** Creates a company for one test. @returns its id */
export async function newCompany(store: Store): Promise<string> {
  const companyId = `acme-${randomBytes(6).toString('hex')}`;
  await store.companies.put(companyId, () => ({ companyId, name: companyId, timeZone: 'UTC' }), admin);
  return companyId;
}

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
 * Creates a database on the server of RELAY_TEST_DATABASE_URL, without a schema, or as a copy of an unused database.
 * @param original - the URL of the database to copy
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
