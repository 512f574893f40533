/** The named keys with which a company reads and steers its own chains. Only their hashes are kept. */

import { z } from 'zod';
import type { Actor } from '../contract/audit.js';
import { type CompanyKey, hashOf, keySchema, makeCredential, makeId } from '../contract/credential.js';
import { deleteNamed, recordChange } from './audit.js';
import { columnsOf, type Database, exists, read } from './database.js';
import { noteUse, useUnnoted } from './last-use.js';

const columns = columnsOf(keySchema);
const ownerRow = z.object({ keyId: z.string(), name: z.string(), companyId: z.string(), unnoted: z.boolean() });

export class Keys {
  constructor(private readonly database: Database) {}

  /** Whose key this is; undefined for anything else. */
  async authenticate(key: string): Promise<{ keyId: string; name: string; companyId: string } | undefined> {
    // Found by its hash: how long that takes tells nothing about the key.
    const [found] = await read(
      this.database,
      ownerRow,
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
    if (!(await exists(this.database, 'companies WHERE company_id = $1', [companyId]))) return undefined;
    return read(this.database, keySchema, `SELECT ${columns} FROM company_keys WHERE company_id = $1 ORDER BY name`, [companyId]);
  }

  /** Makes a key; `key` is the only sight there is of it. */
  async create(
    companyId: string,
    name: string,
    actor: Actor,
  ): Promise<(CompanyKey & { key: string }) | 'unknown company' | 'name taken'> {
    const key = makeCredential('rlk_');
    return this.database.transaction(async (queries) => {
      if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) return 'unknown company';
      const [made] = await read(
        queries,
        keySchema,
        `INSERT INTO company_keys (key_id, company_id, name, hash) VALUES ($1, $2, $3, $4)
         ON CONFLICT (company_id, name) DO NOTHING RETURNING ${columns}`,
        [makeId(), companyId, name, hashOf(key)],
      );
      if (!made) return 'name taken';
      await recordChange(queries, { actor, action: 'key.create', companyId, details: { keyId: made.keyId, name } });
      return { ...made, key };
    });
  }

  /** @returns whether there was such a key. */
  delete(companyId: string, keyId: string, actor: Actor): Promise<boolean> {
    const event = { actor, action: 'key.delete', companyId, details: { keyId } };
    return deleteNamed(this.database, 'company_keys WHERE company_id = $1 AND key_id = $2', [companyId, keyId], event);
  }
}
