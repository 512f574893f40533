/**
 * Keeps settings and token hashes of all companies in memory, so that requests and effects need no query. Changes by this process
 * are visible immediately. Changes by other processes are read once a second. Data older than two seconds are never used.
 */

import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { isOn, type Pause } from '../chain/pause.js';
import { type Company, companySchema, pauseSchema } from '../contract/company.js';
import { tokenPurposes } from '../contract/credential.js';
import { type Rule, ruleSchema } from '../contract/rule.js';
import { type Contents, contentsSchema } from '../contract/rule-contents.js';
import type { EventDoor } from '../contract/rule-event.js';
import { encrypted } from '../contract/secrets.js';
import { type Database, read, rowSchema, Table } from './database.js';
import { doors, usualDoor } from './doors.js';

const withoutTimes = { createdAt: true, updatedAt: true } as const;
const time = z.string().transform((text) => new Date(text).toISOString()); // a time as PostgreSQL writes it in JSON
const companyRow = companySchema.omit(withoutTimes);
const ruleRow = ruleSchema.omit(withoutTimes).extend({ companyId: z.string() });
const pauseRow = pauseSchema.extend({ since: time, until: time.optional() });
const tokenRow = z.object({
  tokenId: z.string(),
  relayId: z.string(),
  purpose: z.enum(tokenPurposes),
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

/** The contents as JSON text. `seq` identifies a version for ever, also if a rule is deleted and created again. */
const contentsRow = z.object({
  seq: z.coerce.string(),
  version: z.int(),
  publishedAt: z.iso.datetime(),
  contents: encrypted(z.string()),
});
const contentsNow = new Table('rule_versions', contentsRow, 'relayId', 'version');
const usedVersion = z.object({ relayId: z.string(), version: z.int(), seq: z.coerce.string() });
const usedVersions = `(SELECT json_agg(row_to_json(listed))
    FROM (SELECT relay_id AS "relayId", version, rule_versions.seq FROM rules JOIN rule_versions USING (company_id, relay_id)
      WHERE company_id = settings_changes.company_id AND version IN (published, shadow)) AS listed)`;

/** The contents of a version. Most processes never use the contents, so they are parsed only at the first use. */
function publishedContents({ contents: text, ...version }: z.infer<typeof contentsRow>) {
  let known: string | Contents = text;
  return {
    ...version,
    get contents(): Contents {
      if (typeof known === 'string') known = contentsSchema.parse(JSON.parse(known));
      return known;
    },
  };
}

const rows = z.array(rowSchema).default([]);
const changeRow = z.object({
  companyId: z.string(),
  revision: z.int(),
  companies: rows,
  rules: rows,
  tokens: rows,
  pauses: rows,
  doors: rows,
  versions: z.array(usedVersion).default([]),
});
type Change = z.infer<typeof changeRow>;

type Published = ReturnType<typeof publishedContents>;
type Used = { published?: Published; shadow?: Published };
/** Finds a version by its `seq`. Throws an error if the version cannot be decrypted. */
type Loaded = Map<string, () => Published>;

export interface CompanySettings {
  company: Company;
  rules: ReadonlyMap<string, Rule & { door: EventDoor }>;
  /** The key is the `relayId`. */
  contents: ReadonlyMap<string, Used>;
  tokens: readonly TokenHash[];
  pauses: readonly Pause[]; // current pauses
}
type Known = CompanySettings | { unreadable: unknown };

const readEveryMs = 1000;
const confirmEveryMs = 100; // the minimum time between two queries of `refresh`, for any number of callers
const longestAgeMs = 2000;
const contentsAtOnce = 100; // the maximum number of versions that one query reads

const list = ({ name, columns }: { name: string; columns: string }) =>
  `(SELECT json_agg(json_strip_nulls(row_to_json(listed)))
    FROM (SELECT ${columns} FROM ${name} WHERE company_id = settings_changes.company_id) AS listed)`;

/** Reads changes since the last read. If a restored database has an older revision, reads all companies. */
const select = `SELECT company_id AS "companyId", revision, ${list(companiesNow)} AS companies, ${list(rulesNow)} AS rules,
  ${list(tokensNow)} AS tokens, ${list(pausesNow)} AS pauses, ${list(doors)} AS doors, ${usedVersions} AS versions
  FROM settings_changes
  WHERE revision > (SELECT CASE WHEN revision < $1::int THEN 0 ELSE $1::int END FROM settings_revision) ORDER BY revision`;

export class Settings {
  /** `unreadable`: why the company's settings cannot be read. The other companies stay usable. */
  readonly #companies = new Map<string, Known>();
  #revision = 0;
  #readAt = Number.NEGATIVE_INFINITY; // the data were current at this time of the monotonic clock
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
    const [now] = await read(this.database, z.object({ revision: z.int() }), 'SELECT revision FROM settings_revision');
    if (now?.revision !== this.#revision) await this.#readChanges();
    this.#readAt = begun;
  }

  async #readChanges(): Promise<void> {
    const changes = await read(this.database, changeRow, select, [this.#revision]);
    const isRestored = changes.some(({ revision }) => revision <= this.#revision);
    const known = isRestored ? [] : changes.flatMap(({ companyId }) => this.#companies.get(companyId) ?? []);
    const contents = await this.#contentsOf(changes, known);
    if (isRestored) this.#companies.clear();
    for (const change of changes) {
      const settings = this.#settingsOf(change, contents);
      if (settings) this.#companies.set(change.companyId, settings);
      else this.#companies.delete(change.companyId);
      this.#revision = change.revision;
    }
  }

  /** Returns the contents of all versions in use. If this process does not know a version yet, reads its row from the database. */
  async #contentsOf(changes: readonly Change[], known: readonly Known[]): Promise<Loaded> {
    const contents: Loaded = new Map();
    const used = known.flatMap((company) => ('contents' in company ? [...company.contents.values()] : []));
    for (const version of used.flatMap(({ published, shadow }) => [published, shadow]))
      if (version) contents.set(version.seq, () => version);
    const missing = changes.flatMap(({ versions }) => versions.map(({ seq }) => seq)).filter((seq) => !contents.has(seq));
    while (missing.length > 0) {
      const some = missing.splice(0, contentsAtOnce);
      const loaded = await contentsNow.selectRaw(this.database, 'seq = ANY ($1::text[]::bigint[])', [some]);
      for (const row of loaded) contents.set(String(row.seq), () => publishedContents(contentsNow.parse(this.database, row)));
    }
    return contents;
  }

  #settingsOf({ companies, rules, tokens, pauses, doors: ofRules, versions }: Change, loaded: Loaded): Known | undefined {
    const { database } = this;
    const [company] = companies;
    if (!company) return undefined;
    try {
      const doorOf = new Map(ofRules.map((row) => doors.parse(database, row)).map(({ relayId, door }) => [relayId, door]));
      const known = rules.map((row) => rulesNow.parse(database, row));
      const rulesById = new Map(known.map((rule) => [rule.relayId, { ...rule, door: doorOf.get(rule.relayId) ?? usualDoor }]));
      const contents = new Map<string, Used>();
      for (const { relayId, version, seq } of versions) {
        const found = loaded.get(seq)?.();
        const { published, shadow } = rulesById.get(relayId) ?? {};
        const used = { ...(published === version && { published: found }), ...(shadow === version && { shadow: found }) };
        contents.set(relayId, { ...contents.get(relayId), ...used });
      }
      return {
        company: companiesNow.parse(database, company),
        rules: rulesById,
        contents,
        tokens: tokens.map((row) => tokensNow.parse(database, row)),
        pauses: pauses.map((row) => pausesNow.parse(database, row)),
      };
    } catch (error) {
      return { unreadable: error };
    }
  }
}
