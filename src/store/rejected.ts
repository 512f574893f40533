/** Stores refused requests of known senders, without their tokens. Limits the number and age of stored requests. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Actor, actorName } from '../contract/audit.js';
import { type RefusedCause, refusedCauseSchema } from '../contract/causes.js';
import { makeId } from '../contract/credential.js';
import type { KeptBody, ListedRejectedRequest, ProposedAction, RejectionReason } from '../contract/problem.js';
import { rejectedSchema, wholeRejectedSchema } from '../contract/problem.js';
import { recordEvent } from './audit.js';
import { type Database, exists, type PageRequest, type Parameter, read, Table } from './database.js';

const listed = new Table('rejected_requests', rejectedSchema, 'rejectedId');
export const whole = new Table('rejected_requests', wholeRejectedSchema, 'rejectedId');

/** For each company and reason, the store keeps this many decided requests (sent again or dropped). */
export const keptOfReason = 100;
/** Undecided requests stay for 30 days. For each group of reasons, a rule's undecided requests together have at most `bytes`. */
const rooms: { reasons: readonly RejectionReason[]; bytes: number }[] = [
  { reasons: ['token-expired', 'token-revoked', 'signature'], bytes: 1024 * 1024 }, // these may come from a stranger
  { reasons: ['rate-limited', 'actions-per-day', 'recipients-per-day', 'open-chains'], bytes: 4 * 1024 * 1024 },
];
const roomOfOthers = 4 * 1024 * 1024;
const leastBytes = 1024; // a smaller request counts as this many bytes
const young = "received_at > now() - interval '30 days'";
const undecided = 'chain_id IS NULL AND dropped_at IS NULL';
/** Names the rule of a request in audit entries. */
const ofRule = 'relay_ids[1] AS "relayId"';
const sameRequest = "interval '10 minutes'";

const shownKinds = 100;
/** Groups undecided requests by rule, reason and kind of mistake. Each row has counts and the newest request. `$1`: the company. */
const waiting = new Table(
  `(SELECT newest.*, tally.* FROM (
      SELECT COALESCE(relay_ids[1], '') AS relay_id, max(seq) AS place, count(*)::int AS requests, sum(repeats)::int AS repeated,
        COALESCE(sum(not_kept), 0)::int AS not_kept_of_all, min(received_at) AS since, max(received_at) AS last_at
      FROM rejected_requests WHERE company_id = $1 AND ${undecided} AND ${young} GROUP BY relay_ids[1], reason, mistake
    ) AS tally JOIN rejected_requests AS newest ON company_id = $1 AND seq = place) AS rejected_requests`,
  refusedCauseSchema
    .omit({ message: true, repeats: true, notKept: true })
    .extend({ problem: rejectedSchema.shape.problem, repeated: z.int(), notKeptOfAll: z.int() }),
  'rejectedId',
);

/** The company sees `problem`. `elements` have no tokens. The store calls `propose` only if it stores the request. */
export interface NewRejectedRequest
  extends Pick<ListedRejectedRequest, 'reason' | 'problem' | 'signature' | 'relayIds' | 'idempotencyKey'> {
  companyId: string;
  receivedAt: Date;
  elements: unknown;
  body?: KeptBody;
  mistake?: string;
  propose?: () => ProposedAction[] | undefined;
}

/**
 * `kept`: whether this request is stored. If not, `rejectedId` names the stored request that counts this one. `repeated`: whether
 * an equal request was stored before. `inADay`: the rule's requests with this mistake in a day. `notKept`: how many were not stored.
 */
export interface Keeping {
  rejectedId: string;
  kept: boolean;
  repeated: boolean;
  inADay: number;
  notKept: number;
}

/** `mended` contains the places of edits, never the new values. */
interface Resent {
  companyId: string;
  rejectedId: string;
  chainId: string;
  mended?: string[] | undefined;
  proposed?: true | undefined;
  leftOut?: number[] | undefined;
}

export const rejectedRequestsIn = (database: Database) => ({
  /** Equal requests within ten minutes share a row. @param more - the number of requests that were dropped since the last call */
  keep: ({ propose, ...request }: NewRejectedRequest, more = 0): Promise<Keeping | undefined> =>
    database.transaction(async (queries) => {
      const { companyId, reason, mistake = null, signature, relayIds, idempotencyKey, body, elements } = request;
      const [relayId = ''] = relayIds;
      if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) return undefined;
      await queries.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [companyId]);
      const content = JSON.stringify([reason, signature, relayIds, idempotencyKey, body ?? elements]);
      const fingerprint = hash('sha256', content);
      const count = (update: string, parameters: readonly Parameter[]) =>
        read(queries, z.object({ rejectedId: z.string() }), `${update} RETURNING rejected_id AS "rejectedId"`, parameters);
      const about = async (rejectedId: string, kept: boolean, repeated = false): Promise<Keeping> => {
        const tally = `SELECT COALESCE(sum(1 + repeats), 0)::int AS "inADay", COALESCE(sum(not_kept), 0)::int AS "notKept"
          FROM rejected_requests WHERE company_id = $1 AND relay_ids[1] = $2 AND reason = $3 AND mistake IS NOT DISTINCT FROM $4
            AND received_at > now() - interval '1 day'`;
        const counted = z.object({ inADay: z.int(), notKept: z.int() });
        const [counts] = await read(queries, counted, tally, [companyId, relayId, reason, mistake]);
        return { rejectedId, kept, repeated, ...(counts ?? { inADay: 1, notKept: 0 }) };
      };
      const repeat = `UPDATE rejected_requests SET repeats = repeats + 1
        WHERE company_id = $1 AND fingerprint = $2 AND received_at > now() - ${sameRequest}`;
      const [repeated] = await count(repeat, [companyId, fingerprint]);
      if (repeated) return about(repeated.rejectedId, true, true);

      const room = rooms.find(({ reasons }) => reasons.includes(reason));
      const others = rooms.flatMap(({ reasons }) => reasons);
      const ofRoom = `company_id = $1 AND relay_ids[1] = $2 AND ${room ? '' : 'NOT '}reason = ANY ($3::text[])
        AND ${undecided} AND ${young}`;
      const parameters = [companyId, relayId, room?.reasons ?? others];
      const size = `SELECT COALESCE(sum(bytes), 0)::int AS used FROM rejected_requests WHERE ${ofRoom}`;
      const [{ used } = { used: 0 }] = await read(queries, z.object({ used: z.int() }), size, parameters);
      const bytes = Math.max(leastBytes, Buffer.byteLength(content));
      const isFull = used + bytes > (room?.bytes ?? roomOfOthers);
      const notKept = more + (isFull ? 1 : 0);
      const addNotKept = `UPDATE rejected_requests SET not_kept = COALESCE(not_kept, 0) + $4::int
        WHERE seq = (SELECT max(seq) FROM rejected_requests WHERE ${ofRoom})`;
      const [newest] = notKept === 0 ? [] : await count(addNotKept, [...parameters, notKept]);
      if (isFull) return about(newest?.rejectedId ?? '', false);

      const rejectedId = makeId();
      const proposal = propose?.();
      await whole.insert(queries, { ...request, rejectedId, bytes, fingerprint, mistake, ...(proposal && { proposal }) });
      await queries.query(`DELETE FROM rejected_requests WHERE NOT (${young})`);
      await queries.query(
        `DELETE FROM rejected_requests WHERE company_id = $1 AND reason = $2 AND NOT (${undecided}) AND seq <= (
           SELECT seq FROM rejected_requests WHERE company_id = $1 AND reason = $2 AND NOT (${undecided})
           ORDER BY seq DESC OFFSET $3::int LIMIT 1)`,
        [companyId, reason, keptOfReason],
      );
      return about(rejectedId, true);
    }),

  list: (companyId: string, request: PageRequest) =>
    listed.page(database, `company_id = $1 AND ${young}`, [companyId], 'seq DESC', request),
  get: (companyId: string, rejectedId: string) =>
    whole.find(database, `company_id = $1 AND rejected_id = $2 AND ${young}`, [companyId, rejectedId]),

  /** Returns the groups of undecided requests, the newest group first. */
  waiting: async (companyId: string): Promise<RefusedCause[]> => {
    const kinds = await waiting.select(database, `true ORDER BY place DESC LIMIT ${shownKinds}`, [companyId]);
    return kinds.map(({ problem, repeated, notKeptOfAll, ...kind }) => ({
      ...kind,
      ...{ repeats: repeated, notKept: notKeptOfAll, message: problem.detail || problem.title },
    }));
  },

  /** Records which chain a resent request started. Only the first call has an effect. */
  noteResent: ({ companyId, ...details }: Resent, actor: Actor) =>
    database.transaction(async (queries) => {
      const note = `UPDATE rejected_requests SET chain_id = $3, resent_at = now()
        WHERE company_id = $1 AND rejected_id = $2 AND chain_id IS NULL RETURNING ${ofRule}`;
      const [noted] = await queries.query(note, [companyId, details.rejectedId, details.chainId]);
      if (noted) await recordEvent(queries, { actor, action: 'rejected.resend', companyId, details: { ...details, ...noted } });
    }),

  /** Records the decision to drop the request. A second call changes nothing. @returns false for a resent or unknown request. */
  drop: (companyId: string, rejectedId: string, actor: Actor) =>
    database.transaction(async (queries) => {
      const ids = [companyId, rejectedId];
      const drop = `UPDATE rejected_requests SET dropped_at = now(), dropped_by = $3
        WHERE company_id = $1 AND rejected_id = $2 AND ${undecided} RETURNING ${ofRule}`;
      const [dropped] = await queries.query(drop, [...ids, actorName(actor)]);
      if (dropped) await recordEvent(queries, { actor, action: 'rejected.drop', companyId, details: { rejectedId, ...dropped } });
      const isDropped = 'company_id = $1 AND rejected_id = $2 AND chain_id IS NULL AND dropped_at IS NOT NULL';
      return exists(queries, `rejected_requests WHERE ${isDropped}`, ids);
    }),
});
