/** Limits the notices of a company. Above the limit, notices wait. Later, the relay sends one digest of the waiting notices. */

import { z } from 'zod';
import type { Joined } from '../contract/notices.js';
import { joinedFacts } from '../contract/notify.js';
import { encrypted } from '../contract/secrets.js';
import { type Database, exists, type Queries, read, Table } from './database.js';

/** A company gets at most `notices` notices within `seconds`, for all causes together. */
export type NoticeBudget = { notices: number; seconds: number };

type Coming = Omit<Joined, 'count'>;

/** The decision about a notice: send it alone, do nothing (a digest contained it), send a digest of waiting notices, or wait. */
export type Turn =
  | { told: 'alone' | 'elsewhere' }
  | { told: 'digest'; joined: readonly Joined[] }
  | { told: 'later'; waitMs: number };

const mostCauses = 300; // the maximum number of causes in one digest; the next digest contains further causes

const stored = z.object({
  companyId: z.string(),
  noticeKey: z.string(),
  causeId: z.string(),
  facts: encrypted(z.string()).optional(),
  toldBy: z.string().optional(),
});
export const notices = new Table('notices', stored, 'noticeKey');
/** The first notice of each cause in a digest. `count` is the number of notices of that cause. */
const firsts = new Table(
  `(SELECT DISTINCT ON (company_id, told_by, cause_id) *, count(*) OVER (PARTITION BY company_id, told_by, cause_id)::int AS count
    FROM notices WHERE facts IS NOT NULL ORDER BY company_id, told_by, cause_id, seq) AS notices`,
  stored.omit({ toldBy: true }).extend({ facts: encrypted(z.string()), count: z.int() }),
  'noticeKey',
);

const ofCompany = 'company_id = $1';
const standing = z.object({
  alone: z.int(), // notices sent alone within the budget's time
  sinceDigest: z.coerce.number().optional(), // milliseconds since the last digest
  waiting: z.coerce.number().optional(), // milliseconds since the oldest waiting notice arrived
});
const selectStanding = `SELECT
  (SELECT count(*)::int FROM notices WHERE ${ofCompany} AND facts IS NULL AND told_at > now() - $2::float8 * interval '1 second') AS alone,
  (SELECT EXTRACT(epoch FROM now() - max(told_at)) * 1000 FROM notices WHERE ${ofCompany} AND facts IS NOT NULL
     AND told_at > now() - $2::float8 * interval '1 second') AS "sinceDigest",
  (SELECT EXTRACT(epoch FROM now() - min(came_at)) * 1000 FROM notices WHERE ${ofCompany} AND told_by IS NULL) AS waiting`;
const insertAlone = `INSERT INTO notices (company_id, notice_key, cause_id, encryption_key, told_at, told_by)
  VALUES ($1, $2, $3, '', now(), $2)`;
const joinWaiting = `UPDATE notices SET told_by = $2, told_at = now() WHERE ${ofCompany} AND told_by IS NULL AND cause_id IN (
  SELECT cause_id FROM notices WHERE ${ofCompany} AND told_by IS NULL
  GROUP BY cause_id ORDER BY cause_id <> $3, min(seq) LIMIT ${mostCauses})`;

const pruneEveryMs = 600_000;
/** The condition for deleting old notices. A delivery lasts up to a day, or longer if there are no workers. */
const gone = "told_at < now() - CASE WHEN delivered THEN interval '7 days' ELSE interval '30 days' END";

export const noticesIn = (database: Database) => {
  let prunedAt = 0;

  const digestOf = async (queries: Queries, companyId: string, key: string): Promise<Joined[]> => {
    const rows = await firsts.select(queries, `${ofCompany} AND told_by = $2 ORDER BY seq`, [companyId, key]);
    return rows.map(({ companyId: _, facts, ...first }) => ({ ...first, ...joinedFacts.parse(JSON.parse(facts)) }));
  };

  return {
    /** All attempts to deliver a notice get the same result, except while the notice waits. Digests get a quarter of `budget`. */
    turn: (companyId: string, { noticeKey, causeId, ...facts }: Coming, budget: NoticeBudget): Promise<Turn> =>
      database.transaction(async (queries): Promise<Turn> => {
        const digests = Math.max(1, Math.floor(budget.notices / 4));
        const spacingMs = (budget.seconds * 1000) / digests;
        // With this lock, the relay decides about one notice of a company at a time. Notices of deleted companies are sent alone.
        if (!(await exists(queries, `companies WHERE ${ofCompany} FOR NO KEY UPDATE`, [companyId]))) return { told: 'alone' };
        if (Date.now() > prunedAt + pruneEveryMs) {
          prunedAt = Date.now();
          await queries.query(`DELETE FROM notices WHERE ${gone}`);
        }
        const known = await notices.find(queries, `${ofCompany} AND notice_key = $2`, [companyId, noticeKey]);
        const digest = async (): Promise<Turn> => ({ told: 'digest', joined: await digestOf(queries, companyId, noticeKey) });
        if (known?.toldBy === noticeKey) return known.facts === undefined ? { told: 'alone' } : digest();
        if (known?.toldBy !== undefined) return { told: 'elsewhere' };

        const [now = { alone: 0 }] = await read(queries, standing, selectStanding, [companyId, budget.seconds]);
        if (now.waiting === undefined && now.alone < budget.notices - digests) {
          await queries.query(insertAlone, [companyId, noticeKey, causeId]);
          return { told: 'alone' };
        }
        if (!known) await notices.insert(queries, { companyId, noticeKey, causeId, facts: JSON.stringify(facts) });
        const { waiting = 0, sinceDigest = spacingMs } = now;
        // The digest waits for further notices. It also waits until enough time has passed since the last digest.
        const waitMs = Math.max(spacingMs / 4 - waiting, spacingMs - sinceDigest);
        if (waitMs > 0) return { told: 'later', waitMs };
        await queries.query(joinWaiting, [companyId, noticeKey, causeId]);
        return digest();
      }),

    /** Records that the notice has reached all contacts that can be reached. */
    delivered: async (companyId: string, noticeKey: string): Promise<void> => {
      await database.query(`UPDATE notices SET delivered = true WHERE ${ofCompany} AND told_by = $2`, [companyId, noticeKey]);
    },
  };
};
