/** Who did what and when. Entries are written in the transaction of the change that they tell of, and hold no secrets. */

import { z } from 'zod';
import { type Database, json, type Page, type PageRequest, page, type Queries, read, withoutNulls } from './database.js';

const actorSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('admin') }),
  z.object({ kind: z.literal('key'), keyId: z.string(), name: z.string(), companyId: z.string() }),
]);
/** Who asks: the holder of the admin token, or of a company's key. */
export type Actor = z.infer<typeof actorSchema>;

/** As people read it: `admin`, `key dashboard`. */
export function actorName(actor: Actor): string {
  return actor.kind === 'admin' ? 'admin' : `key ${actor.name}`;
}

/** Something done; `action` is `<subject>.<verb>`: `rule.create`, `token.revoke`, `chain.retry`. */
export interface AuditEvent {
  actor: Actor;
  action: string;
  companyId?: string;
  /** Ids and names, never secrets. */
  details?: Record<string, unknown>;
}

const entryRow = z
  .object({
    auditId: z.string(),
    at: z.date(),
    companyId: z.string().nullable(),
    actor: actorSchema,
    action: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .transform(withoutNulls);
export type AuditEntry = z.infer<typeof entryRow>;

/** Writes the entry where the change is being made. */
export async function recordDeed(queries: Queries, deed: AuditEvent): Promise<void> {
  await queries.query(
    'INSERT INTO audit (company_id, actor, action, details) VALUES ($1, $2::text::jsonb, $3, $4::text::jsonb)',
    [deed.companyId ?? null, json(deed.actor), deed.action, json(deed.details ?? {})],
  );
}

export class Audit {
  constructor(private readonly database: Database) {}

  /** For what is done outside the store, such as steering a chain. */
  record(deed: AuditEvent): Promise<void> {
    return recordDeed(this.database, deed);
  }

  /** The newest first; of one company, or of all. */
  async list({ companyId, after, limit }: PageRequest & { companyId?: string }): Promise<Page<AuditEntry>> {
    const rows = await read(
      this.database,
      entryRow,
      `SELECT seq::text AS "auditId", at, company_id AS "companyId", actor, action, details FROM audit
       WHERE ($1::text IS NULL OR company_id = $1) AND ($2::bigint IS NULL OR seq < $2::bigint)
       ORDER BY seq DESC LIMIT $3::int`,
      [companyId ?? null, after ?? null, limit + 1],
    );
    return page(rows, limit, (entry) => entry.auditId);
  }
}
