import type { Fields } from './fields.js';
import { mostBytes } from './request.js';
import { isSame } from './sent.js';
import { blankness, type Parsed } from './text.js';

/** The relay applies `replace`, `trim` and `default` to each text, in this order. */
export interface Correction {
  field: string;
  replace?: { from: string; to: string }; // replaces every occurrence
  trim?: boolean; // removes white space at both ends
  default?: string; // replaces a text that is missing or blank, or still contains a variable
  texts?: boolean; // for an assignment id: also edits the other open actions with this assignment, and texts that contain the id
}

/** Corrects a field. If the field is a list, corrects each text. @returns the changes (perhaps none), or an error. */
export function correct(fields: Fields, { field, replace, trim, default: instead }: Correction): Parsed<{ changes: Fields }> {
  let length = 0;
  const each = (value: unknown) => {
    if (typeof value !== 'string' || length > mostBytes) return value;
    // Checks the length first, because many replacements can exhaust the memory.
    const grown = replace ? occurrences(value, replace.from) * (replace.to.length - replace.from.length) : 0;
    length += value.length + grown;
    if (length > mostBytes) return value;
    const replaced = replace ? value.replaceAll(replace.from, () => replace.to) : value;
    const trimmed = trim ? replaced.trim() : replaced;
    if (instead === undefined || blankness(trimmed) === undefined) return trimmed;
    length += instead.length;
    return instead;
  };
  const before = fields[field];
  const after = before === undefined ? instead : Array.isArray(before) ? before.map(each) : each(before);
  if (length > mostBytes) return { ok: false, error: `${field} can have at most ${mostBytes / 1024} KiB: shorten the new text` };
  return { ok: true, changes: isSame(before, after) ? {} : { [field]: after } };
}

function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}
