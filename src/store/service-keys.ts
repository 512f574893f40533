/** Random keys. The first process that needs a key creates it, and all processes share the key. */

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { secret } from '../contract/secrets.js';
import { type Database, Table } from './database.js';

export const serviceKeys = new Table(
  'service_keys',
  z.object({ companyId: z.string().optional(), purpose: z.string(), key: secret(z.string()) }),
  'purpose',
);

/** Returns the key, and creates it at the first use. @throws DecryptionError if the encryption key is missing */
export async function serviceKey(database: Database, purpose: string): Promise<string> {
  const find = () => serviceKeys.find(database, 'purpose = $1', [purpose]);
  // Two processes may create the key at the same time. Then the slower process inserts nothing, and reads the other's key.
  const made = async () => {
    await serviceKeys.insert(database, { purpose, key: randomBytes(32).toString('base64') });
    return find();
  };
  const found = (await find()) ?? (await made());
  if (!found) throw new Error(`The key for ${purpose} vanished while it was read`);
  return found.key;
}
