/** Bodies that change settings. What they come to, secrets above all, depends on what is stored. */

import type { Context } from 'hono';
import type { z } from 'zod';
import { type Merged, replaceKeepingSecrets } from '../../contract/secrets.js';
import { parseAs, readObject } from '../body.js';

const mergePatchType = 'application/merge-patch+json';
export const mediaTypes = ['application/json', mergePatchType];

export function isMergePatch(c: Context): boolean {
  return c.req.header('Content-Type')?.toLowerCase().startsWith(mergePatchType) ?? false;
}

/**
 * @param merge - puts together what is given and what is stored.
 * @returns what makes the settings to be stored of those that are; it throws a Problem 400 that names all mistakes.
 */
export async function readSettings<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
  merge: (schema: Schema, given: unknown, stored: unknown) => Merged = replaceKeepingSecrets,
): Promise<(stored?: object, unlessGiven?: object) => z.infer<Schema>> {
  const body = await readObject(c);
  return (stored, unlessGiven) => {
    const { value, problems } = merge(schema, { ...unlessGiven, ...body }, stored);
    return parseAs(schema, value, problems);
  };
}
