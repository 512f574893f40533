/** The store's database in production: a PostgreSQL server, through a pool of connections. */

import pg from 'pg';
import { StartError } from '../service/config.js';
import { type Database, queriesOf } from './database.js';
import { migrated } from './migrations.js';

/** Connects and brings the schema up to date. @throws StartError that names DATABASE_URL and never shows it. */
export async function openPostgres(databaseUrl: string): Promise<Database> {
  const config: pg.PoolConfig = {
    connectionString: databaseUrl,
    application_name: 'relay',
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
    keepAlive: true,
  };
  try {
    // Reads the URL and connects to nothing. Its own error would carry the URL, password and all.
    new pg.Client(config);
  } catch {
    throw new StartError('DATABASE_URL is not a PostgreSQL URL such as postgres://user:password@host:5432/database');
  }
  const pool = new pg.Pool(config);
  // A connection that breaks while idle has already been dropped: the next query takes another.
  pool.on('error', () => {});
  await pool.query('SELECT 1').catch(async (error: unknown) => {
    await pool.end();
    throw new StartError(
      `The database that DATABASE_URL names cannot be reached: ${reason(error)}.` +
        ' Start PostgreSQL, or correct the host, port, user and password there.',
      { cause: error },
    );
  });
  return migrated({
    ...queriesOf(pool),
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const result = await work(queriesOf(client));
        await client.query('COMMIT');
        client.release();
        return result;
      } catch (error) {
        const rolledBack = await client.query('ROLLBACK').catch(() => undefined);
        // What cannot even roll back is closed.
        client.release(rolledBack === undefined);
        throw error;
      }
    },
    close: () => pool.end(),
  });
}

/** A refused connection to several addresses has no message of its own, only a code. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
