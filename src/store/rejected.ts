/** Requests that were refused although their sender is known: kept without their tokens, bounded in number and age, to be sent again. */

import { z } from 'zod';
import { type RejectionReason, rejectionReasons } from '../contract/rejected-request.js';
import { type Actor, recordDeed } from './audit.js';
import { makeId } from './credential.js';
import { type Database, json, type Page, type PageRequest, page, read, withoutNulls } from './database.js';

/** So many of each reason are kept of a company: a flood of one kind does not push out the others. */
export const keptOfReason = 100;
export const keptDays = 30;

export interface NewRejectedRequest {
  companyId: string;
  receivedAt: Date;
  reason: RejectionReason;
  /** The problem document, as the company may read it: a 401 says more here than it said outwardly. */
  problem: z.infer<typeof keptProblem>;
  /** The rules that it names, each once. */
  relayIds: string[];
  idempotencyKey?: string;
  /** The request's array of actions, without tokens. */
  elements: unknown;
}

const keptProblem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).optional(),
});

const columns = `rejected_id AS "rejectedId", seq::text, received_at AS "receivedAt", reason, problem, relay_ids AS "relayIds",
  idempotency_key AS "idempotencyKey", chain_id AS "chainId", resent_at AS "resentAt"`;
const plainRow = z.object({
  rejectedId: z.string(),
  seq: z.string(),
  receivedAt: z.date(),
  reason: z.enum(rejectionReasons),
  problem: keptProblem,
  relayIds: z.array(z.string()),
  idempotencyKey: z.string().nullable(),
  /** What became of it when it was sent again. */
  chainId: z.string().nullable(),
  resentAt: z.date().nullable(),
});
const listedRow = plainRow.transform(withoutNulls);
const wholeRow = plainRow.extend({ elements: z.array(z.record(z.string(), z.unknown())) }).transform(withoutNulls);

export type ListedRejectedRequest = z.infer<typeof listedRow>;
export type RejectedRequest = z.infer<typeof wholeRow>;

const young = `received_at > now() - interval '${keptDays} days'`;

export class RejectedRequests {
  constructor(private readonly database: Database) {}

  /** Keeps a request, and drops what is too old or too much. @returns its id; undefined where there is no such company. */
  async keep(request: NewRejectedRequest): Promise<string | undefined> {
    const { companyId, receivedAt, reason, problem, relayIds, idempotencyKey, elements } = request;
    const rejectedId = makeId();
    return this.database.transaction(async (queries) => {
      const kept = await queries.query(
        `INSERT INTO rejected_requests (rejected_id, company_id, received_at, reason, problem, relay_ids, idempotency_key, elements)
         SELECT $1, company_id, $3::text::timestamptz, $4, $5::text::json, $6::text[], $7, $8::text::json
         FROM companies WHERE company_id = $2 RETURNING 1`,
        [
          rejectedId,
          companyId,
          receivedAt.toISOString(),
          reason,
          json(problem),
          relayIds,
          idempotencyKey ?? null,
          json(elements),
        ],
      );
      await queries.query(`DELETE FROM rejected_requests WHERE NOT (${young})`);
      await queries.query(
        `DELETE FROM rejected_requests WHERE company_id = $1 AND reason = $2 AND seq <= (
           SELECT seq FROM rejected_requests WHERE company_id = $1 AND reason = $2 ORDER BY seq DESC OFFSET $3::int LIMIT 1)`,
        [companyId, reason, keptOfReason],
      );
      return kept.length > 0 ? rejectedId : undefined;
    });
  }

  /** The newest first. */
  async list(companyId: string, { after, limit }: PageRequest): Promise<Page<ListedRejectedRequest>> {
    const rows = await read(
      this.database,
      listedRow,
      `SELECT ${columns} FROM rejected_requests
       WHERE company_id = $1 AND ${young} AND ($2::bigint IS NULL OR seq < $2::bigint) ORDER BY rejected_requests.seq DESC LIMIT $3::int`,
      [companyId, after ?? null, limit + 1],
    );
    return page(rows, limit, ({ seq }) => seq);
  }

  async get(companyId: string, rejectedId: string): Promise<RejectedRequest | undefined> {
    const [request] = await read(
      this.database,
      wholeRow,
      `SELECT ${columns}, elements FROM rejected_requests WHERE company_id = $1 AND rejected_id = $2 AND ${young}`,
      [companyId, rejectedId],
    );
    return request;
  }

  /** Notes that the request runs as a chain; the first note stays. */
  async noteResent(companyId: string, rejectedId: string, chainId: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (queries) => {
      const noted = await queries.query(
        `UPDATE rejected_requests SET chain_id = $3, resent_at = now()
         WHERE company_id = $1 AND rejected_id = $2 AND chain_id IS NULL RETURNING 1`,
        [companyId, rejectedId, chainId],
      );
      if (noted.length > 0)
        await recordDeed(queries, { actor, action: 'rejected.resend', companyId, details: { rejectedId, chainId } });
    });
  }
}
