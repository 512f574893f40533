/**
 * Data for the check for quiet rules: the last event of each rule, the outages of the relay, and the notices that were sent.
 */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { hoursSchema } from '../contract/rule.js';
import { type Database, read } from './database.js';

const watchedRow = z.object({
  companyId: z.string(),
  relayId: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  expectEvery: z.int().optional(),
  expectWithin: hoursSchema.optional(),
  timeZone: z.string(), // the time zone of the company
  updatedAt: z.iso.datetime(),
  quietSince: z.iso.datetime().optional(),
  lastEvent: z.iso.datetime().optional(),
});
export type WatchedRule = z.infer<typeof watchedRow>;

/** A refused request counts as an event here, because its sender is not silent, and another notice reports the request. */
export const lastEvent = `GREATEST(
      (SELECT received_at FROM events WHERE (company_id, relay_id) = (rules.company_id, rules.relay_id) ORDER BY seq DESC LIMIT 1),
      (SELECT max(received_at) FROM chain_ids WHERE (company_id, kind, id) = (rules.company_id, 'rule', rules.relay_id)),
      (SELECT max(received_at) FROM rejected_requests
        WHERE company_id = rules.company_id AND relay_ids[1] = rules.relay_id))`;
const watched = `SELECT company_id AS "companyId", relay_id AS "relayId", rules.name, enabled, expect_every AS "expectEvery",
    expect_within AS "expectWithin", time_zone AS "timeZone", rules.updated_at AS "updatedAt", quiet_since AS "quietSince",
    ${lastEvent} AS "lastEvent"
  FROM rules JOIN companies USING (company_id) WHERE expect_every IS NOT NULL OR quiet_since IS NOT NULL`;

/** The times in which no API process could accept events. All time before the first record counts as an outage. */
const outages = `SELECT since, until FROM (
    SELECT COALESCE(max(until) OVER (ORDER BY since ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), '1970-01-01Z') AS since,
      since AS until FROM uptimes) AS gaps WHERE until > since
  UNION ALL SELECT max(until), NULL FROM uptimes HAVING max(until) < now() - interval '3 minutes' OR max(until) IS NULL`;
const outageRow = z.object({ since: z.iso.datetime().default('1970-01-01T00:00:00.000Z'), until: z.iso.datetime().optional() });

const dueRow = z.object({ companyId: z.string(), timeZone: z.string(), digestedWeek: z.string().optional() });
const withDigest = `SELECT company_id AS "companyId", time_zone AS "timeZone", digested_week AS "digestedWeek"
  FROM companies WHERE weekly_digest AND jsonb_array_length(notify -> 'emails') > 0`;

export const quietIn = (database: Database) => ({
  watched: () => read(database, watchedRow, watched),
  outages: () => read(database, outageRow, outages),
  /** @param since - ISO 8601. Without `since`, the rule is no longer quiet. */
  setQuiet: (companyId: string, relayId: string, since: string | undefined) =>
    database.query('UPDATE rules SET quiet_since = $3::text::timestamptz WHERE company_id = $1 AND relay_id = $2', [
      ...[companyId, relayId, since ?? null],
    ]),
  withDigest: () => read(database, dueRow, withDigest),
  setDigested: (companyId: string, week: string) =>
    database.query('UPDATE companies SET digested_week = $2 WHERE company_id = $1', [companyId, week]),
});

const longestGapMs = 90_000;

/** Records the times in which this process can accept events. */
export class Uptime {
  #process = randomUUID();
  #beatAt = 0;

  constructor(private readonly database: Database) {}

  /** Call this twice a minute, but only while the process can accept events. */
  async beat(): Promise<void> {
    if (performance.now() - this.#beatAt > longestGapMs) this.#process = randomUUID();
    const extend = `INSERT INTO uptimes VALUES ($1, now(), now()) ON CONFLICT (process) DO UPDATE SET until = now()`;
    await this.database.query(extend, [this.#process]);
    this.#beatAt = performance.now();
    await this.database.query("DELETE FROM uptimes WHERE until < now() - interval '70 days'");
  }
}
