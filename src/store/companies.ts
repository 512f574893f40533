/** Stores companies with their settings, rules and pauses. */

import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Pausable, Pause } from '../chain/pause.js';
import type { Actor } from '../contract/audit.js';
import { companySchema, type NewCompany, pauseSchema, type StoredCompany } from '../contract/company.js';
import { makeCredential, mostRules } from '../contract/credential.js';
import type { SetByCompany } from '../contract/notify.js';
import { type newRuleRequest, type Rule, ruleSchema, type StoredRule } from '../contract/rule.js';
import { changedFields, deleteNamed, recordChange } from './audit.js';
import { noteContacts } from './contacts.js';
import { addToken } from './credentials.js';
import { type Database, exists, type PageRequest, read, Table } from './database.js';
import type { Pepper } from './pepper.js';

export const companies = new Table('companies', companySchema);
const ofCompany = 'company_id = $1';

/** The uses of an id in any letter case. `by`: another company with this id. `deletedAt`: the last deletion of such a company. */
const usedIdRow = z.object({ by: z.string().optional(), deletedAt: z.iso.datetime().optional() });
export type UsedId = z.infer<typeof usedIdRow>;
const selectUsedId = `SELECT
  (SELECT company_id FROM companies WHERE lower(company_id) = lower($1) AND company_id <> $1 LIMIT 1) AS by,
  (SELECT max(at) FROM audit WHERE lower(company_id) = lower($1) AND action = 'company.delete') AS "deletedAt"`;

export const companiesIn = (database: Database) => ({
  get: (companyId: string) => companies.find(database, ofCompany, [companyId]),
  list: (request: PageRequest) => companies.page(database, 'true', [], 'company_id ASC', request),

  /** `change` gets the locked company, or undefined for a new company. If `change` throws, nothing changes. */
  put: (companyId: string, change: (stored: StoredCompany | undefined, usedId: UsedId) => NewCompany, actor: Actor) =>
    database.transaction(async (queries) => {
      // With this lock, companies with ids that differ only in letter case are created one after the other.
      await queries.query('SELECT pg_advisory_xact_lock(hashtext(lower($1::text)))', [companyId]);
      // Insert an empty row first. Another request that creates the same company then waits for this transaction.
      const created = (await companies.insert(queries, { companyId, name: '', timeZone: '' })) !== undefined;
      const stored = await companies.find(queries, `${ofCompany} FOR UPDATE`, [companyId]);
      const [usedId = {}] = created ? await read(queries, usedIdRow, selectUsedId, [companyId]) : [];
      const changed = change(created ? undefined : stored, usedId);
      await noteContacts(queries, companyId, { before: stored?.notify, after: changed.notify }, actor);
      const values = { ...changed, timeZone: changed.timeZone ?? 'UTC' };
      const company = await companies.update(queries, values, { companyId });
      const details = created ? { name: changed.name } : { changed: changedFields(stored, company) };
      await recordChange(queries, { actor, action: created ? 'company.create' : 'company.update', companyId, details });
      return { company, created };
    }),

  /** Whether a company with exactly this id was ever deleted. */
  wasDeleted: (companyId: string) => exists(database, "audit WHERE company_id = $1 AND action = 'company.delete'", [companyId]),

  /** Deletes the company, but not its audit entries. @returns whether the company existed. */
  delete: (companyId: string, actor: Actor) => {
    const event = { actor, action: 'company.delete' as const, companyId, details: {} };
    return deleteNamed(database, `companies WHERE ${ofCompany}`, [companyId], event);
  },
});

export const rules = new Table('rules', ruleSchema.extend({ companyId: z.string() }), 'relayId');
const named = 'company_id = $1 AND relay_id = $2';

export type NewRule = z.infer<typeof newRuleRequest> & SetByCompany;
type ChangedRule = Pick<NewRule, 'notify' | 'setByCompany' | 'expectEvery' | 'expectWithin'> &
  Pick<Rule, 'name' | 'enabled' | 'onFailure' | 'onUnknown'>;

export const rulesIn = (database: Database, pepper: Pepper) => ({
  get: (companyId: string, relayId: string) => rules.find(database, named, [companyId, relayId]),
  list: (companyId: string, request: PageRequest) => rules.page(database, ofCompany, [companyId], 'seq ASC', request),

  /** Creates an enabled rule with one token. Only this call returns the token. */
  create: (companyId: string, { relayAccessToken = makeCredential('rlt_'), ...given }: NewRule, actor: Actor) =>
    database.transaction(async (queries) => {
      if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) return 'unknown company';
      if (await exists(queries, `rules WHERE company_id = $1 OFFSET ${mostRules - 1} LIMIT 1`, [companyId])) return 'too many';
      await noteContacts(queries, companyId, { after: given.notify }, actor);
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

  /** `change` gets the locked rule. If `change` throws, nothing changes. @returns undefined if there is no such rule. */
  update: (companyId: string, relayId: string, change: (stored: StoredRule) => ChangedRule, actor: Actor) =>
    database.transaction(async (queries) => {
      const stored = await rules.find(queries, `${named} FOR UPDATE`, [companyId, relayId]);
      if (!stored) return undefined;
      const changed = change(stored);
      await noteContacts(queries, companyId, { before: stored.notify, after: changed.notify }, actor);
      const { published, shadow } = stored;
      const rule = await rules.update(queries, { ...changed, published, shadow }, { companyId, relayId });
      const details = { relayId, changed: changedFields(stored, rule) };
      await recordChange(queries, { actor, action: 'rule.update', companyId, details });
      return rule;
    }),

  /** Whether a rule with exactly this id was ever deleted, alone or with its company. */
  wasDeleted: (companyId: string, relayId: string) => {
    const ofRule = "(action = 'rule.delete' AND details->>'relayId' = $2)";
    return exists(database, `audit WHERE company_id = $1 AND (${ofRule} OR action = 'company.delete')`, [companyId, relayId]);
  },

  /** Deletes the rule and its tokens. @returns whether the rule existed. */
  delete: (companyId: string, relayId: string, actor: Actor) => {
    const event = { actor, action: 'rule.delete' as const, companyId, details: { relayId } };
    return deleteNamed(database, `rules WHERE ${named}`, [companyId, relayId], event);
  },
});

export const pauses = new Table('pauses', pauseSchema);
const on = '(until IS NULL OR until > now())';
const lockedCompany = 'companies WHERE company_id = $1 FOR UPDATE'; // with this lock, only one call changes pauses at a time

/** Ended pauses stay stored, because attention windows do not count paused time. */
export const pausesIn = (database: Database) => ({
  current: (companyId: string) => pauses.select(database, `${ofCompany} AND ${on} ORDER BY what`, [companyId]),

  /** Pauses that have no end, or that end after `time` (ISO 8601). */
  since: (companyId: string, time: string) =>
    pauses.select(database, `${ofCompany} AND (until IS NULL OR until > $2::text::timestamptz)`, [companyId, time]),

  /** Begins a pause, or changes the end and the reason of the current pause. @returns undefined if there is no such company. */
  begin: (companyId: string, pause: Omit<Pause, 'since'>, actor: Actor) =>
    database.transaction(async (queries) => {
      if (!(await exists(queries, lockedCompany, [companyId]))) return undefined;
      const remove = `DELETE FROM pauses WHERE ${ofCompany} AND what = $2 AND ${on} RETURNING since::text`;
      const [before] = await read(queries, z.object({ since: z.string() }), remove, [companyId, pause.what]);
      const begun = await pauses.insert(queries, { companyId, ...pause, ...before });
      await recordChange(queries, { actor, action: 'company.pause', companyId, details: { ...pause } });
      return begun;
    }),

  /** Ends one pause, or all pauses. @returns the ended pauses; undefined if there is no such company. */
  end: (companyId: string, what: Pausable | undefined, actor: Actor) =>
    database.transaction(async (queries) => {
      if (!(await exists(queries, lockedCompany, [companyId]))) return undefined;
      const statement = `UPDATE pauses SET until = now() WHERE company_id = $1 AND ($2::text IS NULL OR what = $2) AND ${on}`;
      const ended = (await pauses.write(queries, statement, [companyId, what ?? null])).map((pause) => pause.what);
      if (ended.length > 0) await recordChange(queries, { actor, action: 'company.resume', companyId, details: { what: ended } });
      return ended;
    }),
});
