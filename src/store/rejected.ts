/** Requests that were refused although their sender is known, bounded in number and age. They are kept without their tokens. */

import type { Actor } from '../contract/audit.js';
import { makeId } from '../contract/credential.js';
import { type ListedRejectedRequest, rejectedSchema, wholeRejectedSchema } from '../contract/problem.js';
import { recordEvent } from './audit.js';
import { type Database, exists, type PageRequest, Table } from './database.js';

const listed = new Table('rejected_requests', rejectedSchema, 'rejectedId');
export const whole = new Table('rejected_requests', wholeRejectedSchema, 'rejectedId');

/** How many of each reason are kept of a company: a flood of one kind does not push out the others. */
export const keptOfReason = 100;
const young = "received_at > now() - interval '30 days'";

/** `problem`: as the company may read it, who learns more of a 401 than was answered. `elements`: the actions, without tokens. */
export interface NewRejectedRequest
  extends Pick<ListedRejectedRequest, 'reason' | 'problem' | 'signature' | 'relayIds' | 'idempotencyKey'> {
  companyId: string;
  receivedAt: Date;
  elements: unknown;
}

/** `mended`: the places of what was changed in it, never what it says. */
interface Resent {
  companyId: string;
  rejectedId: string;
  chainId: string;
  mended?: string[] | undefined;
}

export const rejectedRequestsIn = (database: Database) => ({
  /** Keeps a request, and drops what is too old or too much. @returns its id; undefined where there is no such company. */
  keep: (request: NewRejectedRequest) =>
    database.transaction(async (queries) => {
      const { companyId, reason } = request;
      if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) return undefined;
      const kept = await whole.insert(queries, { ...request, rejectedId: makeId() });
      await queries.query(`DELETE FROM rejected_requests WHERE NOT (${young})`);
      await queries.query(
        `DELETE FROM rejected_requests WHERE company_id = $1 AND reason = $2 AND seq <= (
           SELECT seq FROM rejected_requests WHERE company_id = $1 AND reason = $2 ORDER BY seq DESC OFFSET $3::int LIMIT 1)`,
        [companyId, reason, keptOfReason],
      );
      return kept?.rejectedId;
    }),

  list: (companyId: string, request: PageRequest) =>
    listed.page(database, `company_id = $1 AND ${young}`, [companyId], 'seq DESC', request),
  get: (companyId: string, rejectedId: string) =>
    whole.find(database, `company_id = $1 AND rejected_id = $2 AND ${young}`, [companyId, rejectedId]),

  /** Notes that the request runs as a chain; the first note stays. */
  noteResent: ({ companyId, ...details }: Resent, actor: Actor) =>
    database.transaction(async (queries) => {
      const noted = await queries.query(
        `UPDATE rejected_requests SET chain_id = $3, resent_at = now()
         WHERE company_id = $1 AND rejected_id = $2 AND chain_id IS NULL RETURNING 1`,
        [companyId, details.rejectedId, details.chainId],
      );
      if (noted.length === 0) return;
      await recordEvent(queries, { actor, action: 'rejected.resend', companyId, details });
    }),
});
