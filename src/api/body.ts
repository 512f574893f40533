/** What the admin API is asked: JSON bodies and the part of a list. Every mistake becomes a 400 that names its place. */

import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import type { Issue } from '../chain/request.js';
import type { PageRequest } from '../store/database.js';
import { jsonPointer, Problem, remarksOf, required } from './problem.js';
import { readStrictJson } from './strict-json.js';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Refuses bodies of more bytes than these. */
export function limitBody(maxBytes: number): MiddlewareHandler {
  return bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new Problem('body-too-large', `A body may have at most ${maxBytes / 1024} KiB.`);
    },
  });
}

/** @throws Problem 415 where the body says to be something else than JSON, 400 where it is not strict JSON (see readStrictJson). */
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

/** 400 for a body of the right form with mistakes in it. */
export function invalid(errors: readonly Issue[]): Problem {
  const detail = errors.map((error) => `${error.pointer === '' ? 'the body' : error.pointer} ${error.detail}`).join('; ');
  return new Problem('invalid-body', detail, { errors });
}

/** Nothing here is meant to hold control characters, and in a header they could do harm. */
function unprintableTexts(value: unknown, path: readonly PropertyKey[] = []): Issue[] {
  if (typeof value === 'string') {
    return /\p{Cc}/u.test(value) ? [{ pointer: jsonPointer(path), detail: 'must not contain control characters' }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => unprintableTexts(inner, [...path, key]));
}

/** A name that people give to something. */
export const label = z.string().trim().min(1, 'must not be blank').max(200);

/** `?limit=` (1 to 200, 50 unless given) and `?cursor=`, the `nextCursor` of the part before, which has to match `cursor`. */
export function readPage(c: Context, cursor: RegExp): PageRequest {
  const { limit = '50', cursor: after } = c.req.query();
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > 200) throw invalidQuery('limit must be 1 to 200.');
  if (after !== undefined && !cursor.test(after)) throw invalidQuery('cursor must be the nextCursor of the page before.');
  return { limit: Number(limit), ...(after !== undefined && { after }) };
}

function invalidQuery(detail: string): Problem {
  return new Problem('invalid-query', detail);
}

/** A cursor that is a sequence number of the store. */
export const numberCursor = /^\d{1,18}$/;
