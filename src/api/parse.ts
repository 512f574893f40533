/** What requests ask, as schemas read it: bodies and queries. Every mistake becomes a 400 that names its place. */

import { z } from 'zod';
import type { Issue } from '../chain/request.js';
import { jsonPointer } from '../chain/request.js';
import { Problem } from '../contract/problem.js';
import type { PageRequest } from '../store/database.js';
import { invalid } from './problems.js';

/** The value as the schema reads it. `found` are mistakes that are known already. @throws Problem 400 naming all mistakes. */
export function parseAs<Schema extends z.ZodType>(schema: Schema, value: unknown, found: readonly Issue[] = []): z.infer<Schema> {
  const parsed = schema.safeParse(value, { error: required });
  if (parsed.success && found.length === 0) {
    const unprintable = unprintableTexts(parsed.data);
    if (unprintable.length === 0) return parsed.data;
    throw invalid(unprintable);
  }
  throw invalid([...found, ...(parsed.success ? [] : remarksOf(parsed.error))]);
}

/** Nothing here is meant to hold control characters, and in a header they could do harm. */
function unprintableTexts(value: unknown, path: readonly PropertyKey[] = []): Issue[] {
  if (typeof value === 'string') {
    return /\p{Cc}/u.test(value) ? [{ pointer: jsonPointer(path), detail: 'must not contain control characters' }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => unprintableTexts(inner, [...path, key]));
}

/** The query as the schema reads it. @throws Problem 400 */
export function parseQuery<Schema extends z.ZodType>(schema: Schema, query: Record<string, string>): z.infer<Schema> {
  const parsed = schema.safeParse(query, { error: required });
  if (parsed.success) return parsed.data;
  const wrong = remarksOf(parsed.error).map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
  throw new Problem('invalid-query', `${wrong.join('; ')}.`);
}

/** The query of a list: a part of it. `cursor` is the form of a `nextCursor`. */
export function pageQuery(cursor: RegExp) {
  return z.object({
    limit: z
      .preprocess(
        (text) => (typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : text),
        z.int('must be 1 to 200').min(1, 'must be 1 to 200').max(200, 'must be 1 to 200').default(50),
      )
      .describe('The most that is answered at once.'),
    cursor: z
      .string()
      .regex(cursor, 'must be the nextCursor of the page before')
      .optional()
      .describe('The `nextCursor` of the part before.'),
  });
}

/** The part of a list that was asked for, for the store. */
export function pageOf({ limit, cursor }: z.infer<ReturnType<typeof pageQuery>>): PageRequest {
  return { limit, after: cursor };
}

/** A cursor that is a sequence number of the store. */
export const numberCursor = /^\d{1,18}$/;

/** What zod found, each mistake at its place. Never shows a value, which may be secret. */
export function remarksOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue): Issue[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        pointer: jsonPointer([...issue.path, key]),
        detail: 'is not a field that is known here',
      }));
    }
    const detail = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    return [{ pointer: jsonPointer(issue.path), detail }];
  });
}

/** Words for zod's `error` option: a field that is not there is required, rather than of the wrong type. */
export function required(issue: { input?: unknown }): string | undefined {
  return issue.input === undefined ? 'is required' : undefined;
}
