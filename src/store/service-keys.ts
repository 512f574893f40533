/** Random keys, created once and shared by all processes. */

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { secret } from '../contract/secrets.js';
import { type Database, Table } from './database.js';

export const serviceKeys = new Table(
  'service_keys',
  z.object({ companyId: z.string().optional(), purpose: z.string(), key: secret(z.string()) }),
  'purpose',
);

/** A key is created at its first use. @throws DecryptionError if the key that encrypts it is missing */
export async function serviceKey(database: Database, purpose: string): Promise<string> {
  const find = () => serviceKeys.find(database, 'purpose = $1', [purpose]);
  // Two processes may create it at the same time: then one inserts nothing and reads the other's key.
  const made = async () => {
    await serviceKeys.insert(database, { purpose, key: randomBytes(32).toString('base64') });
    return find();
  };
  const found = (await find()) ?? (await made());
  if (!found) throw new Error(`The key for ${purpose} vanished while it was read`);
  return found.key;
}
