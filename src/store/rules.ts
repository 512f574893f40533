/** The rules of the companies. */

import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Actor } from '../contract/audit.js';
import { makeCredential } from '../contract/credential.js';
import { type newRuleRequest, type Rule, ruleSchema, type StoredRule } from '../contract/rule.js';
import { changedFields, deleteNamed, recordChange } from './audit.js';
import { addToken } from './credentials.js';
import { type Database, exists, type Page, type PageRequest, Table } from './database.js';

const table = new Table('rules', ruleSchema.extend({ companyId: z.string() }));
const named = 'company_id = $1 AND relay_id = $2';

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

  get(companyId: string, relayId: string): Promise<StoredRule | undefined> {
    return table.find(this.database, named, [companyId, relayId]);
  }

  /** In the order in which they were made. */
  list(companyId: string, request: PageRequest): Promise<Page<StoredRule>> {
    return table.page(this.database, 'company_id = $1', [companyId], 'seq ASC', request);
  }

  /** Makes an enabled rule with one token. */
  create(companyId: string, rule: NewRule, actor: Actor): Promise<CreatedRule | 'unknown company' | 'relayId taken'> {
    const relayAccessToken = rule.relayAccessToken ?? makeCredential('rlt_');
    return this.database.transaction(async (queries) => {
      if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) return 'unknown company';
      const { name, onFailure, onUnknown, notify } = rule;
      let stored: StoredRule | undefined;
      do {
        const relayId = rule.relayId ?? String(randomInt(100_000_000_000, 1_000_000_000_000));
        stored = await table.insert(queries, { companyId, relayId, name, onFailure, onUnknown, notify });
      } while (!stored && rule.relayId === undefined);
      if (!stored) return 'relayId taken';
      const { relayId } = stored;
      const tokenId = await addToken(queries, { companyId, relayId, relayAccessToken });
      await recordChange(queries, { actor, action: 'rule.create', companyId, details: { relayId, name, tokenId } });
      return { rule: stored, tokenId, relayAccessToken };
    });
  }

  /** Changes a rule, which nobody else changes meanwhile; what `change` throws leaves it as it was. Undefined: no such rule. */
  update(companyId: string, relayId: string, change: (stored: StoredRule) => ChangedRule, actor: Actor) {
    return this.database.transaction(async (queries) => {
      const stored = await table.find(queries, `${named} FOR UPDATE`, [companyId, relayId]);
      if (!stored) return undefined;
      const rule = await table.update(queries, change(stored), named, [companyId, relayId]);
      const details = { relayId, changed: changedFields(stored, rule) };
      await recordChange(queries, { actor, action: 'rule.update', companyId, details });
      return rule;
    });
  }

  /** Deletes the rule with its tokens. @returns whether there was one. */
  delete(companyId: string, relayId: string, actor: Actor): Promise<boolean> {
    const event = { actor, action: 'rule.delete', companyId, details: { relayId } };
    return deleteNamed(this.database, `rules WHERE ${named}`, [companyId, relayId], event);
  }
}
