/** Counts the events and chains of rules over time, from the rows of chains and the stored events. */

import { z } from 'zod';
import { bucketStarts } from '../chain/expectation.js';
import { bucketSchema, causeCountSchema, countsSchema, ofRuleSchema, standingSchema } from '../contract/health.js';
import { type Database, type Parameter, read } from './database.js';
import { lastEvent } from './quiet.js';

/** The queries find chains, and events without a chain. They read only indexes. $1: company, $2: start, $3: end, $4: rule. */
const within = 'company_id = $1 AND received_at >= $2::text::timestamptz AND received_at < $3::text::timestamptz';
const events = `FROM events WHERE ${within} AND outcome <> 'chain'`;
const ofCompany = `(SELECT received_at, status, nobody_found FROM chains WHERE ${within}
  UNION ALL SELECT received_at, NULL, NULL ${events}) AS came`;
const ids = (rule: string) => `FROM chain_ids WHERE ${within} AND kind = 'rule' AND id ${rule}`;
const came = (rule: string) => `(SELECT received_at, status, nobody_found, took, id AS relay_id ${ids(rule)}
  UNION ALL SELECT received_at, NULL, NULL, NULL, relay_id ${events} AND relay_id ${rule}) AS came`;
const [ofRule, ofRules] = [came('= $4'), came('= ANY (ARRAY(SELECT relay_id FROM rules WHERE rules.company_id = $1))')];

const counts = `count(*)::int AS events, count(status)::int AS chains,
  (count(*) FILTER (WHERE status IN ('failed', 'terminated', 'forgotten')))::int AS failed, (count(*) FILTER (WHERE nobody_found))::int AS nobody`;
const percentile = (share: number) =>
  `percentile_cont(${share}) WITHIN GROUP (ORDER BY took) FILTER (WHERE status = 'completed')`;
const countsAndTimes = `${counts}, ${percentile(0.5)} AS p50, ${percentile(0.95)} AS p95`;

const causesOfRule = `SELECT type, count(*)::int AS chains FROM chains, unnest(failure_types) AS type
  WHERE company_id = $1 AND chain_id IN (
    SELECT chain_id FROM chains WHERE ${within} AND failure_types IS NOT NULL INTERSECT SELECT chain_id ${ids('= $4')})
  GROUP BY type ORDER BY chains DESC, type LIMIT 10`;
const standings = `SELECT relay_id AS "relayId", name, enabled, expect_every AS "expectEvery", quiet_since AS "quietSince",
    CASE WHEN quiet_since IS NOT NULL THEN ${lastEvent} END AS "lastEvent",
    (SELECT count(DISTINCT chain_id)::int FROM held_actions
      WHERE (company_id, relay_id) = (rules.company_id, rules.relay_id) AND ended_at IS NULL) AS held
  FROM rules WHERE company_id = $1 AND ($2::text IS NULL OR relay_id = $2) ORDER BY seq`;
const countRefused = `SELECT count(*)::int AS refused FROM rejected_requests WHERE ${within}`;

const hourRow = countsSchema.extend({ at: z.iso.datetime() });
const oldestRow = z.object({ at: z.iso.datetime().optional() });
const none: Omit<z.infer<typeof ofRuleSchema>, 'relayId'> = { events: 0, chains: 0, failed: 0, nobody: 0 };
const [dayMs, weekMs] = [86_400_000, 7 * 86_400_000];
const iso = (time: number) => new Date(time).toISOString();

export const healthIn = (database: Database) => {
  const standing = (companyId: string, relayId: string | null) => read(database, standingSchema, standings, [companyId, relayId]);
  const byRule = async (companyId: string, since: string, until: string) => {
    const select = `SELECT relay_id AS "relayId", ${countsAndTimes} FROM ${ofRules} GROUP BY relay_id`;
    const rows = await read(database, ofRuleSchema, select, [companyId, since, until]);
    return new Map(rows.map((row) => [row.relayId, row]));
  };
  const hours = (companyId: string, since: number, until: number) => {
    const select = `SELECT date_trunc('hour', received_at, 'UTC') AS at, ${counts} FROM ${ofCompany} GROUP BY 1`;
    return read(database, hourRow, select, [companyId, iso(since), iso(until)]);
  };
  return {
    /** @param of - `timeZone`: the days begin at midnight in this time zone */
    rule: async (
      companyId: string,
      relayId: string,
      of: { by: 'hour' | 'day'; days: number; timeZone: string },
      now = Date.now(),
    ) => {
      const starts = bucketStarts(of.by, of.days, of.timeZone, now);
      const parameters: Parameter[] = [companyId, starts[0] ?? '', iso(now), relayId];
      // Parses the list of starts once, not for each row.
      const buckets = `WITH bounds AS MATERIALIZED (SELECT $5::text[]::timestamptz[] AS starts)
        SELECT starts[width_bucket(received_at, starts)] AS at, ${countsAndTimes} FROM ${ofRule}, bounds GROUP BY 1 ORDER BY 1`;
      const [[known], counted, causes] = await Promise.all([
        standing(companyId, relayId),
        read(database, bucketSchema, buckets, [...parameters, starts]),
        read(database, causeCountSchema, causesOfRule, parameters),
      ]);
      return { ...known, buckets: counted, causes };
    },

    /** Counts by rule for the last `days` days, and for as many days before. Also counts by hour, and usual counts, for one day. */
    companyNow: async (companyId: string, days: number, now = Date.now()) => {
      const [middle, first] = [now - days * dayMs, now - 2 * days * dayMs];
      const lastHour = Math.floor(now / 3_600_000) * 3_600_000;
      const dayBefore = (weeks: number) =>
        hours(companyId, lastHour - 23 * 3_600_000 - weeks * weekMs, lastHour + 3_600_000 - weeks * weekMs);
      const oldest = read(database, oldestRow, 'SELECT min(received_at) AS at FROM chains WHERE company_id = $1', [companyId]);
      const [rules, last, before, [began], today, ...weeks] = await Promise.all([
        standing(companyId, null),
        byRule(companyId, iso(middle), iso(now)),
        byRule(companyId, iso(first), iso(middle)),
        oldest,
        ...[0, 1, 2, 3, 4].map(dayBefore),
      ]);
      const at = (rows: readonly z.infer<typeof hourRow>[] = [], time: number) =>
        rows.find((row) => row.at === iso(time)) ?? none;
      const shown = Array.from({ length: 24 }, (_, place) => lastHour - (23 - place) * 3_600_000);
      return {
        rules: rules.map((rule) => ({ ...rule, ...(last.get(rule.relayId) ?? none), before: before.get(rule.relayId) ?? none })),
        hours: shown.map((hour) => {
          const past = weeks.flatMap((rows, place) => {
            const then = hour - (place + 1) * weekMs;
            return began?.at !== undefined && then >= Date.parse(began.at) ? at(rows, then).events : [];
          });
          return { ...at(today, hour), at: iso(hour), usual: median(past) };
        }),
      };
    },

    company: async (companyId: string, since: string, until: string) => {
      const parameters = [companyId, since, until];
      const [rules, counted, [all = none], [refused]] = await Promise.all([
        standing(companyId, null),
        byRule(companyId, since, until),
        read(database, countsSchema, `SELECT ${counts} FROM ${ofCompany}`, parameters),
        read(database, z.object({ refused: z.int() }), countRefused, parameters),
      ]);
      return {
        ...all,
        refused: refused?.refused ?? 0,
        rules: rules.map((rule) => ({ ...rule, ...(counted.get(rule.relayId) ?? none) })),
      };
    },

    /** Returns the minutes of the last 4 weeks in which events came, the oldest first. Each minute is a number, counted from 1970. */
    eventMinutes: async (companyId: string, relayId: string, now = Date.now()): Promise<number[]> => {
      const select = `SELECT DISTINCT floor(EXTRACT(epoch FROM received_at) / 60)::int AS minute FROM ${ofRule} ORDER BY 1`;
      const parameters = [companyId, iso(now - 4 * weekMs), iso(now), relayId];
      const rows = await read(database, z.object({ minute: z.int() }), select, parameters);
      return rows.map(({ minute }) => minute);
    },
  };
};

function median(numbers: number[]): number | undefined {
  const sorted = [...numbers].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
