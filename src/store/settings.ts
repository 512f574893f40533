/**
 * The settings and token hashes of all companies in memory, so that neither a request nor an effect has to ask the database. A
 * process sees its own changes at once. Those of others it reads once a second, by a revision that every change raises; nothing
 * older than two seconds is used.
 */

import { z } from 'zod';
import type { Pause } from '../chain/pause.js';
import { companySchema, type StoredCompany } from '../contract/company.js';
import { pauseSchema } from '../contract/pause.js';
import { type Rule, ruleSchema } from '../contract/rule.js';
import { columnsOf, type Database, read } from './database.js';

/** A token of a rule; times in Unix milliseconds. */
const tokenRow = z.object({
  tokenId: z.string(),
  relayId: z.string(),
  hash: z.string().transform((hex) => Buffer.from(hex, 'hex')),
  revoked: z.boolean(),
  expiresAt: z.number().optional(),
  lastUsedAt: z.number().optional(),
});
export type TokenHash = z.infer<typeof tokenRow>;

const companyRow = companySchema.partial().extend({
  companyId: z.string(),
  revision: z.int(),
  rules: z.array(ruleSchema.omit({ createdAt: true, updatedAt: true })).default([]),
  tokens: z.array(tokenRow).default([]),
  pauses: z.array(pauseSchema).default([]),
});

/** What is known of a company. */
export interface CompanySettings {
  company: StoredCompany;
  rules: ReadonlyMap<string, Rule>;
  tokens: readonly TokenHash[];
  /** Those that were on when they were read. */
  pauses: readonly Pause[];
}

const readEveryMs = 1000;
const longestAgeMs = 2000;

const milliseconds = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`;
const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const list = (fields: string, from: string) =>
  `(SELECT json_agg(json_strip_nulls(json_build_object(${fields}))) FROM ${from} WHERE company_id = settings_changes.company_id)`;

/** The companies that changed after a revision, with all that belongs to them; of a deleted one, its id alone. */
const select = `SELECT revision, ${columnsOf(companySchema)},
  ${list(
    `'relayId', relay_id, 'name', name, 'enabled', enabled, 'onFailure', on_failure, 'onUnknown', on_unknown,
     'notify', notify`,
    'rules',
  )} AS rules,
  ${list(
    `'tokenId', token_id, 'relayId', relay_id, 'hash', encode(hash, 'hex'), 'revoked', revoked_at IS NOT NULL,
     'expiresAt', ${milliseconds('expires_at')}, 'lastUsedAt', ${milliseconds('last_used_at')}`,
    'tokens',
  )} AS tokens,
  ${list(
    `'what', what, 'since', ${iso('since')}, 'until', ${iso('until')}, 'reason', reason`,
    '(SELECT * FROM pauses WHERE until IS NULL OR until > now()) AS pauses',
  )} AS pauses
  FROM settings_changes LEFT JOIN companies USING (company_id) WHERE revision > $1::int ORDER BY revision`;

export class Settings {
  readonly #companies = new Map<string, CompanySettings>();
  #revision = 0;
  /** When what is known was true, by the monotonic clock. */
  #readAt = Number.NEGATIVE_INFINITY;
  #outdatedAt = 0;
  #reading: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly database: Database) {
    this.#timer = setInterval(() => this.refresh().catch(() => {}), readEveryMs).unref();
  }

  /** What is known of a company; undefined: there is none. Rejects where it is too old and the database does not answer. */
  async of(companyId: string): Promise<CompanySettings | undefined> {
    const age = performance.now() - this.#readAt;
    if (age > longestAgeMs || this.#readAt <= this.#outdatedAt) await this.refresh();
    const settings = this.#companies.get(companyId);
    const isOn = ({ until }: Pause) => until === undefined || Date.parse(until) > Date.now();
    return settings?.pauses.every(isOn) === false ? { ...settings, pauses: settings.pauses.filter(isOn) } : settings;
  }

  /** Reads what has changed up to now. Before a refusal, since another process may have allowed a moment ago what is asked. */
  async refresh(): Promise<void> {
    // A reading that began earlier may have missed a change.
    await this.#reading?.catch(() => {});
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  /** Says that this process has changed something. */
  outdate(): void {
    this.#outdatedAt = performance.now();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    const begun = performance.now();
    for (const row of await read(this.database, companyRow, select, [this.#revision])) {
      const { revision, rules, tokens, pauses, ...rest } = row;
      const { success, data: company } = companySchema.safeParse(rest);
      if (success) {
        const { companyId } = company;
        const byId = new Map(rules.map((rule) => [rule.relayId, { ...rule, companyId }]));
        this.#companies.set(companyId, { company, rules: byId, tokens, pauses });
      } else this.#companies.delete(row.companyId);
      this.#revision = revision;
    }
    this.#readAt = begun;
  }
}
