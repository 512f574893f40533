/** Reads a request's body as actions. If the body is not strict JSON but has only one meaning, accepts the body with warnings. */

import { type Fields, isObject } from '../chain/fields.js';
import { placeIn } from '../chain/json-place.js';
import { type Issue, maxActions } from '../chain/request.js';
import { decode, isPlainJsonType, type Received } from './decode.js';
import type { Flaw } from './flaw.js';
import { walk } from './repair.js';
import { looseness, parseText, readJsonText } from './strict-json.js';

/** The slow function `looseness` finds ambiguities in valid JSON. */
export type Reading =
  | { ok: true; text: string; elements: Fields[]; warnings: Issue[]; looseness(): Flaw | undefined }
  | ({ ok: false; flaw: Flaw } & Unread);

/** `cut`: whether the end of the text is missing. `errors`: one mistake for each element that is no action. */
export type Unread = { text: string; cut: boolean; errors?: Issue[] };

/** The fast path for plain JSON. If this function returns undefined, `readClosely` must read the body. */
export function readPlain(received: Received): Reading | undefined {
  const body = readPlainJson(received);
  return body?.ok ? asActions(body.text, body.value, []) : undefined;
}

export async function readClosely(received: Received): Promise<Reading> {
  const body = await readJson(received);
  return body.ok ? asActions(body.text, body.value, body.warnings) : body;
}

/** A body that was read as JSON. `text` is the JSON after the repairs. */
export type ReadJson =
  | { ok: true; text: string; value: unknown; warnings: Issue[] }
  | ({ ok: false; flaw: Flaw } & Pick<Unread, 'text' | 'cut'>);

/** The fast path of `readJson`. */
export function readPlainJson({ contentType, contentEncoding, bytes, whole }: Received): ReadJson | undefined {
  if (!whole || contentEncoding !== undefined || !isPlainJsonType(contentType)) return undefined;
  const body = readJsonText(bytes);
  return body.ok ? { ...body, warnings: [] } : undefined;
}

export async function readJson(received: Received): Promise<ReadJson> {
  const { text, warnings, unread } = await decode(received);
  if (unread) return { ok: false, flaw: { kind: unread }, text, cut: unread === 'too-large' || unread === 'cut-off' };
  const parsed = parseText(text);
  if (parsed.ok) return { ok: true, text, value: parsed.value, warnings };
  if (text.trim() === '') return { ok: false, flaw: { kind: 'empty' }, text, cut: false };
  const walked = walk(text);
  if (!walked.ok) return { ok: false, flaw: walked.broken, text, cut: false };
  const repaired = parseText(walked.repaired);
  if (!repaired.ok) return { ok: false, flaw: { kind: 'character' }, text, cut: false };
  return { ok: true, text: walked.repaired, value: repaired.value, warnings: [...warnings, ...repairs(text, walked)] };
}

function repairs(text: string, { controls, commas }: { controls: readonly number[]; commas: readonly number[] }): Issue[] {
  const warning = ([first]: readonly number[], says: string): Issue[] => {
    if (first === undefined) return [];
    const { line, column } = placeIn(text, first);
    return [{ pointer: '', detail: `line ${line}, column ${column}: ${says}` }];
  };
  return [
    ...warning(
      controls,
      'a text contains an unescaped line break or another control character. The relay read it as part of the text; the platform must escape the text for JSON',
    ),
    ...warning(commas, 'a comma before a closing bracket was ignored'),
  ];
}

const looksLikeAction = (value: Fields) => ['action', 'relayId', 'relayAccessToken'].some((name) => Object.hasOwn(value, name));

/** Accepts a list of actions, one action, or an object that contains only a list. */
function asActions(text: string, value: unknown, warnings: Issue[]): Reading {
  const body = { text, looseness: () => asFlaw(looseness({ text, value })) };
  if (!isObject(value)) return Array.isArray(value) ? listed(value, body, warnings) : notActions(text);
  if (looksLikeAction(value)) {
    const detail = 'is a single action and was read as a list with one action; send an array, also for a single action';
    return { ok: true, ...body, elements: [value], warnings: [...warnings, { pointer: '', detail }] };
  }
  const [[name = '', inner] = [], ...others] = Object.entries(value);
  if (others.length > 0 || !Array.isArray(inner)) return notActions(text);
  const detail = `is an object; the list of actions was read from its field ${JSON.stringify(name.slice(0, 40))}. Send the array itself`;
  return listed(inner, body, [...warnings, { pointer: '', detail }]);
}

type Body = Pick<Extract<Reading, { ok: true }>, 'text' | 'looseness'>;

function listed(values: readonly unknown[], body: Body, warnings: Issue[]): Reading {
  const elements = values.filter(isObject);
  if (elements.length === values.length && values.length > 0) return { ok: true, ...body, elements, warnings };
  const errors: Issue[] = values.length === 0 ? [{ pointer: '', detail: 'must have at least one action' }] : [];
  for (const [index, element] of values.entries()) {
    if (!isObject(element)) errors.push({ pointer: `/${index}`, detail: 'must be an object' });
    if (errors.length >= maxActions) break;
  }
  return notActions(body.text, errors);
}

function notActions(text: string, errors: Issue[] = []): Reading {
  return { ok: false, flaw: { kind: 'not-actions' }, text, cut: false, errors };
}

export function asFlaw(found: ReturnType<typeof looseness>): Flaw | undefined {
  if (!found) return undefined;
  const { kind, offset, field, error } = found;
  return kind === 'field-twice' ? { kind, offset, field } : { kind, offset, error };
}
