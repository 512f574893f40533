/** The companies and their settings. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { mailSettingsSchema, notifySchema, platformSettingsSchema, ticketingSettingsSchema } from '../connectors/settings.js';
import { type Actor, recordDeed } from './audit.js';
import { type Database, json, type Page, type PageRequest, page, type Queries, read, withoutNulls } from './database.js';
import type { Company } from './store.js';

const columns = `company_id AS "companyId", name, time_zone AS "timeZone", notify, platform, ticketing, mail,
  webhook_secret AS "webhookSecret", created_at AS "createdAt", updated_at AS "updatedAt"`;
const companyRow = z
  .object({
    companyId: z.string(),
    name: z.string(),
    timeZone: z.string(),
    notify: notifySchema.nullable(),
    platform: platformSettingsSchema.nullable(),
    ticketing: ticketingSettingsSchema.nullable(),
    mail: mailSettingsSchema.nullable(),
    webhookSecret: z.string().nullable(),
    createdAt: z.date(),
    updatedAt: z.date(),
  })
  .transform(withoutNulls);

export interface StoredCompany extends Company {
  createdAt: Date;
  updatedAt: Date;
}

export class Companies {
  constructor(private readonly database: Database) {}

  async get(companyId: string): Promise<StoredCompany | undefined> {
    const [company] = await read(this.database, companyRow, `SELECT ${columns} FROM companies WHERE company_id = $1`, [
      companyId,
    ]);
    return company;
  }

  /** By company id. */
  async list({ after, limit }: PageRequest): Promise<Page<StoredCompany>> {
    const rows = await read(
      this.database,
      companyRow,
      `SELECT ${columns} FROM companies WHERE company_id > $1 ORDER BY company_id LIMIT $2::int`,
      [after ?? '', limit + 1],
    );
    return page(rows, limit, (company) => company.companyId);
  }

  /**
   * Makes or changes a company. `change` gets what is stored, if anything, and nobody else changes it meanwhile;
   * what it throws leaves everything as it was.
   */
  async put(
    companyId: string,
    change: (stored: StoredCompany | undefined) => Company,
    actor: Actor,
  ): Promise<{ company: StoredCompany; created: boolean }> {
    return this.database.transaction(async (queries) => {
      // The empty row first, so that two who make the same company at once come one after the other.
      const made = await queries.query(
        `INSERT INTO companies (company_id, name, time_zone) VALUES ($1, '', '') ON CONFLICT DO NOTHING RETURNING company_id`,
        [companyId],
      );
      const created = made.length > 0;
      const stored = await locked(queries, companyId);
      const next = change(created ? undefined : stored);
      const [company] = await read(
        queries,
        companyRow,
        `UPDATE companies SET name = $2, time_zone = $3, notify = $4::text::jsonb, platform = $5::text::jsonb,
           ticketing = $6::text::jsonb, mail = $7::text::jsonb, webhook_secret = $8, updated_at = now()
         WHERE company_id = $1 RETURNING ${columns}`,
        [
          companyId,
          next.name,
          next.timeZone,
          json(next.notify),
          json(next.platform),
          json(next.ticketing),
          json(next.mail),
          next.webhookSecret ?? null,
        ],
      );
      if (!company) throw new Error(`Company ${companyId} vanished while it was locked`);
      await recordDeed(queries, {
        actor,
        action: created ? 'company.create' : 'company.update',
        companyId,
        details: created ? { name: next.name } : { changed: changedFields(stored, company) },
      });
      return { company, created };
    });
  }

  /** Deletes the company with its rules, tokens and keys. @returns whether there was one. */
  async delete(companyId: string, actor: Actor): Promise<boolean> {
    return this.database.transaction(async (queries) => {
      const deleted = await read(
        queries,
        z.object({ name: z.string() }),
        'DELETE FROM companies WHERE company_id = $1 RETURNING name',
        [companyId],
      );
      for (const { name } of deleted)
        await recordDeed(queries, { actor, action: 'company.delete', companyId, details: { name } });
      return deleted.length > 0;
    });
  }
}

async function locked(queries: Queries, companyId: string): Promise<StoredCompany | undefined> {
  const [company] = await read(queries, companyRow, `SELECT ${columns} FROM companies WHERE company_id = $1 FOR UPDATE`, [
    companyId,
  ]);
  return company;
}

/** The names of the fields that differ; never their values, which may be secret. */
export function changedFields(before: object | undefined, after: object): string[] {
  const old = new Map(Object.entries(before ?? {}));
  const now = new Map(Object.entries(after));
  return [...new Set([...old.keys(), ...now.keys()])].filter(
    (field) => field !== 'updatedAt' && !isDeepStrictEqual(old.get(field), now.get(field)),
  );
}
