/** The pepper of stored hashes. It comes from RELAY_SECRET. A stolen database alone reveals no token. */

import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { hashOf } from '../contract/credential.js';
import { deriveKey } from '../contract/encryption.js';
import { StartError } from '../service/config.js';
import { type Database, type Parameter, read } from './database.js';

/** The error if hashes in the database were made with another RELAY_SECRET. */
export class PepperError extends StartError {
  override readonly name = 'PepperError';
}

/** @returns the hash of a credential with this pepper; undefined if the pepper is unknown. */
export type HashWith = (pepperId: string | undefined) => Buffer | undefined;

export class Pepper {
  readonly id: string | undefined; // stored with each hash; undefined if hashes have no pepper
  readonly #keys: ReadonlyMap<string, Buffer>;

  /** @param secret - RELAY_SECRET: secrets with commas between them. The first is for new hashes, the others for old hashes. */
  constructor(secret: string | undefined) {
    const idOf = (secret: string) => deriveKey(secret, 'token pepper id').toString('hex').slice(0, 16);
    this.#keys = new Map(secret?.split(',').map((secret) => [idOf(secret), deriveKey(secret, 'token pepper')]));
    this.id = this.ids[0];
  }

  get ids(): string[] {
    return [...this.#keys.keys()];
  }

  hashesOf(credential: string): HashWith {
    const plain = hashOf(credential);
    const made = new Map(this.ids.map((id) => [id, this.wrap(plain, id)]));
    return (pepperId) => (pepperId === undefined ? plain : made.get(pepperId));
  }

  /** @returns the SQL condition that finds the row of this credential. */
  lookup(credential: string): [where: string, parameters: Parameter[]] {
    const plain = hashOf(credential);
    const peppered = this.ids.map((_, index) => ` OR hash = $${2 * index + 2} AND pepper_id = $${2 * index + 3}`);
    const parameters = this.ids.flatMap((id) => [this.wrap(plain, id), id]);
    return [`(hash = $1 AND pepper_id IS NULL${peppered.join('')})`, [plain, ...parameters]];
  }

  stored(credential: string) {
    return { hash: inJson(this.wrap(hashOf(credential))), pepperId: this.id };
  }

  wrap(plain: Uint8Array, id = this.id): Buffer {
    const key = id === undefined ? undefined : this.#keys.get(id);
    return key ? createHmac('sha256', key).update(plain).digest() : Buffer.from(plain);
  }
}

const inJson = (hash: Uint8Array) => `\\x${Buffer.from(hash).toString('hex')}`;

export const hashTables = {
  tokens: 'token_id',
  company_keys: 'key_id',
  admin_tokens: 'admin_token_id',
  person_handles: 'handle_id',
} as const;

const row = z.object({ id: z.string(), hash: z.instanceof(Uint8Array) });

/**
 * Adds the pepper to hashes without a pepper.
 * @returns the number of hashes with an unknown pepper.
 * @throws PepperError if the process has no pepper, but some hashes have a pepper.
 */
export async function pepperHashes(database: Database, pepper: Pepper): Promise<number> {
  const all = Object.keys(hashTables).map((table) => `SELECT pepper_id FROM ${table}`);
  const others = `SELECT count(*)::int AS count FROM (${all.join(' UNION ALL ')}) AS hashes
    WHERE pepper_id IS NOT NULL AND pepper_id <> ALL ($1::text[])`;
  const [{ count } = { count: 0 }] = await read(database, z.object({ count: z.int() }), others, [pepper.ids]);
  if (pepper.id === undefined) {
    if (count === 0) return 0;
    throw new PepperError('Tokens in the database were hashed with a RELAY_SECRET: set it to the value of the other processes.');
  }
  for (const [table, id] of Object.entries(hashTables)) {
    const plain = `SELECT ${id} AS id, hash FROM ${table} WHERE pepper_id IS NULL LIMIT 1000`;
    const update = `UPDATE ${table} SET hash = made.hash, pepper_id = $2
      FROM json_to_recordset($1::text::json) AS made(id text, hash bytea) WHERE ${id} = made.id AND pepper_id IS NULL`;
    for (let rows = await read(database, row, plain); rows.length > 0; rows = await read(database, row, plain)) {
      const made = rows.map(({ id, hash }) => ({ id, hash: inJson(pepper.wrap(hash)) }));
      await database.query(update, [JSON.stringify(made), pepper.id]);
    }
  }
  return count;
}
