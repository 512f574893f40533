/** Stores causes and their held actions. If these rows differ from the chains, temporal/causes.ts corrects the rows. */

import { z } from 'zod';
import { type Actor, type AuditEvent, actorName } from '../contract/audit.js';
import { causeSchema, type HeldAction, heldActionSchema, type StoredCause, storedCauseSchema } from '../contract/causes.js';
import { recordEvent } from './audit.js';
import { type Database, exists, type PageRequest, type Parameter, Table } from './database.js';

export const causes = new Table('causes', storedCauseSchema, 'causeId');

const ofCause = 'company_id = $1 AND cause_id = $2';
const held = 'ended_at IS NULL';
/** A number for sorting and for cursors. Rows that are still held come first. Newer rows come before older rows. */
const placeBy = (at: string, ended: string) =>
  `CASE WHEN ${ended} IS NULL THEN 10000000000000000 ELSE 0 END + (EXTRACT(epoch FROM ${at}) * 1000)::bigint * 1000 + seq % 1000 AS place`;
const shownRules = 20;

const tallied = new Table(
  `(SELECT causes.*, tally.*, ${placeBy('tally.last_at', 'tally.ended_at')}
    FROM causes, LATERAL (
      SELECT count(DISTINCT chain_id) FILTER (WHERE ${held})::int AS chains, count(*) FILTER (WHERE ${held})::int AS actions,
        count(DISTINCT assignment_id) FILTER (WHERE ${held})::int AS assignments,
        CASE WHEN count(DISTINCT assignment_id) FILTER (WHERE ${held}) = 1 THEN min(assignment_id) FILTER (WHERE ${held})
          WHEN bool_and(ended_at IS NOT NULL) AND count(DISTINCT assignment_id) = 1 THEN min(assignment_id) END AS assignment_id,
        COALESCE((array_agg(DISTINCT relay_id) FILTER (WHERE ${held}))[1:${shownRules}], '{}') AS relay_ids,
        (array_agg(chain_id ORDER BY since) FILTER (WHERE ${held}))[1] AS chain_id, max(since) AS last_at,
        CASE WHEN bool_and(ended_at IS NOT NULL) THEN max(ended_at) END AS ended_at
      FROM held_actions WHERE held_actions.company_id = causes.company_id AND held_actions.cause_id = causes.cause_id
    ) AS tally WHERE last_at IS NOT NULL) AS causes`,
  causeSchema,
  'causeId',
);
const actions = new Table(`(SELECT *, ${placeBy('since', 'ended_at')} FROM held_actions) AS held_actions`, heldActionSchema);

const problemSchema = storedCauseSchema
  .pick({ causeId: true, reason: true, message: true, title: true })
  .extend({ chainId: z.string(), assignmentId: z.string().optional() });
const problems = new Table(
  `(SELECT causes.*, chain_id, index, assignment_id
    FROM held_actions JOIN causes USING (company_id, cause_id) WHERE ${held}) AS causes`,
  problemSchema,
  'causeId',
);

const occasion = "interval '1 hour'"; // a cause stays taken and silenced if a hold begins within this time after the last hold
const isOver = `NOT EXISTS (SELECT 1 FROM held_actions WHERE ${ofCause} AND (${held} OR ended_at > now() - ${occasion}))`;

const noteHold = `INSERT INTO held_actions (company_id, cause_id, chain_id, index, relay_id, assignment_id, since, held_until)
  VALUES ($1, $2, $3, $4::int, $5, $6, $7::text::timestamptz, $8::text::timestamptz)
  ON CONFLICT (company_id, chain_id, index) DO UPDATE SET cause_id = excluded.cause_id, relay_id = excluded.relay_id,
    assignment_id = excluded.assignment_id, since = excluded.since, held_until = excluded.held_until, ended_at = NULL
  WHERE held_actions.since < excluded.since RETURNING index`;
const endHolds = `UPDATE held_actions SET ended_at = now()
  FROM json_to_recordset($2::text::json) AS over("chainId" text, index int)
  WHERE company_id = $1 AND chain_id = over."chainId" AND held_actions.index = over.index AND ${held}
    AND since <= $3::text::timestamptz`;
const deleteUnused = `DELETE FROM causes WHERE updated_at < now() - ${occasion} AND NOT EXISTS (
  SELECT 1 FROM held_actions WHERE held_actions.company_id = causes.company_id AND held_actions.cause_id = causes.cause_id)`;

/** Holds that ended more than three days ago. If the end of a hold is unknown, the end of its attention window counts. */
const gone = "LEAST(ended_at, held_until) < now() - interval '3 days'";
const pruneEveryMs = 600_000;

export type HeldFor = Pick<StoredCause, 'causeId' | 'reason' | 'message' | 'title' | 'remedy'> & { companyId: string };

export const causesIn = (database: Database) => {
  let prunedAt = 0;
  async function prune(): Promise<void> {
    prunedAt = Date.now();
    await database.query(`DELETE FROM held_actions WHERE ${gone}`);
    await database.query(deleteUnused);
  }
  const change = (statement: string, parameters: readonly Parameter[], event: AuditEvent) =>
    database.transaction(async (queries) => {
      const changed = await causes.write(queries, `UPDATE causes SET ${statement}`, parameters);
      if (changed.length > 0) await recordEvent(queries, event);
      return changed.length > 0;
    });

  return {
    /** Records a held action. Ignores a report that is not newer than the stored hold of this action. */
    async hold({ companyId, ...reason }: HeldFor, action: Omit<HeldAction, 'endedAt'>): Promise<void> {
      if (Date.now() > prunedAt + pruneEveryMs) await prune();
      const { causeId } = reason;
      const { chainId, index, relayId, assignmentId = null, since, heldUntil = null } = action;
      await database.transaction(async (queries) => {
        if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) return;
        const cause = { companyId, ...reason, since };
        const isNew = (await causes.insert(queries, cause)) !== undefined;
        if (!isNew && (await exists(queries, `causes WHERE ${ofCause} AND ${isOver} FOR UPDATE`, [companyId, causeId])))
          await causes.update(queries, cause, { companyId, causeId });
        const wasHeld = await exists(queries, `held_actions WHERE ${ofCause} AND ${held}`, [companyId, causeId]);
        const hold = [companyId, causeId, chainId, index, relayId, assignmentId, since, heldUntil];
        const noted = await queries.query(noteHold, hold);
        if (!wasHeld && noted.length > 0)
          await queries.query(`UPDATE causes SET since = $3::text::timestamptz WHERE ${ofCause}`, [companyId, causeId, since]);
      });
    },

    /** Records the end of holds, except holds that began after `at` (ISO 8601). */
    async end(companyId: string, over: readonly Pick<HeldAction, 'chainId' | 'index'>[], at: string): Promise<void> {
      if (over.length === 0) return;
      const ended = JSON.stringify(over.map(({ chainId, index }) => ({ chainId, index })));
      await database.query(endHolds, [companyId, ended, at]);
    },

    held: (companyId: string) => actions.select(database, `company_id = $1 AND ${held} ORDER BY since`, [companyId]),
    /** Returns the indexes of the actions that are held for a cause. The key of the map is the chain id. */
    heldFor: async (companyId: string, causeId: string) => {
      const indexes = new Map<string, number[]>();
      for (const { chainId, index } of await actions.select(database, `${ofCause} AND ${held}`, [companyId, causeId]))
        indexes.set(chainId, [...(indexes.get(chainId) ?? []), index]);
      return indexes;
    },

    /** Returns why actions of these chains need attention. */
    ofChains: (companyId: string, chainIds: readonly string[]) =>
      problems.select(database, 'company_id = $1 AND chain_id = ANY ($2) ORDER BY index', [companyId, [...chainIds]]),

    list: (companyId: string, request: PageRequest) =>
      tallied.page(database, 'company_id = $1', [companyId], 'place DESC', request),
    get: (companyId: string, causeId: string) => tallied.find(database, ofCause, [companyId, causeId]),
    actions: (companyId: string, causeId: string, request: PageRequest) =>
      actions.page(database, ofCause, [companyId, causeId], 'place DESC', request),

    isSilent: (companyId: string, causeId: string) =>
      exists(database, `causes WHERE ${ofCause} AND silenced_until > now()`, [companyId, causeId]),

    /** @returns false if there is no such cause, or if another person has taken the cause. */
    take: (companyId: string, causeId: string, actor: Actor) =>
      change(
        `taken_by = $3, taken_at = now(), updated_at = now() WHERE ${ofCause} AND COALESCE(taken_by, $3) = $3`,
        [companyId, causeId, actorName(actor)],
        { actor, action: 'cause.take', companyId, details: { causeId } },
      ),

    /** @returns false if there is no such cause, or if nobody has taken the cause. */
    release: (companyId: string, causeId: string, actor: Actor) =>
      change(
        `taken_by = NULL, taken_at = NULL, updated_at = now() WHERE ${ofCause} AND taken_by IS NOT NULL`,
        [companyId, causeId],
        { actor, action: 'cause.release', companyId, details: { causeId } },
      ),

    /** @returns false if there is no such cause. */
    silence: (companyId: string, causeId: string, seconds: number, actor: Actor) =>
      change(
        `silenced_by = CASE WHEN $4::int > 0 THEN $3 END, updated_at = now(),
           silenced_until = CASE WHEN $4::int > 0 THEN now() + $4::int * interval '1 second' END WHERE ${ofCause}`,
        [companyId, causeId, actorName(actor), seconds],
        { actor, action: 'cause.silence', companyId, details: { causeId, seconds } },
      ),
  };
};
