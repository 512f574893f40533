/** The database schema as an ordered list of migrations. Add new migrations at the end. Never change a released migration. */

import { z } from 'zod';
import { StartError } from '../service/config.js';
import { type Database, read } from './database.js';

/** The migrations by name, in the order of versions. The first migration makes schema version 1. */
const statementsOf: Record<string, readonly string[]> = {
  companies: [
    `CREATE TABLE companies (
       company_id text COLLATE "C" PRIMARY KEY,
       name text NOT NULL, time_zone text NOT NULL, notify jsonb, platform jsonb, ticketing jsonb, mail jsonb,
       created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now()
     )`,
    `CREATE TABLE rules (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       relay_id text COLLATE "C" NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY,
       name text NOT NULL, enabled boolean NOT NULL DEFAULT true, on_failure text NOT NULL,
       on_unknown text NOT NULL, notify jsonb,
       created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
       PRIMARY KEY (company_id, relay_id), UNIQUE (company_id, seq)
     )`,
    `CREATE TABLE tokens (
       token_id text COLLATE "C" PRIMARY KEY, company_id text COLLATE "C" NOT NULL,
       relay_id text COLLATE "C" NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY,
       hash bytea NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), expires_at timestamptz,
       revoked_at timestamptz, last_used_at timestamptz,
       FOREIGN KEY (company_id, relay_id) REFERENCES rules ON DELETE CASCADE
     )`,
    'CREATE INDEX tokens_of_rule ON tokens (company_id, relay_id)',
    `CREATE TABLE company_keys (
       key_id text COLLATE "C" PRIMARY KEY,
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       name text NOT NULL, hash bytea NOT NULL UNIQUE, created_at timestamptz NOT NULL DEFAULT now(),
       last_used_at timestamptz,
       UNIQUE (company_id, name)
     )`,
    // The audit table does not reference companies, because audit entries stay after the deletion of a company.
    `CREATE TABLE audit (
       seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       at timestamptz NOT NULL DEFAULT now(), company_id text COLLATE "C",
       actor jsonb NOT NULL, action text NOT NULL, details jsonb NOT NULL
     )`,
    'CREATE INDEX audit_of_company ON audit (company_id, seq)',
  ],
  'refused-requests': [
    'ALTER TABLE companies ADD COLUMN webhook_secret text',
    // The type json keeps the elements as they were written. The type jsonb does not.
    `CREATE TABLE rejected_requests (
       rejected_id text COLLATE "C" PRIMARY KEY,
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       seq bigint GENERATED ALWAYS AS IDENTITY,
       received_at timestamptz NOT NULL, reason text NOT NULL, problem json NOT NULL, relay_ids text[] NOT NULL,
       idempotency_key text, elements json NOT NULL, chain_id text, resent_at timestamptz
     )`,
    'CREATE INDEX rejected_of_company ON rejected_requests (company_id, seq)',
    'CREATE INDEX rejected_by_reason ON rejected_requests (company_id, reason, seq)',
    'CREATE INDEX rejected_by_age ON rejected_requests (received_at)',
    // The package rate-limiter-flexible requires this format. A crash resets the counts, but this does no harm.
    'CREATE UNLOGGED TABLE rate_limits (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)',
  ],
  pauses: [
    // `until`: the planned end of a running pause, or the real end of an ended pause.
    `CREATE TABLE pauses (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       what text NOT NULL, since timestamptz NOT NULL DEFAULT now(), until timestamptz, reason text
     )`,
    'CREATE INDEX pauses_of_company ON pauses (company_id, until)',
  ],
  'settings-revision': [
    // Every change locks the only row of this table, so that the revisions are committed in order.
    'CREATE TABLE settings_revision (revision integer NOT NULL)',
    'CREATE TABLE settings_changes (company_id text COLLATE "C" PRIMARY KEY, revision integer NOT NULL)',
    'CREATE INDEX settings_changes_by_revision ON settings_changes (revision)',
    'INSERT INTO settings_revision VALUES (1)',
    'INSERT INTO settings_changes SELECT company_id, 1 FROM companies',
  ],
  'admin-tokens-and-sessions': [
    `CREATE TABLE admin_tokens (
       admin_token_id text COLLATE "C" PRIMARY KEY,
       name text NOT NULL UNIQUE, hash bytea NOT NULL UNIQUE, created_at timestamptz NOT NULL DEFAULT now(),
       expires_at timestamptz, last_used_at timestamptz
     )`,
    "ALTER TABLE company_keys ADD COLUMN role text NOT NULL DEFAULT 'steer'",
    'ALTER TABLE company_keys ADD COLUMN expires_at timestamptz',
    // A session with neither a key nor an admin token belongs to RELAY_ADMIN_TOKEN.
    `CREATE TABLE sessions (
       session_id text COLLATE "C" PRIMARY KEY,
       key_id text COLLATE "C" REFERENCES company_keys ON DELETE CASCADE,
       admin_token_id text COLLATE "C" REFERENCES admin_tokens ON DELETE CASCADE,
       created_at timestamptz NOT NULL DEFAULT now(), seen_at timestamptz NOT NULL DEFAULT now()
     )`,
    'CREATE INDEX sessions_of_key ON sessions (key_id)',
  ],
  peppers: [
    // The id of the pepper that the hash uses. NULL if the hash has no pepper.
    'ALTER TABLE tokens ADD COLUMN pepper_id text',
    'ALTER TABLE company_keys ADD COLUMN pepper_id text',
    'ALTER TABLE admin_tokens ADD COLUMN pepper_id text',
    'ALTER TABLE rejected_requests ADD COLUMN signature text',
  ],
  // The id of the key that encrypts the row. '' if there is nothing to encrypt. NULL if the row is not encrypted.
  'encryption-keys': ['companies', 'rules', 'pauses', 'rejected_requests', 'audit'].map(
    (table) => `ALTER TABLE ${table} ADD COLUMN encryption_key text`,
  ),
  limits: [
    'ALTER TABLE companies ADD COLUMN limits jsonb',
    `CREATE TABLE daily_usage (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       day date NOT NULL, actions bigint NOT NULL, recipients bigint NOT NULL,
       PRIMARY KEY (company_id, day)
     )`,
    'CREATE INDEX daily_usage_by_day ON daily_usage (day)',
  ],
  'revoke-known-demo-token': [
    // Revokes the token of earlier demo companies, because this token is publicly known.
    `UPDATE tokens SET revoked_at = now()
     WHERE hash = '\\x27e6d846624be0a6b67fc300e99fd28c4d5abdda87da1fe7206ffac500f7fc67' AND revoked_at IS NULL`,
  ],
  causes: [
    `CREATE TABLE causes (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       cause_id text COLLATE "C" NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY,
       reason text NOT NULL, message text NOT NULL, since timestamptz NOT NULL, taken_by text,
       taken_at timestamptz, silenced_by text, silenced_until timestamptz, encryption_key text,
       updated_at timestamptz NOT NULL DEFAULT now(),
       PRIMARY KEY (company_id, cause_id)
     )`,
    // This table contains the last hold of each action.
    `CREATE TABLE held_actions (
       company_id text COLLATE "C" NOT NULL, chain_id text COLLATE "C" NOT NULL,
       index integer NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY,
       cause_id text COLLATE "C" NOT NULL, relay_id text COLLATE "C" NOT NULL,
       assignment_id text, since timestamptz NOT NULL, held_until timestamptz, ended_at timestamptz,
       PRIMARY KEY (company_id, chain_id, index), FOREIGN KEY (company_id, cause_id) REFERENCES causes ON DELETE CASCADE
     )`,
    'CREATE INDEX held_actions_of_cause ON held_actions (company_id, cause_id)',
    'CREATE INDEX held_actions_by_end ON held_actions (LEAST(ended_at, held_until))',
  ],
  'notice-links': ['ALTER TABLE companies ADD COLUMN notice_links boolean'],
  // NULL if the operator has set all addresses. Addresses that are older than this column count as set by the operator.
  'addresses-set-by-companies': ['companies', 'rules'].map((table) => `ALTER TABLE ${table} ADD COLUMN set_by_company text[]`),
  'service-keys': [
    // `company_id` is always NULL. The column exists because the encryption context contains it.
    `CREATE TABLE service_keys (
       purpose text COLLATE "C" PRIMARY KEY, company_id text COLLATE "C",
       key text NOT NULL, encryption_key text, created_at timestamptz NOT NULL DEFAULT now()
      )`,
  ],
  'notice-budget': [
    // `facts`: NULL if the notice was sent alone. `told_by`: the key of the message with the notice; NULL while the notice waits.
    `CREATE TABLE notices (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       notice_key text COLLATE "C" NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY,
       cause_id text COLLATE "C" NOT NULL,
       facts text, encryption_key text, came_at timestamptz NOT NULL DEFAULT now(), told_at timestamptz,
       told_by text COLLATE "C",
       delivered boolean NOT NULL DEFAULT false,
       PRIMARY KEY (company_id, notice_key)
     )`,
    'CREATE INDEX notices_by_time ON notices (company_id, told_at)',
    'CREATE INDEX notices_of_digest ON notices (company_id, told_by)',
    'CREATE INDEX notices_waiting ON notices (company_id, came_at) WHERE told_by IS NULL',
  ],
  // A contact without a row counts as confirmed. Contacts that an admin set, or that are older than this table, have no row.
  'unconfirmed-contacts': [
    `CREATE TABLE unconfirmed_contacts (
       contact_id text COLLATE "C" PRIMARY KEY,
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       contact text NOT NULL, encryption_key text, set_at timestamptz NOT NULL DEFAULT now()
     )`,
    'CREATE INDEX unconfirmed_contacts_of_company ON unconfirmed_contacts (company_id)',
    `CREATE TABLE told_unconfirmed (
       contact_id text COLLATE "C" NOT NULL REFERENCES unconfirmed_contacts ON DELETE CASCADE,
       cause_id text COLLATE "C" NOT NULL, notice_key text COLLATE "C" NOT NULL,
       told_at timestamptz NOT NULL DEFAULT now(),
       PRIMARY KEY (contact_id, cause_id)
     )`,
  ],
  'broken-bodies': [
    // `bytes`: the size that counts for the rule's limit. `fingerprint`: a hash of the content without tokens.
    `ALTER TABLE rejected_requests
       ADD COLUMN bytes integer NOT NULL DEFAULT 1024, ADD COLUMN fingerprint text, ADD COLUMN mistake text,
       ADD COLUMN repeats integer NOT NULL DEFAULT 0, ADD COLUMN not_kept integer,
       ADD COLUMN body json, ADD COLUMN proposal json,
       ADD COLUMN dropped_at timestamptz, ADD COLUMN dropped_by text`,
    'CREATE INDEX rejected_by_rule ON rejected_requests (company_id, (relay_ids[1]), reason)',
    'CREATE INDEX rejected_by_fingerprint ON rejected_requests (company_id, fingerprint)',
  ],
  // One row per slot of an account with limits. `used` counts the calls of the hour that began at `hour`.
  leases: [
    `CREATE TABLE leases (
       account text NOT NULL, slot integer NOT NULL,
       until timestamptz NOT NULL DEFAULT '-infinity', holder text NOT NULL DEFAULT '', hour timestamptz NOT NULL DEFAULT '-infinity',
       used integer NOT NULL DEFAULT 0, PRIMARY KEY (account, slot))`,
  ],
  'words-of-causes': ['ALTER TABLE causes ADD COLUMN title text, ADD COLUMN remedy text'],
  versions: [
    // `contents` is text, not json, because PostgreSQL cannot strip nulls from JSON with the character U+0000 (see settings.ts).
    `CREATE TABLE rule_versions (
       company_id text COLLATE "C" NOT NULL, relay_id text COLLATE "C" NOT NULL, version integer NOT NULL,
       seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
       contents text NOT NULL, bytes integer NOT NULL, note text, encryption_key text, from_version integer,
       published_at timestamptz NOT NULL DEFAULT now(), published_by text NOT NULL,
       PRIMARY KEY (company_id, relay_id, version), FOREIGN KEY (company_id, relay_id) REFERENCES rules ON DELETE CASCADE
     )`,
    `CREATE TABLE rule_drafts (
       company_id text COLLATE "C" NOT NULL, relay_id text COLLATE "C" NOT NULL, revision integer NOT NULL,
       contents text, encryption_key text, updated_at timestamptz NOT NULL DEFAULT now(), updated_by text,
       PRIMARY KEY (company_id, relay_id), FOREIGN KEY (company_id, relay_id) REFERENCES rules ON DELETE CASCADE
     )`,
    'ALTER TABLE rules ADD COLUMN published integer, ADD COLUMN shadow integer',
  ],
  events: [
    "ALTER TABLE tokens ADD COLUMN purpose text NOT NULL DEFAULT 'rule'",
    `CREATE TABLE rule_doors (
       company_id text COLLATE "C" NOT NULL, relay_id text COLLATE "C" NOT NULL,
       door jsonb NOT NULL, encryption_key text, updated_at timestamptz NOT NULL DEFAULT now(),
       PRIMARY KEY (company_id, relay_id), FOREIGN KEY (company_id, relay_id) REFERENCES rules ON DELETE CASCADE
     )`,
    // `hash` is the hash of the body, to find repeated events. `dedupe_hash` is the hash of `dedupe`, which is encrypted.
    `CREATE TABLE events (
       company_id text COLLATE "C" NOT NULL, relay_id text COLLATE "C" NOT NULL, event_id text COLLATE "C" NOT NULL,
       seq bigint GENERATED ALWAYS AS IDENTITY, received_at timestamptz NOT NULL,
       bytes integer NOT NULL, body text NOT NULL, hash text NOT NULL, dedupe text, dedupe_hash text, encryption_key text,
       outcome text NOT NULL, version integer NOT NULL, chain_id text, rejected_id text, reason text,
       resent_from text, shadow jsonb,
       PRIMARY KEY (company_id, event_id), FOREIGN KEY (company_id, relay_id) REFERENCES rules ON DELETE CASCADE
     )`,
    'CREATE INDEX events_of_rule ON events (company_id, relay_id, seq) INCLUDE (bytes, received_at)',
    'CREATE INDEX events_by_dedupe ON events (company_id, relay_id, dedupe_hash) WHERE dedupe_hash IS NOT NULL',
    'CREATE INDEX events_by_key ON events (encryption_key)',
  ],
  people: [
    `CREATE TABLE people (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE, person_id text COLLATE "C" PRIMARY KEY,
       name text NOT NULL, email text, encryption_key text, role text NOT NULL, issuer text, from_group text,
       created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(), last_used_at timestamptz
     )`,
    'CREATE INDEX people_of_company ON people (company_id)',
    // The hash of an address, or of an issuer and its subject. A stolen database must not show addresses.
    `CREATE TABLE person_handles (
       handle_id text COLLATE "C" PRIMARY KEY, person_id text COLLATE "C" NOT NULL REFERENCES people ON DELETE CASCADE,
       kind text NOT NULL, hash bytea NOT NULL, pepper_id text
     )`,
    'CREATE INDEX person_handles_by_hash ON person_handles (hash)',
    'CREATE INDEX person_handles_of_person ON person_handles (person_id)',
    // One row for each person that a link can sign in. A row without a person is a sign-in that has begun at the OpenID service.
    `CREATE TABLE sign_ins (
       token_hash text NOT NULL, browser_hash text NOT NULL, person_id text COLLATE "C" REFERENCES people ON DELETE CASCADE, to_page text,
       expires_at timestamptz NOT NULL DEFAULT now() + interval '10 minutes'
     )`,
    'CREATE INDEX sign_ins_by_token ON sign_ins (token_hash)',
    'CREATE INDEX sign_ins_of_person ON sign_ins (person_id)',
    'ALTER TABLE sessions ADD COLUMN person_id text COLLATE "C" REFERENCES people ON DELETE CASCADE',
    'CREATE INDEX sessions_of_person ON sessions (person_id)',
  ],
  chains: [
    'ALTER TABLE companies ADD COLUMN history_days integer',
    // `place` sorts lists. `run_id`, `started_at`: the last run of the chain that the collector has seen. `details`: JSON.
    `CREATE TABLE chains (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE,
       chain_id text COLLATE "C" NOT NULL, place text COLLATE "C" NOT NULL,
       run_id text, started_at timestamptz,
       received_at timestamptz NOT NULL, closed_at timestamptz, done_at timestamptz, held_since timestamptz,
       status text COLLATE "C" NOT NULL, paused boolean, rule jsonb,
       relay_ids text[] NOT NULL, assignment_ids text[] NOT NULL, ticket_ids text[] NOT NULL, failure_types text[],
       failed_actions integer NOT NULL DEFAULT 0, nobody_found boolean NOT NULL DEFAULT false,
       summary text, details text, encryption_key text, updated_at timestamptz NOT NULL DEFAULT now(),
       PRIMARY KEY (company_id, chain_id)
     )`,
    'CREATE INDEX chains_by_place ON chains (company_id, place)',
    'CREATE INDEX chains_of_all ON chains (place)',
    'CREATE INDEX chains_by_status ON chains (company_id, status, place)',
    'CREATE INDEX chains_by_time ON chains (company_id, received_at)',
    'CREATE INDEX chains_open ON chains (company_id, chain_id) WHERE closed_at IS NULL',
    'CREATE INDEX chains_by_key ON chains (encryption_key)',
    // One row for each rule, assignment and ticket of a chain (`kind`), to find chains by the beginning of an id. A foreign key
    // to chains would be slow: PGlite has no autovacuum, so PGlite would check each row with the plan for an empty table.
    `CREATE TABLE chain_ids (
       company_id text COLLATE "C" NOT NULL REFERENCES companies ON DELETE CASCADE, kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
       place text COLLATE "C" NOT NULL, chain_id text COLLATE "C" NOT NULL, received_at timestamptz NOT NULL,
       PRIMARY KEY (company_id, chain_id, kind, id)
     )`,
    'CREATE INDEX chain_ids_by_id ON chain_ids (company_id, kind, id, place)',
    'CREATE INDEX chain_ids_by_time ON chain_ids (company_id, kind, id, received_at)',
    // The collector has read the closed runs of the task queue up to the time `until`.
    'CREATE TABLE collected (task_queue text COLLATE "C" PRIMARY KEY, until timestamptz NOT NULL)',
  ],
  'quiet-rules': [
    'ALTER TABLE rules ADD COLUMN expect_every integer, ADD COLUMN expect_within jsonb, ADD COLUMN quiet_since timestamptz',
    'ALTER TABLE companies ADD COLUMN weekly_digest boolean, ADD COLUMN digested_week text',
    // The times in which an API process could accept events. A process has a new row after each interruption.
    `CREATE TABLE uptimes (
       process text COLLATE "C" PRIMARY KEY, since timestamptz NOT NULL, until timestamptz NOT NULL
     )`,
    "CREATE INDEX events_without_chain ON events (company_id, received_at, relay_id) WHERE outcome <> 'chain'",
  ],
  'notice-edits': ['ALTER TABLE companies ADD COLUMN notice_edits boolean'],
  'forgotten-chains': ["CREATE INDEX chains_forgotten ON chains (closed_at) WHERE status = 'forgotten'"],
  'chain-counts': [
    // The indexes have all columns that `health` reads. `took`: the seconds from the request to the end of the last action.
    'ALTER TABLE chain_ids ADD COLUMN status text COLLATE "C", ADD COLUMN nobody_found boolean, ADD COLUMN took float8',
    `UPDATE chain_ids SET status = chains.status, nobody_found = chains.nobody_found,
       took = EXTRACT(epoch FROM COALESCE(done_at, closed_at) - chains.received_at)
     FROM chains WHERE (chains.company_id, chains.chain_id) = (chain_ids.company_id, chain_ids.chain_id)`,
    'DROP INDEX chain_ids_by_time',
    `CREATE INDEX chain_ids_by_time ON chain_ids (company_id, kind, id, received_at)
       INCLUDE (chain_id, status, nobody_found, took)`,
    'DROP INDEX chains_by_time',
    'CREATE INDEX chains_by_time ON chains (company_id, received_at) INCLUDE (status, nobody_found)',
    'CREATE INDEX chains_with_failures ON chains (company_id, received_at, chain_id) WHERE failure_types IS NOT NULL',
    // Triggers update these counts, because counting a million rows takes too long. A trigger's argument selects the changes.
    `CREATE TABLE chain_counts (
       company_id text COLLATE "C" NOT NULL, status text COLLATE "C" NOT NULL, chains bigint NOT NULL,
       PRIMARY KEY (company_id, status)
     )`,
    'INSERT INTO chain_counts SELECT company_id, status, count(*) FROM chains GROUP BY company_id, status',
    `CREATE FUNCTION count_chains() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       EXECUTE 'INSERT INTO chain_counts SELECT company_id, status, sum(n) FROM (' || TG_ARGV[0] || ') AS changes
         GROUP BY company_id, status HAVING sum(n) <> 0 ORDER BY company_id, status
         ON CONFLICT (company_id, status) DO UPDATE SET chains = chain_counts.chains + EXCLUDED.chains';
       DELETE FROM chain_counts WHERE TG_OP = 'DELETE' AND chains = 0;
       RETURN NULL;
     END $$`,
    `CREATE TRIGGER count_new AFTER INSERT ON chains REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
       EXECUTE FUNCTION count_chains('SELECT company_id, status, 1 AS n FROM new_rows')`,
    `CREATE TRIGGER count_old AFTER DELETE ON chains REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
       EXECUTE FUNCTION count_chains('SELECT company_id, status, -1 AS n FROM old_rows')`,
    `CREATE TRIGGER count_changed AFTER UPDATE ON chains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
       FOR EACH STATEMENT EXECUTE FUNCTION count_chains(
         'SELECT company_id, status, 1 AS n FROM new_rows UNION ALL SELECT company_id, status, -1 FROM old_rows')`,
  ],
  'cheaper-chains': [
    // Drops `place`, so that the end of a chain does not change the rows of its assignments and tickets.
    'DROP INDEX chain_ids_by_id',
    'ALTER TABLE chain_ids DROP COLUMN place',
    "CREATE INDEX chains_held ON chains (company_id, chain_id) WHERE closed_at IS NULL AND (status = 'needs-attention' OR paused)",
  ],
  'event-assignments': ['ALTER TABLE events ADD COLUMN assignment_id text'],
  'cheaper-rows': [
    'ALTER TABLE chains ADD COLUMN steered boolean',
    // In place of a foreign key, whose check of each row would be slow.
    'ALTER TABLE chain_ids DROP CONSTRAINT chain_ids_company_id_fkey',
    `CREATE FUNCTION delete_chain_ids() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       DELETE FROM chain_ids WHERE company_id = OLD.company_id;
       RETURN NULL;
     END $$`,
    'CREATE TRIGGER delete_ids AFTER DELETE ON companies FOR EACH ROW EXECUTE FUNCTION delete_chain_ids()',
    // These functions have a fixed statement each, which the database plans once.
    'DROP TRIGGER count_new ON chains',
    'DROP TRIGGER count_changed ON chains',
    countChains('count_new_chains', 'SELECT company_id, status, 1 AS n FROM new_rows'),
    countChains(
      'count_changed_chains',
      'SELECT company_id, status, 1 AS n FROM new_rows UNION ALL SELECT company_id, status, -1 FROM old_rows',
    ),
    `CREATE TRIGGER count_new AFTER INSERT ON chains REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
       EXECUTE FUNCTION count_new_chains()`,
    `CREATE TRIGGER count_changed AFTER UPDATE ON chains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
       FOR EACH STATEMENT EXECUTE FUNCTION count_changed_chains()`,
  ],
};

/** @param changes - SQL that selects the changes of the counts. */
function countChains(name: string, changes: string): string {
  return `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
      INSERT INTO chain_counts SELECT company_id, status, sum(n) FROM (${changes}) AS changes
        GROUP BY company_id, status HAVING sum(n) <> 0 ORDER BY company_id, status
        ON CONFLICT (company_id, status) DO UPDATE SET chains = chain_counts.chains + EXCLUDED.chains;
      RETURN NULL;
    END $$`;
}

export interface Migration {
  name: string; // shown in error messages
  statements: readonly string[];
}

export const migrations: readonly Migration[] = Object.entries(statementsOf).map(([name, statements]) => ({ name, statements }));

const lock = 7_353_529; // the id of an advisory lock, which other programs in this database must not use

export class NewerSchemaError extends StartError {
  override readonly name = 'NewerSchemaError';
}

/** Updates the schema in one transaction. Processes that start together wait for each other. */
export async function migrate(database: Database, known = migrations): Promise<void> {
  await database.transaction(async (queries) => {
    await queries.query('SELECT pg_advisory_xact_lock($1::bigint)', [lock]);
    await queries.query('CREATE TABLE IF NOT EXISTS relay_schema (version integer NOT NULL)');
    const schema = z.object({ version: z.int() });
    const [{ version } = { version: 0 }] = await read(queries, schema, 'SELECT version FROM relay_schema');
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

export async function migrated(database: Database): Promise<Database> {
  await migrate(database).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  return database;
}
