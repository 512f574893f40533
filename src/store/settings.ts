/**
 * Keeps settings and token hashes of all companies in memory, so that requests and effects need no query. Changes by this process
 * are visible immediately. Changes by other processes are read once a second. Data older than two seconds are never used.
 */

import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { isOn, type Pause } from '../chain/pause.js';
import { type Company, companySchema, pauseSchema } from '../contract/company.js';
import { type Rule, ruleSchema } from '../contract/rule.js';
import { type Database, read, rowSchema, Table } from './database.js';

const withoutTimes = { createdAt: true, updatedAt: true } as const;
const time = z.string().transform((text) => new Date(text).toISOString()); // a time as PostgreSQL writes it in JSON
const companyRow = companySchema.omit(withoutTimes);
const ruleRow = ruleSchema.omit(withoutTimes).extend({ companyId: z.string() });
const pauseRow = pauseSchema.extend({ since: time, until: time.optional() });
const tokenRow = z.object({
  tokenId: z.string(),
  relayId: z.string(),
  /** PostgreSQL writes bytes in JSON as `\x` and hexadecimal digits. */
  hash: z.string().transform((text) => Buffer.from(text.slice(2), 'hex')),
  pepperId: z.string().optional(),
  revokedAt: z.coerce.date().optional(),
  expiresAt: z.coerce.date().optional(),
  lastUsedAt: z.coerce.date().optional(),
});
export type TokenHash = z.infer<typeof tokenRow>;

const companiesNow = new Table('companies', companyRow);
const rulesNow = new Table('rules', ruleRow, 'relayId');
const tokensNow = new Table('tokens', tokenRow);
const pausesNow = new Table('(SELECT * FROM pauses WHERE until IS NULL OR until > now()) AS pauses', pauseRow);

const rows = z.array(rowSchema).default([]);
const changeRow = z.object({
  companyId: z.string(),
  revision: z.int(),
  companies: rows,
  rules: rows,
  tokens: rows,
  pauses: rows,
});

export interface CompanySettings {
  company: Company;
  rules: ReadonlyMap<string, Rule>;
  tokens: readonly TokenHash[];
  pauses: readonly Pause[]; // current pauses
}

const readEveryMs = 1000;
const confirmEveryMs = 100; // the minimum time between two queries of `refresh`, for any number of callers
const longestAgeMs = 2000;

const list = ({ name, columns }: { name: string; columns: string }) =>
  `(SELECT json_agg(json_strip_nulls(row_to_json(listed)))
    FROM (SELECT ${columns} FROM ${name} WHERE company_id = settings_changes.company_id) AS listed)`;

/** Reads changes since the last read. If a restored database has an older revision, reads all companies. */
const select = `SELECT company_id AS "companyId", revision, ${list(companiesNow)} AS companies, ${list(rulesNow)} AS rules,
  ${list(tokensNow)} AS tokens, ${list(pausesNow)} AS pauses
  FROM settings_changes
  WHERE revision > (SELECT CASE WHEN revision < $1::int THEN 0 ELSE $1::int END FROM settings_revision) ORDER BY revision`;

export class Settings {
  /** `unreadable`: why the company's settings cannot be read. The other companies stay usable. */
  readonly #companies = new Map<string, CompanySettings | { unreadable: unknown }>();
  #revision = 0;
  #readAt = Number.NEGATIVE_INFINITY; // when the data were current, by the monotonic clock
  #begunAt = Number.NEGATIVE_INFINITY;
  #outdatedAt = 0;
  #reading: Promise<void> | undefined;
  #confirming: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly database: Database) {
    this.#timer = setInterval(() => this.#refresh().catch(() => {}), readEveryMs).unref();
  }

  /** @returns undefined for an unknown company. The promise rejects if the decryption or a necessary read fails. */
  async of(companyId: string): Promise<CompanySettings | undefined> {
    if (performance.now() - this.#readAt > longestAgeMs || this.#readAt <= this.#outdatedAt) await this.#refresh();
    const settings = this.#companies.get(companyId);
    if (settings && 'unreadable' in settings) throw settings.unreadable;
    if (!settings || settings.pauses.length === 0) return settings;
    return { ...settings, pauses: settings.pauses.filter((pause) => isOn(pause, Date.now())) };
  }

  /** Reads all changes up to now. Call this method before a refusal. Concurrent callers share one read. */
  async refresh(): Promise<void> {
    const waitMs = Math.max(0, this.#begunAt + confirmEveryMs - performance.now());
    this.#confirming ??= setTimeout(waitMs).then(() => {
      this.#confirming = undefined;
      return this.#refresh();
    });
    await this.#confirming;
  }

  async #refresh(): Promise<void> {
    // A read that has already begun may miss a change: wait for the end of this read, then read again.
    await this.#reading?.catch(() => {});
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  outdate(): void {
    this.#outdatedAt = performance.now();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    const begun = performance.now();
    this.#begunAt = begun;
    const changes = await read(this.database, changeRow, select, [this.#revision]);
    if (changes.some(({ revision }) => revision <= this.#revision)) this.#companies.clear();
    for (const change of changes) {
      const settings = this.#settingsOf(change);
      if (settings) this.#companies.set(change.companyId, settings);
      else this.#companies.delete(change.companyId);
      this.#revision = change.revision;
    }
    this.#readAt = begun;
  }

  #settingsOf({ companies, rules, tokens, pauses }: z.infer<typeof changeRow>) {
    const { database } = this;
    const [company] = companies;
    if (!company) return undefined;
    try {
      return {
        company: companiesNow.parse(database, company),
        rules: new Map(rules.map((row) => rulesNow.parse(database, row)).map((rule) => [rule.relayId, rule])),
        tokens: tokens.map((row) => tokensNow.parse(database, row)),
        pauses: pauses.map((row) => pausesNow.parse(database, row)),
      };
    } catch (error) {
      return { unreadable: error };
    }
  }
}
