/** The database in production: PostgreSQL, with a pool of connections. */

import pg from 'pg';
import { AwayError, StartError } from '../service/config.js';
import { type Database, queriesOf } from './database.js';
import { migrate } from './migrations.js';

/** Updates the schema without a time limit. Errors never show the URL. @throws AwayError if no server answers, else StartError */
export async function openPostgres(databaseUrl: string): Promise<Database> {
  const config: pg.PoolConfig = {
    connectionString: databaseUrl,
    application_name: 'relay',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  };
  try {
    // This line only parses the URL. Do not show the driver's error, because it contains the URL with the password.
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

function databaseOf(config: pg.PoolConfig): Database {
  const pool = new pg.Pool(config);
  // The pool removes a broken idle connection. Without a listener, the error would end the process.
  pool.on('error', () => {});
  // If a connection breaks in a transaction, the query fails. Without a listener, the error would also end the process.
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
        // Close a connection whose rollback fails.
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

/** The codes of network errors, and the codes of a PostgreSQL server that starts, stops, or has no connection left. */
const awayCodes = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['57P01', '57P02', '57P03', '53300'],
];

/** Returns true if the server did not answer, and false if the server refused. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The driver's own errors have no code.
  return 'code' in error ? awayCodes.includes(String(error.code)) : /^Connection terminated|timeout/.test(error.message);
}

/** If connections to several addresses are refused, the error has a code, but no message. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
