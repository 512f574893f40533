/** Planned downtime of companies and of their connectors. What has ended is kept: windows are measured without it. */

import type { Pausable, Pause } from '../chain/pause.js';
import type { Actor } from '../contract/audit.js';
import { pauseSchema } from '../contract/pause.js';
import { recordChange } from './audit.js';
import { columnsOf, type Database, exists, read } from './database.js';

const columns = columnsOf(pauseSchema);
const on = '(until IS NULL OR until > now())';
/** So that two who pause the same company at once come one after the other. */
const lockedCompany = 'companies WHERE company_id = $1 FOR UPDATE';

export class Pauses {
  constructor(private readonly database: Database) {}

  /** Those of the company that are on now. */
  current(companyId: string): Promise<Pause[]> {
    const select = `SELECT ${columns} FROM pauses WHERE company_id = $1 AND ${on} ORDER BY what`;
    return read(this.database, pauseSchema, select, [companyId]);
  }

  /** Those that were on at that time or later. */
  since(companyId: string, time: Date): Promise<Pause[]> {
    const where = 'company_id = $1 AND (until IS NULL OR until > $2::text::timestamptz)';
    return read(this.database, pauseSchema, `SELECT ${columns} FROM pauses WHERE ${where}`, [companyId, time.toISOString()]);
  }

  /** Begins a pause, or changes the end and the reason of the one that is on. Undefined: no such company. */
  async begin(companyId: string, pause: Omit<Pause, 'since'>, actor: Actor): Promise<Pause | undefined> {
    const { what, until = null, reason = null } = pause;
    return this.database.transaction(async (queries) => {
      if (!(await exists(queries, lockedCompany, [companyId]))) return undefined;
      const values = [companyId, what, until, reason];
      const change = `UPDATE pauses SET until = $3::text::timestamptz, reason = $4 WHERE company_id = $1 AND what = $2 AND ${on}`;
      const insert = 'INSERT INTO pauses (company_id, what, until, reason) VALUES ($1, $2, $3::text::timestamptz, $4)';
      const [changed] = await read(queries, pauseSchema, `${change} RETURNING ${columns}`, values);
      const [begun] = changed ? [changed] : await read(queries, pauseSchema, `${insert} RETURNING ${columns}`, values);
      await recordChange(queries, { actor, action: 'company.pause', companyId, details: { ...pause } });
      return begun;
    });
  }

  /** Ends a pause, or all of the company. @returns what was paused; undefined: no such company. */
  async end(companyId: string, what: Pausable | undefined, actor: Actor): Promise<Pausable[] | undefined> {
    return this.database.transaction(async (queries) => {
      if (!(await exists(queries, lockedCompany, [companyId]))) return undefined;
      const ended = await read(
        queries,
        pauseSchema.pick({ what: true }),
        `UPDATE pauses SET until = now() WHERE company_id = $1 AND ($2::text IS NULL OR what = $2) AND ${on} RETURNING what`,
        [companyId, what ?? null],
      );
      const named = ended.map((pause) => pause.what);
      if (named.length > 0) await recordChange(queries, { actor, action: 'company.resume', companyId, details: { what: named } });
      return named;
    });
  }
}
