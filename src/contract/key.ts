/** A named key with which a company reads and steers its own chains. The key itself is shown once, when it is made. */

import { z } from 'zod';
import { label } from './label.js';

export const keySchema = z
  .object({
    keyId: z.string(),
    name: z.string(),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().optional().describe('To the minute.'),
  })
  .meta({ id: 'Key' });
export type CompanyKey = z.infer<typeof keySchema>;

export const keysResponse = z.object({ keys: z.array(keySchema) });
export const newKeyRequest = z.strictObject({ name: label }).meta({ id: 'NewKey' });
export const createdKeyResponse = keySchema
  .extend({ key: z.string().describe('The only time that it is shown.') })
  .meta({ id: 'CreatedKey' });
