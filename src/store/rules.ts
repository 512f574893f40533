/** The rules of the companies. */

import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Actor } from '../contract/audit.js';
import { makeCredential } from '../contract/credential.js';
import { type newRuleRequest, type Rule, ruleSchema, type StoredRule } from '../contract/rule.js';
import { changedFields, deleteNamed, recordChange } from './audit.js';
import { columnsOf, type Database, exists, json, type Page, type PageRequest, page, type Queries, read } from './database.js';
import { addToken } from './tokens.js';

const storedRule = ruleSchema.extend({ companyId: z.string() });
const columns = columnsOf(storedRule);
const where = 'WHERE company_id = $1 AND relay_id = $2';

export type NewRule = z.infer<typeof newRuleRequest>;
type ChangedRule = Pick<NewRule, 'notify'> & Pick<Rule, 'name' | 'enabled' | 'onFailure' | 'onUnknown'>;

/** A rule just made, with the only sight there is of its token. */
export interface CreatedRule {
  rule: StoredRule;
  tokenId: string;
  relayAccessToken: string;
}

export class Rules {
  constructor(private readonly database: Database) {}

  async get(companyId: string, relayId: string): Promise<StoredRule | undefined> {
    const [rule] = await read(this.database, storedRule, `SELECT ${columns} FROM rules ${where}`, [companyId, relayId]);
    return rule;
  }

  /** In the order in which they were made. */
  async list(companyId: string, { after, limit }: PageRequest): Promise<Page<StoredRule>> {
    const rows = await read(
      this.database,
      storedRule.extend({ cursor: z.string() }),
      `SELECT ${columns}, seq::text AS cursor FROM rules
       WHERE company_id = $1 AND ($2::bigint IS NULL OR seq > $2::bigint) ORDER BY seq LIMIT $3::int`,
      [companyId, after ?? null, limit + 1],
    );
    return page(rows, limit, (rule) => rule.cursor);
  }

  /** Makes an enabled rule with one token. */
  async create(companyId: string, rule: NewRule, actor: Actor): Promise<CreatedRule | 'unknown company' | 'relayId taken'> {
    const relayAccessToken = rule.relayAccessToken ?? makeCredential('rlt_');
    return this.database.transaction(async (queries) => {
      if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) return 'unknown company';
      const stored = await insert(queries, companyId, rule);
      if (!stored) return 'relayId taken';
      const { relayId, name } = stored;
      const tokenId = await addToken(queries, { companyId, relayId, relayAccessToken });
      await recordChange(queries, { actor, action: 'rule.create', companyId, details: { relayId, name, tokenId } });
      return { rule: stored, tokenId, relayAccessToken };
    });
  }

  /** Changes a rule, which nobody else changes meanwhile; what `change` throws leaves it as it was. Undefined: no such rule. */
  async update(
    companyId: string,
    relayId: string,
    change: (stored: StoredRule) => ChangedRule,
    actor: Actor,
  ): Promise<StoredRule | undefined> {
    return this.database.transaction(async (queries) => {
      const select = `SELECT ${columns} FROM rules ${where} FOR UPDATE`;
      const [stored] = await read(queries, storedRule, select, [companyId, relayId]);
      if (!stored) return undefined;
      const { name, enabled, onFailure, onUnknown, notify } = change(stored);
      const [rule] = await read(
        queries,
        storedRule,
        `UPDATE rules SET name = $3, enabled = $4, on_failure = $5, on_unknown = $6, notify = $7::text::jsonb, updated_at = now()
         ${where} RETURNING ${columns}`,
        [companyId, relayId, name, enabled, onFailure, onUnknown, json(notify)],
      );
      if (!rule) throw new Error(`Rule ${relayId} of ${companyId} vanished while it was locked`);
      const details = { relayId, changed: changedFields(stored, rule) };
      await recordChange(queries, { actor, action: 'rule.update', companyId, details });
      return rule;
    });
  }

  /** Deletes the rule with its tokens. @returns whether there was one. */
  delete(companyId: string, relayId: string, actor: Actor): Promise<boolean> {
    const event = { actor, action: 'rule.delete', companyId, details: { relayId } };
    return deleteNamed(this.database, `rules ${where}`, [companyId, relayId], event);
  }
}

/** @returns undefined where the given `relayId` is taken. */
async function insert(queries: Queries, companyId: string, rule: NewRule): Promise<StoredRule | undefined> {
  for (;;) {
    const relayId = rule.relayId ?? String(randomInt(100_000_000_000, 1_000_000_000_000));
    const [stored] = await read(
      queries,
      storedRule,
      `INSERT INTO rules (company_id, relay_id, name, on_failure, on_unknown, notify) VALUES ($1, $2, $3, $4, $5, $6::text::jsonb)
       ON CONFLICT DO NOTHING RETURNING ${columns}`,
      [companyId, relayId, rule.name, rule.onFailure, rule.onUnknown, json(rule.notify)],
    );
    if (stored || rule.relayId !== undefined) return stored;
  }
}
