/**
 * What comes in with a request: JSON that no two readers could understand differently, and body and query as schemas read them.
 */

import { isUtf8 } from 'node:buffer';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { type Issue, jsonPointer, mostBytes } from '../chain/request.js';
import { isNestedDeeper, type Parsed } from '../chain/text.js';
import { Problem } from '../contract/problem.js';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function limitBody(maxBytes = mostBytes): MiddlewareHandler {
  const countBody = bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new Problem('body-too-large', `A body may have at most ${maxBytes / 1024} KiB.`);
    },
  });
  return (c, next) => {
    // Hono's middleware makes a whole `Request` of what Node received, which costs as much as reading and checking a chain.
    const isShort = Number(c.req.header('Content-Length') ?? Number.NaN) <= maxBytes;
    return isShort && c.req.header('Transfer-Encoding') === undefined ? next() : countBody(c, next);
  };
}

/** @throws Problem 415 where the body says to be something else than JSON, 400 where it is not strict JSON. */
export function readJson(contentType: string | undefined, bytes: ArrayBuffer): unknown {
  const { value, assertStrict } = parseJson(contentType, bytes);
  assertStrict();
  return value;
}

/**
 * The value of a body, and the rest of what strict JSON asks for, which takes ten times as long: not for strangers.
 * @throws Problem 415, 400; `assertStrict` too.
 */
export function parseJson(contentType: string | undefined, bytes: ArrayBuffer): { value: unknown; assertStrict(): void } {
  if (!/^application\/([\w.-]+\+)?json *(;|$)/i.test(contentType ?? ''))
    throw new Problem('unsupported-media-type', 'Send JSON, with Content-Type: application/json.');
  const malformed = (error: string) => new Problem('malformed-json', `The body ${error}.`);
  const body = readJsonText(bytes);
  if (!body.ok) throw malformed(body.error);
  return {
    value: body.value,
    assertStrict() {
      const error = looseness(body);
      if (error !== undefined) throw malformed(error);
    },
  };
}

/** The body as a JSON object; no body at all is an empty one. @throws Problem as readJson does, and 400 where it is no object. */
export async function readObject(c: Context): Promise<JsonObject> {
  const bytes = await c.req.arrayBuffer();
  if (bytes.byteLength === 0) return {};
  const value = readJson(c.req.header('Content-Type'), bytes);
  if (!isObject(value)) throw new Problem('malformed-json', 'The body must be a JSON object.');
  return value;
}

/** What PATCH takes beside JSON (RFC 7396). */
export const mergePatchType = 'application/merge-patch+json';

export function isMergePatch(c: Context): boolean {
  return c.req.header('Content-Type')?.toLowerCase().startsWith(mergePatchType) ?? false;
}

/** How many arrays and objects may be inside each other. */
export const maxDepth = 32;

/** @returns the value, or what is wrong with the text. Bytes are UTF-8. */
export function readStrictJson(bytes: ArrayBuffer): Parsed<{ value: unknown }> {
  const body = readJsonText(bytes);
  if (!body.ok) return body;
  const error = looseness(body);
  return error === undefined ? { ok: true, value: body.value } : { ok: false, error };
}

function readJsonText(bytes: ArrayBuffer): Parsed<{ text: string; value: unknown }> {
  if (!isUtf8(bytes)) return { ok: false, error: 'is not UTF-8' };
  const text = new TextDecoder().decode(bytes);
  if (isNestedDeeper(text, maxDepth)) return { ok: false, error: `is nested deeper than ${maxDepth} levels` };
  try {
    return { ok: true, text, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, error: `is not JSON${place(error, text)}` };
  }
}

/** What two readers of the text could understand differently, or what could not be kept. */
function looseness({ text, value }: { text: string; value: unknown }): string | undefined {
  return nameError(text) ?? textError(text, value);
}

/** The place or the character that the parser names; never its excerpt, which may hold a token. */
function place(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : '';
  if (text.trim() === '') return ': it is empty';
  if (message.startsWith('Unexpected end')) return ': it ends too early';
  const [, unexpected] = /^Unexpected token '(.)'/su.exec(message) ?? [];
  if (unexpected !== undefined) return `: ${JSON.stringify(unexpected)} is not expected where it stands`;
  const position = / at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return '';
  const before = text.slice(0, Number(position)).split('\n');
  return ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** In text that is JSON: names that stand twice in one object, of which `JSON.parse` would keep the last, and `__proto__`. */
function nameError(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/gs)) {
    if (token === '{' || token === '[')
      open.push(undefined); // A set where there is a name to put into it.
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const name: string = JSON.parse(last);
      if (name === '__proto__') return 'has a field named "__proto__"';
      const names = open.at(-1) ?? new Set();
      if (names.has(name)) return `has the field ${JSON.stringify(name.slice(0, 80))} twice in one object`;
      open[open.length - 1] = names.add(name);
    } else last = token;
  }
  return undefined;
}

/** Texts that PostgreSQL or a mail could not hold; they can only have come as escapes. */
function textError(json: string, value: unknown): string | undefined {
  if (!/\\u(0000|d[89a-f])/i.test(json)) return undefined;
  const [text = '', path = []] = textsIn(value).find(([text]) => text.includes('\0') || /\p{Cs}/u.test(text)) ?? [];
  if (text === '') return undefined;
  return `has ${text.includes('\0') ? 'a NUL character' : 'half of a surrogate pair'} at ${jsonPointer(path) || 'its top'}`;
}

/** Every text in it with its path; the name of a field has that of its object. */
function textsIn(value: unknown, path: readonly string[] = [], texts: [text: string, path: readonly string[]][] = []) {
  if (typeof value === 'string') texts.push([value, path]);
  if (typeof value !== 'object' || value === null) return texts;
  for (const [name, inner] of Object.entries(value)) {
    texts.push([name, path]);
    textsIn(inner, [...path, name], texts);
  }
  return texts;
}

/** The value as the schema reads it. `found` are mistakes that are known already. @throws Problem 400 naming all mistakes. */
export function parseAs<Schema extends z.ZodType>(schema: Schema, value: unknown, found: readonly Issue[] = []): z.infer<Schema> {
  const { data, error } = schema.safeParse(value, { error: required });
  const mistakes = [...found, ...(error ? remarksOf(error) : [])];
  if (mistakes.length === 0) mistakes.push(...unprintable(data));
  if (mistakes.length === 0) return data as z.infer<Schema>;
  throw invalid(mistakes);
}

/** The body as the schema reads it, in which texts may have line breaks. @throws Problem 400, 415 */
export async function readTexts<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  const { data, error } = schema.safeParse(await readObject(c), { error: required });
  if (error) throw invalid(remarksOf(error));
  return data;
}

/** Nothing here is meant to hold control characters, and in a header they could do harm. */
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

/** Of a list, of which the answer is a part. `cursor` is the form of a `nextCursor`. */
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

/** A cursor that is a sequence number of the store. */
export const numberCursor = /^\d{1,18}$/;

/** What zod found, each mistake at its place. Never shows a value, which may be secret. */
export function remarksOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [];
    if (unknown.length > 0)
      return unknown.map((key) => ({ pointer: jsonPointer([...issue.path, key]), detail: 'is not a field that is known here' }));
    const detail = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    return [{ pointer: jsonPointer(issue.path), detail }];
  });
}

/** Words for zod's `error` option: a field that is not there is required, rather than of the wrong type. */
export function required(issue: { input?: unknown }): string | undefined {
  return issue.input === undefined ? 'is required' : undefined;
}

/** 400 for a body of the right form with mistakes in it. */
export function invalid(errors: readonly Issue[]): Problem {
  const detail = errors.map((error) => `${error.pointer === '' ? 'the body' : error.pointer} ${error.detail}`).join('; ');
  return new Problem('invalid-body', detail, { errors });
}
