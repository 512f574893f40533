/** Random keys. Each key is created once, and all processes use it. */

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { secret } from '../contract/secrets.js';
import { type Database, Table } from './database.js';

export const serviceKeys = new Table(
  'service_keys',
  z.object({ companyId: z.string().optional(), purpose: z.string(), key: secret(z.string()) }),
  'purpose',
);

/** Creates the key at its first use. @throws DecryptionError if the key that encrypts it is missing */
export async function serviceKey(database: Database, purpose: string): Promise<string> {
  const find = () => serviceKeys.find(database, 'purpose = $1', [purpose]);
  // Two processes may create the key at the same time. Then one inserts nothing and reads the key of the other.
  const made = async () => {
    await serviceKeys.insert(database, { purpose, key: randomBytes(32).toString('base64') });
    return find();
  };
  const found = (await find()) ?? (await made());
  if (!found) throw new Error(`The key for ${purpose} vanished while it was read`);
  return found.key;
}
