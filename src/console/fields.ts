/** The fields of an action as they are edited: a text, a list with one entry a line, or JSON where it is neither. */

import type { Fields } from '../chain/fields.js';
import type { Issue } from '../chain/request.js';

const isList = (value: unknown): value is string[] => Array.isArray(value) && value.every((entry) => typeof entry === 'string');

/** @returns '' for what is not there. */
export function editText(value: unknown): string {
  if (isList(value)) return value.join('\n');
  if (typeof value === 'object' && value !== null) return JSON.stringify(value, undefined, 2);
  return value === undefined || value === null ? '' : String(value);
}

/** Whether a field is worth several lines. */
export function isLong(value: unknown): boolean {
  const text = editText(value);
  return Array.isArray(value) || text.length > 60 || text.includes('\n');
}

/** What was edited, by name; what is as before is left out, and what was emptied is `null`, which removes it. */
export function changesOf(fields: Fields, texts: Readonly<Record<string, string>>): Fields {
  const changed = Object.entries(texts).filter(([name, text]) => text !== editText(fields[name]));
  return Object.fromEntries(changed.map(([name, text]) => [name, text === '' ? null : readText(fields[name], text)]));
}

function readText(before: unknown, text: string): unknown {
  if (isList(before)) return text.split('\n').flatMap((line) => line.trim() || []);
  if (typeof before !== 'object' || before === null) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // The API says what is wrong with it.
  }
}

/** The name of the field that a pointer is about, behind what stands before fields: `/fields/emails/0`, `/1/cfValue`. */
export function fieldAt({ pointer }: Pick<Issue, 'pointer'>, before: string): string | undefined {
  if (!pointer.startsWith(`${before}/`)) return undefined;
  return (
    pointer
      .slice(before.length + 1)
      .split('/')[0]
      ?.replaceAll('~1', '/')
      .replaceAll('~0', '~') || undefined
  );
}
