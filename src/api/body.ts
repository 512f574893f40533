/** What the admin API is asked: JSON bodies and the part of a list. Every mistake becomes a 400 that names its place. */

import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import type { Issue } from '../chain/request.js';
import { jsonPointer } from '../chain/request.js';
import { Problem } from '../contract/problem.js';
import type { PageRequest } from '../store/database.js';
import { invalid, remarksOf, required } from './problems.js';
import { readStrictJson } from './strict-json.js';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Refuses bodies of more bytes than these. */
export function limitBody(maxBytes: number): MiddlewareHandler {
  const counted = bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new Problem('body-too-large', `A body may have at most ${maxBytes / 1024} KiB.`);
    },
  });
  return (c, next) => {
    // Hono's middleware makes a whole `Request` of what Node received, which costs as much as reading and checking a chain.
    const isShort = Number(c.req.header('Content-Length') ?? Number.NaN) <= maxBytes;
    return isShort && c.req.header('Transfer-Encoding') === undefined ? next() : counted(c, next);
  };
}

/**
 * @throws Problem 415 where the body says to be something else than JSON, 400 where it is not strict JSON (see readStrictJson).
 */
export function readJson(contentType: string | undefined, bytes: ArrayBuffer): unknown {
  if (!/^application\/([\w.-]+\+)?json *(;|$)/i.test(contentType ?? '')) {
    throw new Problem('unsupported-media-type', 'Send JSON, with Content-Type: application/json.');
  }
  const body = readStrictJson(bytes);
  if (!body.ok) throw new Problem('malformed-json', `The body ${body.error}.`);
  return body.value;
}

/**
 * The body as a JSON object; no body at all is an empty one.
 * @throws Problem as readJson does, and 400 where it is no object.
 */
export async function readObject(c: Context): Promise<JsonObject> {
  const bytes = await c.req.arrayBuffer();
  if (bytes.byteLength === 0) return {};
  const value = readJson(c.req.header('Content-Type'), bytes);
  if (!isObject(value)) throw new Problem('malformed-json', 'The body must be a JSON object.');
  return value;
}

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
