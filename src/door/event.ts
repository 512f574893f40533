/** Reads an event: any JSON object. If the body is not strict JSON but has only one meaning, accepts the body with warnings. */

import { type Fields, isObject } from '../chain/fields.js';
import type { Issue } from '../chain/request.js';
import type { Received } from './decode.js';
import { type Flaw, storable } from './flaw.js';
import { asFlaw, readJson, readPlainJson } from './read.js';
import { nameError, parseText } from './strict-json.js';

/** `text` is the JSON of the event. The relay hashes and stores this text. */
export type ReadEvent =
  | { ok: true; text: string; event: Fields; warnings: Issue[] }
  | { ok: false; text: string; flaw: Flaw; cut: boolean };

export async function readEvent(received: Received): Promise<ReadEvent> {
  const read = readPlainJson(received) ?? (await readJson(received));
  if (!read.ok) return read;
  const { text, value, warnings } = read;
  if (!isObject(value)) return { ok: false, text, flaw: { kind: 'not-an-object' }, cut: false };
  const flaw = fieldTwice(text);
  return flaw ? { ok: false, text, flaw, cut: false } : { ok: true, text, event: storableEvent(text, value), warnings };
}

/** Reads the text of a stored event. Does not search for ambiguities again, because the search takes long. */
export function parseEvent(text: string): Fields {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? storableEvent(text, value) : {};
}

/** Reads the stored text of an event. @returns undefined if the text is no event */
export function readEventText(text: string): Fields | undefined {
  const read = parseText(text);
  return read.ok && isObject(read.value) && !fieldTwice(text) ? storableEvent(text, read.value) : undefined;
}

/** Finds a field that occurs twice. Allows the name `__proto__`, because the relay reads only own fields of an event. */
const fieldTwice = (text: string) => asFlaw(nameError(text, true));

/** Replaces NUL characters and halves of surrogate pairs in all texts. The relay cannot store or send such characters. */
function storableEvent(text: string, event: Fields): Fields {
  if (!/\\u(0000|d[89a-f])/i.test(text)) return event;
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return storable(value);
    if (Array.isArray(value)) return value.map(clean);
    return isObject(value) ? fields(value) : value;
  };
  const fields = (object: Fields): Fields =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [storable(name), clean(value)]));
  return fields(event);
}
