/** The companies and their settings. */

import type { Actor } from '../contract/audit.js';
import { companySchema, type NewCompany, type StoredCompany } from '../contract/company.js';
import { changedFields, deleteNamed, recordChange } from './audit.js';
import { assignmentOf, columnsOf, type Database, type Page, type PageRequest, page, read, valuesOf } from './database.js';

const columns = columnsOf(companySchema);
const settings = companySchema.omit({ companyId: true, createdAt: true, updatedAt: true });

export class Companies {
  constructor(private readonly database: Database) {}

  async get(companyId: string): Promise<StoredCompany | undefined> {
    const select = `SELECT ${columns} FROM companies WHERE company_id = $1`;
    const [company] = await read(this.database, companySchema, select, [companyId]);
    return company;
  }

  /** By company id. */
  async list({ after, limit }: PageRequest): Promise<Page<StoredCompany>> {
    const select = `SELECT ${columns} FROM companies WHERE company_id > $1 ORDER BY company_id LIMIT $2::int`;
    const rows = await read(this.database, companySchema, select, [after ?? '', limit + 1]);
    return page(rows, limit, (company) => company.companyId);
  }

  /**
   * Makes or changes a company. `change` gets what is stored, if anything, and nobody else changes it meanwhile;
   * what it throws leaves everything as it was.
   */
  async put(
    companyId: string,
    change: (stored: StoredCompany | undefined) => NewCompany,
    actor: Actor,
  ): Promise<{ company: StoredCompany; created: boolean }> {
    return this.database.transaction(async (queries) => {
      // The empty row first, so that two who make the same company at once come one after the other.
      const made = await queries.query(
        `INSERT INTO companies (company_id, name, time_zone) VALUES ($1, '', '') ON CONFLICT DO NOTHING RETURNING company_id`,
        [companyId],
      );
      const created = made.length > 0;
      const select = `SELECT ${columns} FROM companies WHERE company_id = $1 FOR UPDATE`;
      const [stored] = await read(queries, companySchema, select, [companyId]);
      const changed = change(created ? undefined : stored);
      const [company] = await read(
        queries,
        companySchema,
        `UPDATE companies SET ${assignmentOf(settings, 'companies', '$2')}, updated_at = now()
         WHERE company_id = $1 RETURNING ${columns}`,
        [companyId, valuesOf({ ...changed, timeZone: changed.timeZone ?? 'UTC' })],
      );
      if (!company) throw new Error(`Company ${companyId} vanished while it was locked`);
      const details = created ? { name: changed.name } : { changed: changedFields(stored, company) };
      await recordChange(queries, { actor, action: created ? 'company.create' : 'company.update', companyId, details });
      return { company, created };
    });
  }

  /** Deletes the company with its rules, tokens and keys. @returns whether there was one. */
  delete(companyId: string, actor: Actor): Promise<boolean> {
    const event = { actor, action: 'company.delete', companyId };
    return deleteNamed(this.database, 'companies WHERE company_id = $1', [companyId], event);
  }
}
