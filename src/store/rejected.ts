/** Requests that were refused although their sender is known, bounded in number and age. They are kept without their tokens. */

import { z } from 'zod';
import type { Actor } from '../contract/audit.js';
import { makeId } from '../contract/credential.js';
import { type ListedRejectedRequest, type RejectedRequest, rejectedSchema, wholeRejectedSchema } from '../contract/problem.js';
import { recordChange } from './audit.js';
import { columnsOf, type Database, json, type Page, type PageRequest, page, read } from './database.js';

/** How many of each reason are kept of a company: a flood of one kind does not push out the others. */
export const keptOfReason = 100;
const keptDays = 30;

/** `problem`: as the company may read it, who learns more of a 401 than was answered. `elements`: the actions, without tokens. */
export interface NewRejectedRequest extends Pick<ListedRejectedRequest, 'reason' | 'problem' | 'relayIds' | 'idempotencyKey'> {
  companyId: string;
  receivedAt: Date;
  elements: unknown;
}

const young = `received_at > now() - interval '${keptDays} days'`;

export class RejectedRequests {
  constructor(private readonly database: Database) {}

  /** Keeps a request, and drops what is too old or too much. @returns its id; undefined where there is no such company. */
  async keep(request: NewRejectedRequest): Promise<string | undefined> {
    const { companyId, receivedAt, reason, problem, relayIds, idempotencyKey, elements } = request;
    const rejectedId = makeId();
    return this.database.transaction(async (queries) => {
      const kept = await queries.query(
        `INSERT INTO rejected_requests
           (rejected_id, company_id, received_at, reason, problem, relay_ids, idempotency_key, elements)
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
      rejectedSchema.extend({ cursor: z.string() }),
      `SELECT ${columnsOf(rejectedSchema)}, seq::text AS cursor FROM rejected_requests
       WHERE company_id = $1 AND ${young} AND ($2::bigint IS NULL OR seq < $2::bigint) ORDER BY seq DESC LIMIT $3::int`,
      [companyId, after ?? null, limit + 1],
    );
    return page(rows, limit, ({ cursor }) => cursor);
  }

  async get(companyId: string, rejectedId: string): Promise<RejectedRequest | undefined> {
    const [request] = await read(
      this.database,
      wholeRejectedSchema,
      `SELECT ${columnsOf(wholeRejectedSchema)} FROM rejected_requests
       WHERE company_id = $1 AND rejected_id = $2 AND ${young}`,
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
        await recordChange(queries, { actor, action: 'rejected.resend', companyId, details: { rejectedId, chainId } });
    });
  }
}
