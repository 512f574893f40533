/** Reads JSON, and refuses JSON that two parsers could understand differently. */

import { isUtf8 } from 'node:buffer';
import { jsonPlace } from '../chain/json-place.js';
import { jsonPointer } from '../chain/request.js';
import { isNestedDeeper, type Parsed } from '../chain/text.js';

type ParsedText = { text: string; value: unknown };

/** The maximum number of levels of nested arrays and objects. */
export const maxDepth = 32;

/** Refuses ambiguous JSON, and bytes that are not UTF-8. */
export function readStrictJson(bytes: ArrayBuffer): Parsed<{ value: unknown }> {
  const body = readJsonText(bytes);
  if (!body.ok) return body;
  const error = looseness(body)?.error;
  return error === undefined ? { ok: true, value: body.value } : { ok: false, error };
}

/** Reads JSON, but does not search for ambiguities: `looseness` takes ten times as long as this function. */
export function readJsonText(bytes: ArrayBuffer): Parsed<ParsedText> {
  if (!isUtf8(bytes)) return { ok: false, error: 'is not UTF-8' };
  return parseText(new TextDecoder().decode(bytes));
}

export function parseText(text: string): Parsed<ParsedText> {
  if (isNestedDeeper(text, maxDepth)) return { ok: false, error: `is nested deeper than ${maxDepth} levels` };
  try {
    return { ok: true, text, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, error: `is not JSON${jsonPlace(error, text)}` };
  }
}

/** A defect in a text that is valid JSON. `offset`: the place of the defect. */
export type Looseness = { kind: 'field-twice' | 'character'; error: string; offset?: number; field?: string };

/** Finds JSON that two parsers could understand differently, and values that cannot be stored. */
export const looseness = ({ text, value }: ParsedText): Looseness | undefined => nameError(text) ?? textError(text, value);

/** Finds a name that occurs twice in one object (`JSON.parse` keeps the last field). By default, also finds `__proto__`. */
export function nameError(text: string, mayBeProto = false): Looseness | undefined {
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  let offset = 0;
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/gs)) {
    if (token === '{' || token === '[')
      open.push(undefined); // the first name replaces this entry with a set
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const name: string = JSON.parse(last);
      if (name === '__proto__' && !mayBeProto) return { kind: 'character', error: 'has a field named "__proto__"', offset };
      const names = open.at(-1) ?? new Set();
      if (names.has(name)) {
        const field = name.slice(0, 80);
        return { kind: 'field-twice', error: `has the field ${JSON.stringify(field)} twice in one object`, offset, field };
      }
      open[open.length - 1] = names.add(name);
    } else {
      last = token;
      offset = index;
    }
  }
  return undefined;
}

/** Finds texts that PostgreSQL or e-mail cannot represent. Only a `\u` escape can produce such a text. */
function textError(json: string, value: unknown): Looseness | undefined {
  if (!/\\u(0000|d[89a-f])/i.test(json)) return undefined;
  const [text = '', path = []] = textsIn(value).find(([text]) => text.includes('\0') || /\p{Cs}/u.test(text)) ?? [];
  if (text === '') return undefined;
  const what = text.includes('\0') ? 'a NUL character' : 'half of a surrogate pair';
  return { kind: 'character', error: `has ${what} at ${jsonPointer(path) || 'the top level'}` };
}

/** Returns every text with its path. The name of a field has the path of the object that contains the field. */
export function textsIn(value: unknown, path: readonly string[] = [], texts: [text: string, path: readonly string[]][] = []) {
  if (typeof value === 'string') texts.push([value, path]);
  if (typeof value !== 'object' || value === null) return texts;
  for (const [name, inner] of Object.entries(value)) {
    texts.push([name, path]);
    textsIn(inner, [...path, name], texts);
  }
  return texts;
}
