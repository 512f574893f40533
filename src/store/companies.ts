/** The companies with their settings, and planned downtime of them and of their connectors. */

import type { Pausable, Pause } from '../chain/pause.js';
import type { Actor } from '../contract/audit.js';
import { companySchema, type NewCompany, pauseSchema, type StoredCompany } from '../contract/company.js';
import { changedFields, deleteNamed, recordChange } from './audit.js';
import { type Database, exists, type Page, type PageRequest, Table } from './database.js';

const companies = new Table('companies', companySchema);
const pauses = new Table('pauses', pauseSchema);

export class Companies {
  constructor(private readonly database: Database) {}

  get(companyId: string): Promise<StoredCompany | undefined> {
    return companies.find(this.database, 'company_id = $1', [companyId]);
  }

  /** By company id. */
  list(request: PageRequest): Promise<Page<StoredCompany>> {
    return companies.page(this.database, 'true', [], 'company_id ASC', request);
  }

  /**
   * Makes or changes a company. `change` gets what is stored, if anything, and nobody else changes it meanwhile;
   * what it throws leaves everything as it was.
   */
  put(companyId: string, change: (stored: StoredCompany | undefined) => NewCompany, actor: Actor) {
    return this.database.transaction(async (queries) => {
      // The empty row first, so that two who make the same company at once come one after the other.
      const created = (await companies.insert(queries, { companyId, name: '', timeZone: '' })) !== undefined;
      const stored = await companies.find(queries, 'company_id = $1 FOR UPDATE', [companyId]);
      const changed = change(created ? undefined : stored);
      const values = { ...changed, timeZone: changed.timeZone ?? 'UTC' };
      const company = await companies.update(queries, values, 'company_id = $1', [companyId]);
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

const on = '(until IS NULL OR until > now())';
/** So that two who pause the same company at once come one after the other. */
const lockedCompany = 'companies WHERE company_id = $1 FOR UPDATE';

/** What has ended is kept: windows are measured without it. */
export class Pauses {
  constructor(private readonly database: Database) {}

  /** Those of the company that are on now. */
  current(companyId: string): Promise<Pause[]> {
    return pauses.select(this.database, `company_id = $1 AND ${on} ORDER BY what`, [companyId]);
  }

  /** Those that were on at that time or later. */
  since(companyId: string, time: Date): Promise<Pause[]> {
    const where = 'company_id = $1 AND (until IS NULL OR until > $2::text::timestamptz)';
    return pauses.select(this.database, where, [companyId, time.toISOString()]);
  }

  /** Begins a pause, or changes the end and the reason of the one that is on. Undefined: no such company. */
  begin(companyId: string, pause: Omit<Pause, 'since'>, actor: Actor): Promise<Pause | undefined> {
    return this.database.transaction(async (queries) => {
      if (!(await exists(queries, lockedCompany, [companyId]))) return undefined;
      const { what, until = null, reason = null } = pause;
      const change = `UPDATE pauses SET until = $3::text::timestamptz, reason = $4 WHERE company_id = $1 AND what = $2 AND ${on}`;
      const [changed] = await pauses.write(queries, change, [companyId, what, until, reason]);
      const begun = changed ?? (await pauses.insert(queries, { companyId, ...pause }));
      await recordChange(queries, { actor, action: 'company.pause', companyId, details: { ...pause } });
      return begun;
    });
  }

  /** Ends a pause, or all of the company. @returns what was paused; undefined: no such company. */
  end(companyId: string, what: Pausable | undefined, actor: Actor): Promise<Pausable[] | undefined> {
    return this.database.transaction(async (queries) => {
      if (!(await exists(queries, lockedCompany, [companyId]))) return undefined;
      const statement = `UPDATE pauses SET until = now() WHERE company_id = $1 AND ($2::text IS NULL OR what = $2) AND ${on}`;
      const ended = (await pauses.write(queries, statement, [companyId, what ?? null])).map((pause) => pause.what);
      if (ended.length > 0) await recordChange(queries, { actor, action: 'company.resume', companyId, details: { what: ended } });
      return ended;
    });
  }
}
