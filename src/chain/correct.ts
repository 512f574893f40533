/** One correction for the same field of many actions. */

import type { Fields } from './fields.js';
import { isSame } from './sent.js';
import { blankness } from './text.js';

/** What is done to each text, in this order. */
export interface Correction {
  field: string;
  /** Every occurrence. */
  replace?: { from: string; to: string };
  /** White space at both ends goes. */
  trim?: boolean;
  /** In place of what is blank, missing or not substituted. */
  default?: string;
}

/** @returns the field as it becomes, of a list each of its texts; nothing where it stays. */
export function correct(fields: Fields, { field, replace, trim, default: instead }: Correction): Fields {
  const corrected = (text: string) => {
    const replaced = replace ? text.replaceAll(replace.from, () => replace.to) : text;
    const trimmed = trim ? replaced.trim() : replaced;
    return instead !== undefined && blankness(trimmed) !== undefined ? instead : trimmed;
  };
  const before = fields[field];
  const each = (value: unknown) => (typeof value === 'string' ? corrected(value) : value);
  const after = before === undefined ? instead : Array.isArray(before) ? before.map(each) : each(before);
  return isSame(before, after) ? {} : { [field]: after };
}
