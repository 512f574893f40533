/** The rules of the companies. A rule is known by its `relayId` within its company. */

import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { notifySchema } from '../connectors/settings.js';
import { type Actor, recordDeed } from './audit.js';
import { changedFields } from './companies.js';
import { makeCredential } from './credential.js';
import { type Database, json, type Page, type PageRequest, page, type Queries, read, withoutNulls } from './database.js';
import type { Rule } from './store.js';
import { addToken } from './tokens.js';

const columns = `company_id AS "companyId", relay_id AS "relayId", seq::text, name, enabled, on_failure AS "onFailure",
  on_unknown AS "onUnknown", notify, created_at AS "createdAt", updated_at AS "updatedAt"`;
const ruleRow = z
  .object({
    companyId: z.string(),
    relayId: z.string(),
    seq: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    onFailure: z.enum(['hold', 'continue']),
    onUnknown: z.enum(['resend', 'hold']),
    notify: notifySchema.nullable(),
    createdAt: z.date(),
    updatedAt: z.date(),
  })
  .transform(withoutNulls);

export interface StoredRule extends Rule {
  createdAt: Date;
  updatedAt: Date;
}

/** A rule to be made; its id and token may be given, so that an existing webhook keeps working. */
export interface NewRule extends Pick<Rule, 'name' | 'onFailure' | 'onUnknown' | 'notify'> {
  /** Digits, at most 32. */
  relayId?: string;
  /** 1 to 512 printable characters. */
  relayAccessToken?: string;
}

/** A rule just made, with the only sight there is of its token. */
export interface CreatedRule {
  rule: StoredRule;
  tokenId: string;
  relayAccessToken: string;
}

export class Rules {
  constructor(private readonly database: Database) {}

  async get(companyId: string, relayId: string): Promise<StoredRule | undefined> {
    const [rule] = await read(this.database, ruleRow, `SELECT ${columns} FROM rules WHERE company_id = $1 AND relay_id = $2`, [
      companyId,
      relayId,
    ]);
    return rule;
  }

  /** In the order in which they were made. */
  async list(companyId: string, { after, limit }: PageRequest): Promise<Page<StoredRule>> {
    const rows = await read(
      this.database,
      ruleRow,
      `SELECT ${columns} FROM rules WHERE company_id = $1 AND ($2::bigint IS NULL OR seq > $2::bigint) ORDER BY rules.seq LIMIT $3::int`,
      [companyId, after ?? null, limit + 1],
    );
    return page(rows, limit, (rule) => rule.seq);
  }

  /** Makes an enabled rule with one token. */
  async create(companyId: string, rule: NewRule, actor: Actor): Promise<CreatedRule | 'unknown company' | 'relayId taken'> {
    const relayAccessToken = rule.relayAccessToken ?? makeCredential('rlt_');
    return this.database.transaction(async (queries) => {
      const company = await queries.query('SELECT 1 FROM companies WHERE company_id = $1 FOR KEY SHARE', [companyId]);
      if (company.length === 0) return 'unknown company';
      const stored = await insert(queries, companyId, rule);
      if (!stored) return 'relayId taken';
      const { relayId, name } = stored;
      const tokenId = await addToken(queries, { companyId, relayId, relayAccessToken });
      await recordDeed(queries, { actor, action: 'rule.create', companyId, details: { relayId, name, tokenId } });
      return { rule: stored, tokenId, relayAccessToken };
    });
  }

  /** Changes a rule, which nobody else changes meanwhile; what `change` throws leaves it as it was. Undefined: no such rule. */
  async update(
    companyId: string,
    relayId: string,
    change: (stored: StoredRule) => Omit<Rule, 'companyId' | 'relayId'>,
    actor: Actor,
  ): Promise<StoredRule | undefined> {
    return this.database.transaction(async (queries) => {
      const where = 'WHERE company_id = $1 AND relay_id = $2';
      const [stored] = await read(queries, ruleRow, `SELECT ${columns} FROM rules ${where} FOR UPDATE`, [companyId, relayId]);
      if (!stored) return undefined;
      const next = change(stored);
      const [rule] = await read(
        queries,
        ruleRow,
        `UPDATE rules SET name = $3, enabled = $4, on_failure = $5, on_unknown = $6, notify = $7::text::jsonb, updated_at = now()
         ${where} RETURNING ${columns}`,
        [companyId, relayId, next.name, next.enabled, next.onFailure, next.onUnknown, json(next.notify)],
      );
      if (!rule) throw new Error(`Rule ${relayId} of ${companyId} vanished while it was locked`);
      const details = { relayId, changed: changedFields(stored, rule) };
      await recordDeed(queries, { actor, action: 'rule.update', companyId, details });
      return rule;
    });
  }

  /** Deletes the rule with its tokens. @returns whether there was one. */
  async delete(companyId: string, relayId: string, actor: Actor): Promise<boolean> {
    return this.database.transaction(async (queries) => {
      const deleted = await read(
        queries,
        z.object({ name: z.string() }),
        'DELETE FROM rules WHERE company_id = $1 AND relay_id = $2 RETURNING name',
        [companyId, relayId],
      );
      for (const { name } of deleted)
        await recordDeed(queries, { actor, action: 'rule.delete', companyId, details: { relayId, name } });
      return deleted.length > 0;
    });
  }
}

/** @returns undefined where the given `relayId` is taken. */
async function insert(queries: Queries, companyId: string, rule: NewRule): Promise<StoredRule | undefined> {
  for (;;) {
    const relayId = rule.relayId ?? String(randomInt(100_000_000_000, 1_000_000_000_000));
    const [stored] = await read(
      queries,
      ruleRow,
      `INSERT INTO rules (company_id, relay_id, name, on_failure, on_unknown, notify) VALUES ($1, $2, $3, $4, $5, $6::text::jsonb)
       ON CONFLICT DO NOTHING RETURNING ${columns}`,
      [companyId, relayId, rule.name, rule.onFailure, rule.onUnknown, json(rule.notify)],
    );
    if (stored || rule.relayId !== undefined) return stored;
  }
}
