/** The companies with their settings, their rules, and planned downtime of them and of their connectors. */

import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Pausable, Pause } from '../chain/pause.js';
import type { Actor } from '../contract/audit.js';
import { companySchema, type NewCompany, pauseSchema, type StoredCompany } from '../contract/company.js';
import { makeCredential, mostRules } from '../contract/credential.js';
import { type newRuleRequest, type Rule, ruleSchema, type StoredRule } from '../contract/rule.js';
import { changedFields, deleteNamed, recordChange } from './audit.js';
import { addToken } from './credentials.js';
import { type Database, exists, type PageRequest, read, Table } from './database.js';
import type { Pepper } from './pepper.js';

export const companies = new Table('companies', companySchema);
const ofCompany = 'company_id = $1';

/** Who has an id that differs only in case, and when a company of this id was last deleted, in whatever case. */
const usedIdRow = z.object({ by: z.string().optional(), deletedAt: z.iso.datetime().optional() });
export type UsedId = z.infer<typeof usedIdRow>;
const selectUsedId = `SELECT
  (SELECT company_id FROM companies WHERE lower(company_id) = lower($1) AND company_id <> $1 LIMIT 1) AS by,
  (SELECT max(at) FROM audit WHERE lower(company_id) = lower($1) AND action = 'company.delete') AS "deletedAt"`;

export const companiesIn = (database: Database) => ({
  get: (companyId: string) => companies.find(database, ofCompany, [companyId]),
  list: (request: PageRequest) => companies.page(database, 'true', [], 'company_id ASC', request),

  /** `change` gets what is stored, if anything, which nobody else changes meanwhile; what it throws leaves all as it was. */
  put: (companyId: string, change: (stored: StoredCompany | undefined, usedId: UsedId) => NewCompany, actor: Actor) =>
    database.transaction(async (queries) => {
      // So that two ids that differ only in case are made one after the other.
      await queries.query('SELECT pg_advisory_xact_lock(hashtext(lower($1::text)))', [companyId]);
      // The empty row first, so that two who make the same company at once come one after the other.
      const created = (await companies.insert(queries, { companyId, name: '', timeZone: '' })) !== undefined;
      const stored = await companies.find(queries, `${ofCompany} FOR UPDATE`, [companyId]);
      const [usedId = {}] = created ? await read(queries, usedIdRow, selectUsedId, [companyId]) : [];
      const changed = change(created ? undefined : stored, usedId);
      const values = { ...changed, timeZone: changed.timeZone ?? 'UTC' };
      const company = await companies.update(queries, values, { companyId });
      const details = created ? { name: changed.name } : { changed: changedFields(stored, company) };
      await recordChange(queries, { actor, action: created ? 'company.create' : 'company.update', companyId, details });
      return { company, created };
    }),

  /** Whether one of this very id was deleted, at whatever time. */
  wasDeleted: (companyId: string) => exists(database, "audit WHERE company_id = $1 AND action = 'company.delete'", [companyId]),

  /** With all that is stored of it but the audit. @returns whether there was one. */
  delete: (companyId: string, actor: Actor) => {
    const event = { actor, action: 'company.delete', companyId, details: {} };
    return deleteNamed(database, `companies WHERE ${ofCompany}`, [companyId], event);
  },
});

export const rules = new Table('rules', ruleSchema.extend({ companyId: z.string() }), 'relayId');
const named = 'company_id = $1 AND relay_id = $2';

export type NewRule = z.infer<typeof newRuleRequest>;
type ChangedRule = Pick<NewRule, 'notify'> & Pick<Rule, 'name' | 'enabled' | 'onFailure' | 'onUnknown'>;

export const rulesIn = (database: Database, pepper: Pepper) => ({
  get: (companyId: string, relayId: string) => rules.find(database, named, [companyId, relayId]),
  list: (companyId: string, request: PageRequest) => rules.page(database, ofCompany, [companyId], 'seq ASC', request),

  /** Makes an enabled rule with one token, of which this is the only sight. */
  create: (companyId: string, { relayAccessToken = makeCredential('rlt_'), ...given }: NewRule, actor: Actor) =>
    database.transaction(async (queries) => {
      if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) return 'unknown company';
      if (await exists(queries, `rules WHERE company_id = $1 OFFSET ${mostRules - 1} LIMIT 1`, [companyId])) return 'too many';
      let rule: StoredRule | undefined;
      do {
        const relayId = given.relayId ?? String(randomInt(100_000_000_000, 1_000_000_000_000));
        rule = await rules.insert(queries, { ...given, companyId, relayId });
      } while (!rule && given.relayId === undefined);
      if (!rule) return 'relayId taken';
      const { relayId, name } = rule;
      const tokenId = await addToken(queries, pepper, { companyId, relayId, relayAccessToken });
      await recordChange(queries, { actor, action: 'rule.create', companyId, details: { relayId, name, tokenId } });
      return { rule, tokenId, relayAccessToken };
    }),

  /** As `put` of companies. Undefined: no such rule. */
  update: (companyId: string, relayId: string, change: (stored: StoredRule) => ChangedRule, actor: Actor) =>
    database.transaction(async (queries) => {
      const stored = await rules.find(queries, `${named} FOR UPDATE`, [companyId, relayId]);
      if (!stored) return undefined;
      const rule = await rules.update(queries, change(stored), { companyId, relayId });
      const details = { relayId, changed: changedFields(stored, rule) };
      await recordChange(queries, { actor, action: 'rule.update', companyId, details });
      return rule;
    }),

  /** Whether one of this very id was deleted at whatever time, by itself or with the company. */
  wasDeleted: (companyId: string, relayId: string) => {
    const ofRule = "(action = 'rule.delete' AND details->>'relayId' = $2)";
    return exists(database, `audit WHERE company_id = $1 AND (${ofRule} OR action = 'company.delete')`, [companyId, relayId]);
  },

  /** With its tokens. @returns whether there was one. */
  delete: (companyId: string, relayId: string, actor: Actor) => {
    const event = { actor, action: 'rule.delete', companyId, details: { relayId } };
    return deleteNamed(database, `rules WHERE ${named}`, [companyId, relayId], event);
  },
});

export const pauses = new Table('pauses', pauseSchema);
const on = '(until IS NULL OR until > now())';
/** So that two who pause the same company at once come one after the other. */
const lockedCompany = 'companies WHERE company_id = $1 FOR UPDATE';

/** What has ended is kept: windows are measured without it. */
export const pausesIn = (database: Database) => ({
  /** Those that are on now. */
  current: (companyId: string) => pauses.select(database, `${ofCompany} AND ${on} ORDER BY what`, [companyId]),

  /** Those that were on at that time or later; ISO 8601. */
  since: (companyId: string, time: string) =>
    pauses.select(database, `${ofCompany} AND (until IS NULL OR until > $2::text::timestamptz)`, [companyId, time]),

  /** Begins a pause, or changes the end and the reason of the one that is on. Undefined: no such company. */
  begin: (companyId: string, pause: Omit<Pause, 'since'>, actor: Actor) =>
    database.transaction(async (queries) => {
      if (!(await exists(queries, lockedCompany, [companyId]))) return undefined;
      const remove = `DELETE FROM pauses WHERE ${ofCompany} AND what = $2 AND ${on} RETURNING since::text`;
      const [before] = await read(queries, z.object({ since: z.string() }), remove, [companyId, pause.what]);
      const begun = await pauses.insert(queries, { companyId, ...pause, ...before });
      await recordChange(queries, { actor, action: 'company.pause', companyId, details: { ...pause } });
      return begun;
    }),

  /** Ends a pause, or all of the company. @returns what was paused; undefined: no such company. */
  end: (companyId: string, what: Pausable | undefined, actor: Actor) =>
    database.transaction(async (queries) => {
      if (!(await exists(queries, lockedCompany, [companyId]))) return undefined;
      const statement = `UPDATE pauses SET until = now() WHERE company_id = $1 AND ($2::text IS NULL OR what = $2) AND ${on}`;
      const ended = (await pauses.write(queries, statement, [companyId, what ?? null])).map((pause) => pause.what);
      if (ended.length > 0) await recordChange(queries, { actor, action: 'company.resume', companyId, details: { what: ended } });
      return ended;
    }),
});
