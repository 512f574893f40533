/** Bodies that change settings: which of them are kept depends on what is stored. */

import type { Context } from 'hono';
import type { z } from 'zod';
import { mergePatch, replaceKeepingSecrets } from '../../contract/secrets.js';
import { parseAs, readObject } from '../body.js';

const mergePatchType = 'application/merge-patch+json';
export const mediaTypes = ['application/json', mergePatchType];

/**
 * Reads the body, which is a merge patch where it says so, or `patch` does.
 * @returns what makes settings of it and of those that are stored. @throws Problem 400, as the function does.
 */
export async function readSettings<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
  patch = c.req.method === 'PATCH' && c.req.header('Content-Type')?.toLowerCase().startsWith(mergePatchType),
): Promise<(stored: object | undefined, unlessGiven?: object) => z.infer<Schema>> {
  const body = await readObject(c);
  return (stored, unlessGiven) => {
    const { value, problems } = (patch ? mergePatch : replaceKeepingSecrets)(schema, { ...unlessGiven, ...body }, stored);
    return parseAs(schema, value, problems);
  };
}
