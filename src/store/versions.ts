/** The draft and the versions of a rule's contents. A version never changes. Publishing and going back make a new version. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Actor, actorName } from '../contract/audit.js';
import type { StoredRule } from '../contract/rule.js';
import type { Contents, Draft, saveDraftRequest, Version, WholeVersion } from '../contract/rule-contents.js';
import { contentsSchema, draftSchema, mostContentsOfCompany, versionSchema } from '../contract/rule-contents.js';
import { encrypted } from '../contract/secrets.js';
import { recordChange } from './audit.js';
import { rules } from './companies.js';
import { type Database, exists, type PageRequest, type Queries, read, Table } from './database.js';

export const keptVersions = 1000; // the maximum number of versions of a rule
export const mostContentsBytes = 256 * 1024; // the maximum size of the contents of a version, as JSON

/** The contents are stored as JSON text. */
const text = encrypted(z.string());
const draftRow = draftSchema.extend({ contents: text.optional() });
export const drafts = new Table('rule_drafts', draftRow, 'relayId');
const listed = new Table('rule_versions', versionSchema, 'relayId', 'version');
export const versions = new Table('rule_versions', versionSchema.extend({ contents: text }), 'relayId', 'version');

const named = 'company_id = $1 AND relay_id = $2';
const bytesRow = z.object({ bytes: z.int() });
const ofVersion = `${named} AND version = $3::int`;
const parsed = (json: string) => contentsSchema.safeParse(JSON.parse(json)).data;
const shown = ({ contents, ...draft }: z.infer<typeof draftRow> = { revision: 0 }): Draft =>
  draftSchema.parse({ ...draft, ...(contents !== undefined && { contents: JSON.parse(contents) }) });

/** `created` is false if exactly these contents are published already. */
export type Publication = { version: Version; created: boolean };

type Pointer = 'published' | 'shadow';
type New = { contents: Contents; note?: string | undefined; fromVersion?: number; as?: Pointer };

export const versionsIn = (database: Database) => ({
  /** @returns undefined if there is no such rule. */
  draft: async (companyId: string, relayId: string): Promise<Draft | undefined> => {
    const stored = await drafts.find(database, named, [companyId, relayId]);
    if (!stored && !(await exists(database, `rules WHERE ${named}`, [companyId, relayId]))) return undefined;
    return shown(stored);
  },

  /** If `revision` is not the stored revision, saves nothing and returns the stored draft. @returns undefined for an unknown rule */
  saveDraft: (companyId: string, relayId: string, { revision, contents }: z.infer<typeof saveDraftRequest>, actor: Actor) =>
    database.transaction(async (queries): Promise<{ saved: boolean; draft: Draft } | undefined> => {
      const ids = { companyId, relayId };
      if (!(await exists(queries, `rules WHERE ${named} FOR KEY SHARE`, [companyId, relayId]))) return undefined;
      // Insert an empty row first. Another request that saves the first draft then waits for this transaction.
      await drafts.insert(queries, { ...ids, revision: 0 });
      const stored = await drafts.find(queries, `${named} FOR UPDATE`, [companyId, relayId]);
      if (stored?.revision !== revision) return { saved: false, draft: shown(stored) };
      const saved = { revision: revision + 1, contents: JSON.stringify(contents), updatedBy: actorName(actor) };
      return { saved: true, draft: shown(await drafts.update(queries, saved, ids)) };
    }),

  /** `contents`: the contents of the draft, checked and with defaults. @returns undefined for an unknown rule */
  publish: (companyId: string, relayId: string, { revision, ...made }: New & { revision: number }, actor: Actor) =>
    database.transaction(async (queries): Promise<Publication | { conflict: Draft } | 'too large' | undefined> => {
      const rule = await rules.find(queries, `${named} FOR UPDATE`, [companyId, relayId]);
      if (!rule) return undefined;
      const draft = await drafts.find(queries, named, [companyId, relayId]);
      if ((draft?.revision ?? 0) !== revision) return { conflict: shown(draft) };
      return add(queries, rule, made, actor);
    }),

  /** Publishes an old version again. A draft without edits gets its contents. @returns undefined if the version is unknown */
  goBack: (companyId: string, relayId: string, version: number, note: string | undefined, actor: Actor) =>
    database.transaction(async (queries): Promise<Publication | 'too large' | undefined> => {
      const rule = await rules.find(queries, `${named} FOR UPDATE`, [companyId, relayId]);
      const old = await versions.find(queries, ofVersion, [companyId, relayId, version]);
      if (!rule || !old) return undefined;
      const draft = await drafts.find(queries, `${named} FOR UPDATE`, [companyId, relayId]);
      const from = await versions.find(queries, ofVersion, [companyId, relayId, rule.published ?? 0]);
      const isSame = (one: string, other: string) => isDeepStrictEqual(parsed(one), parsed(other));
      if (draft?.contents && from && isSame(draft.contents, from.contents) && !isSame(draft.contents, old.contents)) {
        const followed = { revision: draft.revision + 1, contents: old.contents, updatedBy: actorName(actor) };
        await drafts.update(queries, followed, { companyId, relayId });
      }
      return add(queries, rule, { contents: contentsSchema.parse(JSON.parse(old.contents)), note, fromVersion: version }, actor);
    }),

  list: (companyId: string, relayId: string, request: PageRequest) =>
    listed.page(database, named, [companyId, relayId], 'version DESC', request),

  get: async (companyId: string, relayId: string, version: number): Promise<WholeVersion | undefined> => {
    const found = await versions.find(database, ofVersion, [companyId, relayId, version]);
    return found && { ...found, contents: contentsSchema.parse(JSON.parse(found.contents)) };
  },

  /** @param version - null for no shadow. @returns false for an unknown rule or version */
  setShadow: (companyId: string, relayId: string, version: number | null, actor: Actor) =>
    database.transaction(async (queries): Promise<boolean | 'too large'> => {
      const rule = await rules.find(queries, `${named} FOR UPDATE`, [companyId, relayId]);
      if (!rule) return false;
      const select = `SELECT bytes FROM rule_versions WHERE ${ofVersion}`;
      const [found] = await read(queries, bytesRow, select, [companyId, relayId, version]);
      if (version !== null && !found) return false;
      if (version === (rule.shadow ?? null)) return true;
      if (found && !(await hasRoom(queries, rule, found.bytes))) return 'too large';
      await point(queries, rule, 'shadow', version);
      await recordChange(queries, { actor, action: 'rule.shadow', companyId, details: { relayId, version } });
      return true;
    }),
});

const sizeOfOthers = `SELECT COALESCE(sum(bytes), 0)::int AS bytes FROM rules JOIN rule_versions USING (company_id, relay_id)
  WHERE company_id = $1 AND relay_id <> $2 AND version IN (published, shadow)`;
const deleteOldest = `DELETE FROM rule_versions USING rules WHERE rule_versions.company_id = $1 AND rule_versions.relay_id = $2
  AND rules.company_id = $1 AND rules.relay_id = $2 AND version <= $3::int AND (version IN (published, shadow)) IS NOT TRUE`;

/** Whether these contents, with the contents of the company's other rules, are small enough for the memory of all processes. */
async function hasRoom(queries: Queries, { companyId, relayId }: StoredRule, bytes: number): Promise<boolean> {
  const [others] = await read(queries, bytesRow, sizeOfOthers, [companyId, relayId]);
  return (others?.bytes ?? 0) + bytes <= mostContentsOfCompany;
}

const point = (queries: Queries, { companyId, relayId }: StoredRule, to: Pointer, version: number | null) =>
  queries.query(`UPDATE rules SET ${to} = $3::int, updated_at = now() WHERE ${named}`, [companyId, relayId, version]);

async function add(queries: Queries, rule: StoredRule, given: New, actor: Actor): Promise<Publication | 'too large'> {
  const { companyId, relayId } = rule;
  const { note, fromVersion, as = 'published' } = given;
  const ids = [companyId, relayId];
  const contents = JSON.stringify(given.contents);
  const current = await versions.find(queries, ofVersion, [...ids, rule[as] ?? null]);
  if (current?.contents === contents) return { version: versionSchema.parse(current), created: false };
  const bytes = Buffer.byteLength(contents);
  if (bytes > mostContentsBytes || !(await hasRoom(queries, rule, bytes))) return 'too large';
  const highest = `SELECT COALESCE(max(version), 0) AS version FROM rule_versions WHERE ${named}`;
  const [{ version: last } = { version: 0 }] = await read(queries, z.object({ version: z.int() }), highest, ids);
  const version = last + 1;
  const row = { companyId, relayId, version, contents, bytes, note, fromVersion, publishedBy: actorName(actor) };
  const made = versionSchema.parse(await versions.insert(queries, row));
  await point(queries, rule, as, version);
  await queries.query(deleteOldest, [...ids, version - keptVersions]);
  const action = fromVersion === undefined ? 'rule.publish' : 'rule.go-back';
  const details = { relayId, version, fromVersion, ...(as === 'shadow' && { as }), reason: note };
  await recordChange(queries, { actor, action, companyId, details });
  return { version: made, created: true };
}
