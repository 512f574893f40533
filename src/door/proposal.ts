/** Guesses the actions of a broken body. These actions run only if a person agrees, because a value may be forged. */

import { jsonrepair } from 'jsonrepair';
import { isObject } from '../chain/fields.js';
import { maxActions } from '../chain/request.js';
import { parseText } from './strict-json.js';

const mostLength = 32 * 1024; // the repair of 32 KiB takes at most half a second; the repair of 256 KiB takes up to 18 seconds

/** @returns the probable actions of the text, at most `maxActions`. Undefined if the text contains no actions. */
export function proposalOf(text: string): Record<string, unknown>[] | undefined {
  if (text.length > mostLength) return undefined;
  const value = repaired(text);
  const list = Array.isArray(value) ? value : innerList(value);
  const objects = list.filter(isObject).slice(0, maxActions);
  return objects.length > 0 ? objects : undefined;
}

function repaired(text: string): unknown {
  const strict = parseText(text);
  if (strict.ok) return strict.value;
  try {
    const parsed = parseText(jsonrepair(text));
    return parsed.ok ? parsed.value : undefined;
  } catch {
    return undefined; // the text may be nested too deep for the stack
  }
}

/** A single action becomes a list. An object that contains only a list becomes this list. */
function innerList(value: unknown): unknown[] {
  if (!isObject(value)) return [];
  const [inner, ...others] = Object.values(value);
  return others.length === 0 && Array.isArray(inner) ? inner : [value];
}
