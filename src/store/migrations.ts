/** The schema, as the ordered list of migrations that made it. Add migrations at the end; never change one that has been released. */

import { z } from 'zod';
import { StartError } from '../service/config.js';
import { type Database, read } from './database.js';

/** The name is for people. A statement is a single one. */
export interface Migration {
  name: string;
  statements: readonly string[];
}

/** Migration n (from 1) leads to schema version n. */
export const migrations: readonly Migration[] = [
  {
    name: 'companies',
    statements: [
      `CREATE TABLE companies (
       company_id text COLLATE "C" PRIMARY KEY,
       name text NOT NULL,
       time_zone text NOT NULL,
       notify jsonb, platform jsonb, ticketing jsonb, mail jsonb,
       created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now()
     )`,
      `CREATE TABLE rules (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       relay_id text COLLATE "C" NOT NULL,
       seq bigint GENERATED ALWAYS AS IDENTITY,
       name text NOT NULL,
       enabled boolean NOT NULL DEFAULT true,
       on_failure text NOT NULL,
       on_unknown text NOT NULL,
       notify jsonb,
       created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
       PRIMARY KEY (company_id, relay_id),
       UNIQUE (company_id, seq)
     )`,
      `CREATE TABLE tokens (
       token_id text COLLATE "C" PRIMARY KEY,
       company_id text COLLATE "C" NOT NULL,
       relay_id text COLLATE "C" NOT NULL,
       seq bigint GENERATED ALWAYS AS IDENTITY,
       hash bytea NOT NULL,
       created_at timestamptz NOT NULL DEFAULT now(),
       expires_at timestamptz,
       revoked_at timestamptz,
       last_used_at timestamptz,
       FOREIGN KEY (company_id, relay_id) REFERENCES rules ON DELETE CASCADE
     )`,
      'CREATE INDEX tokens_of_rule ON tokens (company_id, relay_id)',
      `CREATE TABLE company_keys (
       key_id text COLLATE "C" PRIMARY KEY,
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       name text NOT NULL,
       hash bytea NOT NULL UNIQUE,
       created_at timestamptz NOT NULL DEFAULT now(),
       last_used_at timestamptz,
       UNIQUE (company_id, name)
     )`,
      // No reference to companies: what was done to a company is remembered after its deletion.
      `CREATE TABLE audit (
       seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       at timestamptz NOT NULL DEFAULT now(),
       company_id text COLLATE "C",
       actor jsonb NOT NULL,
       action text NOT NULL,
       details jsonb NOT NULL
     )`,
      'CREATE INDEX audit_of_company ON audit (company_id, seq)',
    ],
  },
  {
    name: 'refused-requests',
    statements: [
      'ALTER TABLE companies ADD COLUMN webhook_secret text',
      // json rather than jsonb: the elements stay as they were written.
      `CREATE TABLE rejected_requests (
       rejected_id text COLLATE "C" PRIMARY KEY,
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       seq bigint GENERATED ALWAYS AS IDENTITY,
       received_at timestamptz NOT NULL,
       reason text NOT NULL,
       problem json NOT NULL,
       relay_ids text[] NOT NULL,
       idempotency_key text,
       elements json NOT NULL,
       chain_id text,
       resent_at timestamptz
     )`,
      'CREATE INDEX rejected_of_company ON rejected_requests (company_id, seq)',
      'CREATE INDEX rejected_by_reason ON rejected_requests (company_id, reason, seq)',
      'CREATE INDEX rejected_by_age ON rejected_requests (received_at)',
      // As rate-limiter-flexible wants it. After a crash the counts begin anew, which does no harm.
      'CREATE UNLOGGED TABLE rate_limits (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)',
    ],
  },
  {
    name: 'pauses',
    statements: [
      // `until`: when it ends by itself, or ended.
      `CREATE TABLE pauses (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       what text NOT NULL,
       since timestamptz NOT NULL DEFAULT now(),
       until timestamptz,
       reason text
     )`,
      'CREATE INDEX pauses_of_company ON pauses (company_id, until)',
    ],
  },
  {
    name: 'settings-revision',
    statements: [
      // Its one row is locked by every change, so that revisions are committed in their order.
      'CREATE TABLE settings_revision (revision integer NOT NULL)',
      'CREATE TABLE settings_changes (company_id text COLLATE "C" PRIMARY KEY, revision integer NOT NULL)',
      'CREATE INDEX settings_changes_by_revision ON settings_changes (revision)',
      'INSERT INTO settings_revision VALUES (1)',
      'INSERT INTO settings_changes SELECT company_id, 1 FROM companies',
    ],
  },
  {
    name: 'admin-tokens-and-sessions',
    statements: [
      `CREATE TABLE admin_tokens (
       admin_token_id text COLLATE "C" PRIMARY KEY,
       name text NOT NULL UNIQUE,
       hash bytea NOT NULL UNIQUE,
       created_at timestamptz NOT NULL DEFAULT now(),
       expires_at timestamptz,
       last_used_at timestamptz
     )`,
      "ALTER TABLE company_keys ADD COLUMN role text NOT NULL DEFAULT 'steer'",
      'ALTER TABLE company_keys ADD COLUMN expires_at timestamptz',
      // Of RELAY_ADMIN_TOKEN where there is neither a key nor an admin token.
      `CREATE TABLE sessions (
       session_id text COLLATE "C" PRIMARY KEY,
       key_id text COLLATE "C" REFERENCES company_keys ON DELETE CASCADE,
       admin_token_id text COLLATE "C" REFERENCES admin_tokens ON DELETE CASCADE,
       created_at timestamptz NOT NULL DEFAULT now(),
       seen_at timestamptz NOT NULL DEFAULT now()
     )`,
      'CREATE INDEX sessions_of_key ON sessions (key_id)',
    ],
  },
  {
    name: 'peppers',
    statements: [
      // With which pepper the hash was made; NULL: without one.
      'ALTER TABLE tokens ADD COLUMN pepper_id text',
      'ALTER TABLE company_keys ADD COLUMN pepper_id text',
      'ALTER TABLE admin_tokens ADD COLUMN pepper_id text',
      'ALTER TABLE rejected_requests ADD COLUMN signature text',
    ],
  },
  // The id of the key that a row is encrypted with; '': there is nothing to encrypt in it; NULL: it is in clear.
  {
    name: 'encryption-keys',
    statements: ['companies', 'rules', 'pauses', 'rejected_requests', 'audit'].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN encryption_key text`,
    ),
  },
  {
    name: 'limits',
    statements: [
      'ALTER TABLE companies ADD COLUMN limits jsonb',
      `CREATE TABLE daily_usage (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       day date NOT NULL,
       actions bigint NOT NULL,
       recipients bigint NOT NULL,
       PRIMARY KEY (company_id, day)
     )`,
      'CREATE INDEX daily_usage_by_day ON daily_usage (day)',
    ],
  },
  {
    name: 'revoke-known-demo-token',
    statements: [
      // The token that earlier versions gave to every demo company, and everybody knows.
      `UPDATE tokens SET revoked_at = now()
     WHERE hash = '\\x27e6d846624be0a6b67fc300e99fd28c4d5abdda87da1fe7206ffac500f7fc67' AND revoked_at IS NULL`,
    ],
  },
  {
    name: 'causes',
    statements: [
      `CREATE TABLE causes (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       cause_id text COLLATE "C" NOT NULL,
       seq bigint GENERATED ALWAYS AS IDENTITY,
       reason text NOT NULL,
       message text NOT NULL,
       since timestamptz NOT NULL,
       taken_by text,
       taken_at timestamptz,
       silenced_by text,
       silenced_until timestamptz,
       encryption_key text,
       updated_at timestamptz NOT NULL DEFAULT now(),
       PRIMARY KEY (company_id, cause_id)
     )`,
      // Of each action its last hold.
      `CREATE TABLE held_actions (
       company_id text COLLATE "C" NOT NULL,
       chain_id text COLLATE "C" NOT NULL,
       index integer NOT NULL,
       seq bigint GENERATED ALWAYS AS IDENTITY,
       cause_id text COLLATE "C" NOT NULL,
       relay_id text COLLATE "C" NOT NULL,
       assignment_id text,
       since timestamptz NOT NULL,
       held_until timestamptz,
       ended_at timestamptz,
       PRIMARY KEY (company_id, chain_id, index),
       FOREIGN KEY (company_id, cause_id) REFERENCES causes ON DELETE CASCADE
     )`,
      'CREATE INDEX held_actions_of_cause ON held_actions (company_id, cause_id)',
      'CREATE INDEX held_actions_by_end ON held_actions (LEAST(ended_at, held_until))',
    ],
  },
  { name: 'notice-links', statements: ['ALTER TABLE companies ADD COLUMN notice_links boolean'] },
];

/** Any number that no other program uses for an advisory lock in this database. */
const lock = 7_353_529;

export class NewerSchemaError extends StartError {
  override readonly name = 'NewerSchemaError';
}

/** Brings the schema up to date, in one transaction. Processes that start together wait for each other. */
export async function migrate(database: Database, known = migrations): Promise<void> {
  await database.transaction(async (queries) => {
    await queries.query('SELECT pg_advisory_xact_lock($1::bigint)', [lock]);
    await queries.query('CREATE TABLE IF NOT EXISTS relay_schema (version integer NOT NULL)');
    const [{ version } = { version: 0 }] = await read(
      queries,
      z.object({ version: z.int() }),
      'SELECT version FROM relay_schema',
    );
    if (version > known.length) {
      throw new NewerSchemaError(
        `The database has schema version ${version}, and this program knows versions up to ${known.length}:` +
          ' start the newer program.',
      );
    }
    for (const { name, statements } of known.slice(version))
      for (const statement of statements)
        await queries.query(statement).catch((error: unknown) => {
          throw new Error(`The migration ${name} of the database failed`, { cause: error });
        });
    await queries.query('DELETE FROM relay_schema');
    await queries.query('INSERT INTO relay_schema VALUES ($1::int)', [known.length]);
  });
}

/** An open database with its schema up to date; closed where that fails. */
export async function migrated(database: Database): Promise<Database> {
  await migrate(database).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  return database;
}
