/** The audit log. Each entry is written in the same transaction as the change that the entry records. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type AuditEvent, auditEntrySchema } from '../contract/audit.js';
import { type Database, type PageRequest, type Parameter, type Queries, read, Table } from './database.js';

const entries = new Table('(SELECT seq::text AS audit_id, * FROM audit) AS audit', auditEntrySchema);
export const events = new Table('audit', auditEntrySchema.omit({ auditId: true }));

/** Records a change of settings, so that other processes read it. Call this last in a transaction, so that its lock is short. */
export async function recordChange(queries: Queries, event: AuditEvent): Promise<void> {
  await recordEvent(queries, event);
  const raise = `WITH next AS (UPDATE settings_revision SET revision = revision + 1 RETURNING revision)
    INSERT INTO settings_changes SELECT $1, revision FROM next
    ON CONFLICT (company_id) DO UPDATE SET revision = excluded.revision`;
  await queries.query(raise, [event.companyId ?? '']);
}

export async function recordEvent(queries: Queries, event: AuditEvent): Promise<void> {
  await events.insert(queries, event);
}

/** Deletes a row and writes an audit entry. @param from - such as `rules WHERE relay_id = $1` @returns whether the row existed */
export function deleteNamed(database: Database, from: string, ids: readonly Parameter[], event: AuditEvent): Promise<boolean> {
  return database.transaction(async (queries) => {
    const deleted = await read(queries, z.object({ name: z.string() }), `DELETE FROM ${from} RETURNING name`, ids);
    for (const { name } of deleted) await recordChange(queries, { ...event, details: { ...event.details, name } });
    return deleted.length > 0;
  });
}

/** Returns only the names of changed fields, because values may be secret. */
export function changedFields(before: Record<string, unknown> = {}, after: Record<string, unknown>): string[] {
  const fields = Object.keys({ ...before, ...after }).filter((field) => field !== 'updatedAt');
  return fields.filter((field) => !isDeepStrictEqual(before[field], after[field]));
}

export const auditIn = (database: Database) => ({
  record: (event: AuditEvent) => recordEvent(database, event),

  list: ({ companyId, since, until, ...request }: PageRequest & { companyId?: string; since?: string; until?: string }) => {
    const where = `($1::text IS NULL OR company_id = $1) AND ($2::text IS NULL OR at >= $2::text::timestamptz)
      AND ($3::text IS NULL OR at < $3::text::timestamptz)`;
    return entries.page(database, where, [companyId ?? null, since ?? null, until ?? null], 'seq DESC', request);
  },
});
