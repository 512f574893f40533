/** The store's database in production: a PostgreSQL server, through a pool of connections. */

import pg from 'pg';
import { AwayError, StartError } from '../service/config.js';
import { type Database, queriesOf } from './database.js';
import { migrate } from './migrations.js';

/**
 * Brings the schema up to date. Nothing bounds the time of that: it may wait for another process that does the same.
 * @throws AwayError where no server answers, StartError where it refuses us; both name DATABASE_URL and never show it.
 */
export async function openPostgres(databaseUrl: string): Promise<Database> {
  const config: pg.PoolConfig = {
    connectionString: databaseUrl,
    application_name: 'relay',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  };
  try {
    // Reads the URL and connects to nothing. Its own error would carry the URL, password and all.
    new pg.Client(config);
  } catch {
    throw new StartError('DATABASE_URL is not a PostgreSQL URL such as postgres://user:password@host:5432/database');
  }
  const first = databaseOf(config);
  try {
    await first.query('SELECT 1').catch((error: unknown) => {
      throw error instanceof AwayError ? error : new StartError(`${words(error)}. ${advice}`, { cause: error });
    });
    await migrate(first);
  } finally {
    await first.close();
  }
  return databaseOf({ ...config, query_timeout: 30_000 });
}

/** Where nobody answers it throws an AwayError. */
function databaseOf(config: pg.PoolConfig): Database {
  const pool = new pg.Pool(config);
  // A connection that breaks while idle has already been dropped: the next query takes another.
  pool.on('error', () => {});
  // One that breaks in a transaction fails that one's query.
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    ...queriesOf({ query: (text, parameters) => pool.query(text, parameters).catch(throwAway) }),
    async transaction(work) {
      const client = await pool.connect().catch(throwAway);
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
        return throwAway(error);
      }
    },
    close: () => pool.end(),
  };
}

const advice = 'Start PostgreSQL, or correct the host, port, user and password there.';
const words = (error: unknown) => `The database that DATABASE_URL names cannot be reached: ${reason(error)}`;

function throwAway(error: unknown): never {
  throw isAway(error) ? new AwayError(words(error), advice, { cause: error }) : error;
}

/** Of the network; and of PostgreSQL: starts up, shuts down, has no connection left. */
const awayCodes = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['57P01', '57P02', '57P03', '53300'],
];

/** Whether nobody answers, rather than that a server refuses us. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The driver's own errors have no code.
  return 'code' in error ? awayCodes.includes(String(error.code)) : /^Connection terminated|timeout/.test(error.message);
}

/** A refused connection to several addresses has no message of its own, only a code. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
