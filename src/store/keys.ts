/** The named keys with which a company reads and steers its own chains. Only their hashes are kept. */

import { z } from 'zod';
import { type Actor, recordDeed } from './audit.js';
import { hashOf, makeCredential, makeId } from './credential.js';
import { type Database, read, withoutNulls } from './database.js';
import { noteUse, useUnnoted } from './last-use.js';

const columns = 'key_id AS "keyId", name, created_at AS "createdAt", last_used_at AS "lastUsedAt"';
const keyRow = z
  .object({ keyId: z.string(), name: z.string(), createdAt: z.date(), lastUsedAt: z.date().nullable() })
  .transform(withoutNulls);
export type CompanyKey = z.infer<typeof keyRow>;

export class Keys {
  constructor(private readonly database: Database) {}

  /** Whose key this is; undefined for anything else. */
  async authenticate(key: string): Promise<{ keyId: string; name: string; companyId: string } | undefined> {
    // Found by its hash: how long that takes tells nothing about the key.
    const [found] = await read(
      this.database,
      z.object({ keyId: z.string(), name: z.string(), companyId: z.string(), unnoted: z.boolean() }),
      `SELECT key_id AS "keyId", name, company_id AS "companyId", ${useUnnoted} AS unnoted FROM company_keys WHERE hash = $1`,
      [hashOf(key)],
    );
    if (!found) return undefined;
    const { unnoted, ...owner } = found;
    if (unnoted) noteUse(this.database, 'company_keys', 'key_id', [owner.keyId]);
    return owner;
  }

  /** By name. Undefined: no such company. */
  async list(companyId: string): Promise<CompanyKey[] | undefined> {
    const company = await this.database.query('SELECT 1 FROM companies WHERE company_id = $1', [companyId]);
    if (company.length === 0) return undefined;
    return read(this.database, keyRow, `SELECT ${columns} FROM company_keys WHERE company_id = $1 ORDER BY name`, [companyId]);
  }

  /** Makes a key; `key` is the only sight there is of it. */
  async create(
    companyId: string,
    name: string,
    actor: Actor,
  ): Promise<(CompanyKey & { key: string }) | 'unknown company' | 'name taken'> {
    const key = makeCredential('rlk_');
    return this.database.transaction(async (queries) => {
      const company = await queries.query('SELECT 1 FROM companies WHERE company_id = $1 FOR KEY SHARE', [companyId]);
      if (company.length === 0) return 'unknown company';
      const [made] = await read(
        queries,
        keyRow,
        `INSERT INTO company_keys (key_id, company_id, name, hash) VALUES ($1, $2, $3, $4)
         ON CONFLICT (company_id, name) DO NOTHING RETURNING ${columns}`,
        [makeId(), companyId, name, hashOf(key)],
      );
      if (!made) return 'name taken';
      await recordDeed(queries, { actor, action: 'key.create', companyId, details: { keyId: made.keyId, name } });
      return { ...made, key };
    });
  }

  /** @returns whether there was such a key. */
  async delete(companyId: string, keyId: string, actor: Actor): Promise<boolean> {
    return this.database.transaction(async (queries) => {
      const deleted = await read(
        queries,
        z.object({ name: z.string() }),
        'DELETE FROM company_keys WHERE company_id = $1 AND key_id = $2 RETURNING name',
        [companyId, keyId],
      );
      for (const { name } of deleted)
        await recordDeed(queries, { actor, action: 'key.delete', companyId, details: { keyId, name } });
      return deleted.length > 0;
    });
  }
}
