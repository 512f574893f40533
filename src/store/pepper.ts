/** The pepper of stored hashes: a key that follows from RELAY_SECRET, without which a stolen database tells nothing of a token. */

import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { hashOf } from '../contract/credential.js';
import { deriveKey } from '../contract/encryption.js';
import { StartError } from '../service/config.js';
import { type Database, type Parameter, read } from './database.js';

/** A hash was made with a RELAY_SECRET that is not the one here. */
export class PepperError extends StartError {
  override readonly name = 'PepperError';
}

/** What a stored hash with this pepper would be of a credential; undefined where the pepper is not the one here. */
export type HashWith = (pepperId: string | undefined) => Buffer | undefined;

export class Pepper {
  /** Kept with each hash. Undefined, here and there: there is none, and hashes are plain. */
  readonly id: string | undefined;
  readonly #keys: ReadonlyMap<string, Buffer>;

  /** @param secret - RELAY_SECRET: one, or several with commas between them, of which the first makes hashes and all match. */
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

  /** The condition, with its parameters, that a row is this credential's. */
  lookup(credential: string): [where: string, parameters: Parameter[]] {
    const plain = hashOf(credential);
    const peppered = this.ids.map((_, index) => ` OR hash = $${2 * index + 2} AND pepper_id = $${2 * index + 3}`);
    const parameters = this.ids.flatMap((id) => [this.wrap(plain, id), id]);
    return [`(hash = $1 AND pepper_id IS NULL${peppered.join('')})`, [plain, ...parameters]];
  }

  /** The columns of a new row. */
  stored(credential: string) {
    return { hash: inJson(this.wrap(hashOf(credential))), pepperId: this.id };
  }

  wrap(plain: Uint8Array, id = this.id): Buffer {
    const key = id === undefined ? undefined : this.#keys.get(id);
    return key ? createHmac('sha256', key).update(plain).digest() : Buffer.from(plain);
  }
}

/** As PostgreSQL reads bytes from JSON. */
const inJson = (hash: Uint8Array) => `\\x${Buffer.from(hash).toString('hex')}`;

/** Where hashes are, by the column of their ids. */
const tables = { tokens: 'token_id', company_keys: 'key_id', admin_tokens: 'admin_token_id' };

const row = z.object({ id: z.string(), hash: z.instanceof(Uint8Array) });

/**
 * Wraps the hashes that are still plain, a thousand at a time; what another process wraps meanwhile is wrapped once.
 * @returns how many were made with another pepper, and match nothing. @throws PepperError where there are such, and none is here.
 */
export async function pepperHashes(database: Database, pepper: Pepper): Promise<number> {
  const all = Object.keys(tables).map((table) => `SELECT pepper_id FROM ${table}`);
  const others = `SELECT count(*)::int AS count FROM (${all.join(' UNION ALL ')}) AS hashes
    WHERE pepper_id IS NOT NULL AND pepper_id <> ALL ($1::text[])`;
  const [{ count } = { count: 0 }] = await read(database, z.object({ count: z.int() }), others, [pepper.ids]);
  if (pepper.id === undefined) {
    if (count === 0) return 0;
    throw new PepperError('Tokens in the database were hashed with a RELAY_SECRET: set it here to that of the other processes.');
  }
  for (const [table, id] of Object.entries(tables)) {
    const plain = `SELECT ${id} AS id, hash FROM ${table} WHERE pepper_id IS NULL LIMIT 1000`;
    for (let rows = await read(database, row, plain); rows.length > 0; rows = await read(database, row, plain))
      await database.query(
        `UPDATE ${table} SET hash = made.hash, pepper_id = $2
         FROM json_to_recordset($1::text::json) AS made(id text, hash bytea) WHERE ${id} = made.id AND pepper_id IS NULL`,
        [JSON.stringify(rows.map(({ id, hash }) => ({ id, hash: inJson(pepper.wrap(hash)) }))), pepper.id],
      );
  }
  return count;
}
