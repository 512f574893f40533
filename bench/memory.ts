/**
 * `npm run bench:memory` measures how long the store's lists, counts, searches and health queries take. The command inserts rows,
 * and runs no chain.
 */

import { loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { Database } from '../src/store/database.js';
import { openEmbedded } from '../src/store/embedded.js';
import { openPostgres } from '../src/store/postgres.js';
import { createStore } from '../src/store/store.js';
import { startPostgresql } from '../test/postgresql.js';

const { values } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    rows: { type: 'string' },
    runs: { type: 'string', default: '30' },
    only: { type: 'string' }, // postgresql or pglite
  },
});
const runs = Number(values.runs);

if (values.only !== 'pglite') {
  const server = values['database-url'] ? undefined : await startPostgresql();
  const url = values['database-url'] ?? server?.url;
  if (url === undefined) throw new Error('PostgreSQL is not installed here: apt-get install postgresql, or give --database-url');
  try {
    await measure('PostgreSQL', await openPostgres(url), Number(values.rows ?? 1_000_000));
  } finally {
    await server?.stop();
  }
}
if (values.only !== 'postgresql') await measure('PGlite', await openEmbedded(), Number(values.rows ?? 100_000));

async function measure(name: string, database: Database, rows: number): Promise<void> {
  const store = createStore(database);
  const companyId = `bench-${Date.now()}`;
  const began = performance.now();
  await make(database, companyId, rows);
  for (let other = 1; other <= 3; other++) await make(database, `${companyId}-${other}`, rows / 20);
  await database.query('VACUUM ANALYZE'); // autovacuum does this within some minutes
  console.log(`${name}: ${rows} rows made in ${Math.round((performance.now() - began) / 1000)} s`);
  const page = { limit: 50 };
  const year = new Date(Date.now() - 365 * 86_400_000).toISOString();
  const tests: [string, (run: number) => Promise<unknown>][] = [
    [
      "an assignment's year",
      (run) => store.chains.list(companyId, { assignmentId: `A${1_000_000 + run * 1001}`, since: year }, page),
    ],
    [
      "a rule's 90 days",
      (run) => store.health.rule(companyId, `rule-${run % 20}`, { by: 'day', days: 90, timeZone: 'Europe/Berlin' }),
    ],
    ['search of a prefix', (run) => store.chains.search(companyId, `A10${10 + run}`)],
    ['count by status', () => store.chains.counts(companyId, {})],
    ['list of 50', () => store.chains.list(companyId, {}, page)],
    ['list of 50 failed', () => store.chains.list(companyId, { status: 'failed' }, page)],
    ["company's health, 7 days and by hour", () => store.health.companyNow(companyId, 7)],
  ];
  for (const [test, work] of tests) {
    const took: number[] = [];
    for (let run = 0; run < runs; run++) {
      const start = performance.now();
      await work(run);
      took.push(performance.now() - start);
    }
    took.sort((a, b) => a - b);
    const at = (share: number) => `${took[Math.ceil(share * runs) - 1]?.toFixed(1)} ms`;
    console.log(`| ${name} | ${test} | ${at(0.5)} | ${at(0.95)} |`);
  }
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
  await store.close();
}

/**
 * Inserts chains of the last 400 days, for 40,000 assignments and 20 rules. Every tenth chain has a ticket, and 2 % have failed.
 * The texts are as long as encrypted texts.
 */
async function make(database: Database, companyId: string, rows: number): Promise<void> {
  await database.query("INSERT INTO companies (company_id, name, time_zone) VALUES ($1, $1, 'UTC')", [companyId]);
  await database.query(
    `INSERT INTO rules (company_id, relay_id, name, on_failure, on_unknown)
     SELECT $1, 'rule-' || n, 'Rule', 'hold', 'resend' FROM generate_series(0, 19) AS n`,
    [companyId],
  );
  // The store cancels a statement after 30 seconds, so one statement inserts only a part of the rows.
  for (let from = 1; from <= rows; from += 20_000) await makePart(database, companyId, rows, from, Math.min(rows, from + 19_999));
}

async function makePart(database: Database, companyId: string, rows: number, from: number, to: number): Promise<void> {
  await database.query(
    `INSERT INTO chains (company_id, chain_id, place, received_at, closed_at, done_at, status, failure_types, failed_actions,
       nobody_found, relay_ids, assignment_ids, ticket_ids, summary, details, encryption_key)
     SELECT $1::text, 'chain-' || n, '1' || to_char((at + interval '3 s') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
         || 'chain-' || n, at, at + interval '3 s', at + interval '2 s',
       CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'completed' END,
       CASE WHEN n % 50 = 0 THEN ARRAY['PlatformError'] END, (n % 50 = 0)::int, n % 500 = 0,
       ARRAY['rule-' || (n / 7 % 20)], ARRAY['A' || (1000000 + n::bigint * 7919 % 40000)],
       CASE WHEN n % 10 = 0 THEN ARRAY['T' || n] ELSE '{}' END,
       repeat(md5(n::text), 4), repeat(md5(n::text), 40), ''
     FROM (SELECT n, now() - n * (interval '400 days' / $2::int) AS at FROM generate_series($3::int, $4::int) AS n) AS made`,
    [companyId, rows, from, to],
  );
  for (const [kind, column] of Object.entries({ rule: 'relay_ids', assignment: 'assignment_ids', ticket: 'ticket_ids' }))
    await database.query(
      `INSERT INTO chain_ids (company_id, kind, id, chain_id, received_at, status, nobody_found, took)
       SELECT company_id, '${kind}', unnest(${column}), chain_id, received_at, status, nobody_found, 2 FROM chains
       WHERE company_id = $1 AND chain_id IN (SELECT 'chain-' || n FROM generate_series($2::int, $3::int) AS n)`,
      [companyId, from, to],
    );
}
