/** Validates the body and the query of a request with schemas. src/door reads the body of a chain. */

import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { type Fields, isObject } from '../chain/fields.js';
import { type Issue, jsonPointer, mostBytes } from '../chain/request.js';
import { Problem } from '../contract/problem.js';
import { isJsonType } from '../door/decode.js';
import { readStrictJson, textsIn } from '../door/strict-json.js';

export function limitBody(maxBytes = mostBytes): MiddlewareHandler {
  const countBody = bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new Problem('body-too-large', `The texts are too long: all texts together may have at most ${maxBytes / 1024} KiB.`);
    },
  });
  return (c, next) => {
    // For a short body, avoid Hono's middleware: its `Request` object takes as long as reading and checking a chain.
    const isShort = Number(c.req.header('Content-Length') ?? Number.NaN) <= maxBytes;
    return isShort && c.req.header('Transfer-Encoding') === undefined ? next() : countBody(c, next);
  };
}

/**
 * A missing body counts as `{}`.
 * @throws Problem 415 if the content type is not JSON, 400 if the body is not strict JSON, or not a JSON object
 */
export async function readObject(c: Context): Promise<Fields> {
  const bytes = await c.req.arrayBuffer();
  if (bytes.byteLength === 0) return {};
  const isJson = isJsonType(c.req.header('Content-Type'));
  if (!isJson) throw new Problem('unsupported-media-type', 'Send JSON, with Content-Type: application/json.');
  const body = readStrictJson(bytes);
  if (!body.ok) throw new Problem('malformed-json', `The body ${body.error}.`);
  if (!isObject(body.value)) throw new Problem('malformed-json', 'The body must be a JSON object.');
  return body.value;
}

/** The media type of a merge patch (RFC 7396), for PATCH. */
export const mergePatchType = 'application/merge-patch+json';
export const isMergePatch = (c: Context) => c.req.header('Content-Type')?.toLowerCase().startsWith(mergePatchType) ?? false;

/** @param found - mistakes from earlier checks. @throws Problem 400 with all mistakes */
export function parseAs<Schema extends z.ZodType>(schema: Schema, value: unknown, found: readonly Issue[] = []): z.infer<Schema> {
  const { data, error } = schema.safeParse(value, { error: required });
  const mistakes = [...found, ...(error ? remarksOf(error) : [])];
  if (mistakes.length === 0) mistakes.push(...unprintable(data));
  if (mistakes.length === 0) return data as z.infer<Schema>;
  throw invalid(mistakes);
}

/** Like `parseAs`, but allows control characters such as line breaks. @throws Problem 400, 415 */
export async function readTexts<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  const { data, error } = schema.safeParse(await readObject(c), { error: required });
  if (error) throw invalid(remarksOf(error));
  return data;
}

/** Finds control characters. A value can become a header of a request or e-mail, where control characters are dangerous. */
function unprintable(value: unknown): Issue[] {
  const texts = textsIn(value).filter(([text]) => /\p{Cc}/u.test(text));
  return texts.map(([, path]) => ({ pointer: jsonPointer(path), detail: 'must not contain control characters' }));
}

export function parseQuery<Schema extends z.ZodType>(schema: Schema, query: Record<string, string>): z.infer<Schema> {
  const parsed = schema.safeParse(query, { error: required });
  if (parsed.success) return parsed.data;
  const wrong = remarksOf(parsed.error).map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
  throw new Problem('invalid-query', `${wrong.join('; ')}.`);
}

/** The query of a paged list. @param cursor - the pattern of `nextCursor`. */
export function pageQuery(cursor: RegExp) {
  const range = 'must be 1 to 200';
  const size = z.int(range).min(1, range).max(200, range).default(50);
  const readNumber = (text: unknown) => (typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : text);
  const previous = z.string().regex(cursor, 'must be the nextCursor of the previous page');
  return z.object({
    limit: z.preprocess(readNumber, size).describe('The maximum number of items in the answer.'),
    cursor: previous.optional().describe('The `nextCursor` of the previous page.'),
  });
}

/** The pattern of a cursor that is a sequence number. */
export const numberCursor = /^\d{1,18}$/;

/** The remarks never contain a value of the input, because a value may be secret. */
export function remarksOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [];
    if (unknown.length > 0)
      return unknown.map((key) => ({ pointer: jsonPointer([...issue.path, key]), detail: 'is not a known field' }));
    const detail = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    return [{ pointer: jsonPointer(issue.path), detail }];
  });
}

/** For zod's `error` option. Without this function, zod reports a missing field as a wrong type. */
export const required = (issue: { input?: unknown }): string | undefined =>
  issue.input === undefined ? 'is required' : undefined;

export function invalid(errors: readonly Issue[]): Problem {
  const detail = errors.map((error) => `${error.pointer === '' ? 'the body' : error.pointer} ${error.detail}`).join('; ');
  return new Problem('invalid-body', detail, { errors });
}
