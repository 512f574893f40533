/** Late texts contain `${assignment.path}`. The workflows import this file, so it does not import zod. See also mend.ts. */

import type { ChainAction, LateText } from './chain.js';
import { type Condition, conditionText, type Opaque, propertyOf } from './condition.js';
import type { Parsed } from './text.js';

/** The values that an activity must read for an action. */
export type LateQuestion = { paths: string[]; emails?: LateText[] };

/** The maximum length of `LateValues`, in characters of JSON, because the workflow's history contains the values. */
export const mostLateCharacters = 10_000;

const isText = (field: LateText | LateText[]): field is LateText => typeof field[0] === 'string';
export const textsOf = (field: LateText | LateText[]): LateText[] => (isText(field) ? [field] : field);

/** Returns each path once. */
export function pathsOf(texts: readonly LateText[]): string[] {
  return [...new Set(texts.flatMap((text) => text.filter((_, place) => place % 2 === 1)))];
}

/** @returns undefined if the action has no late text. */
export function lateQuestion({ late }: Pick<ChainAction, 'late'>): LateQuestion | undefined {
  if (!late) return undefined;
  const { emails } = late;
  return { paths: pathsOf(Object.values(late).flatMap(textsOf)), ...(emails && { emails: textsOf(emails) }) };
}

export function readValues(paths: readonly string[], assignment: unknown): Parsed<{ values: Record<string, string> }> {
  const values = paths.flatMap((path) => {
    const value = valueText(propertyOf(assignment, path));
    return value === undefined ? [] : [[path, value] as const];
  });
  const missing = paths.filter((path) => !values.some(([known]) => known === path));
  return missing.length === 0
    ? { ok: true, values: Object.fromEntries(values) }
    : { ok: false, error: `the assignment has no value for ${missing.map((path) => `\${assignment.${path}}`).join(', ')}` };
}

/** A value as text. Objects and lists become compact JSON. @returns undefined if there is no value. */
export function valueText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Joins the parts of the text. @param write - returns the text that replaces a path. */
export const joined = (text: LateText, write: (path: string) => string) =>
  text.map((part, place) => (place % 2 === 0 ? part : write(part))).join('');

/** Returns the text that people see before the values are known. */
export const unread = (text: LateText) => joined(text, (path) => `\${assignment.${path}}`);

export function filledText(field: string, text: LateText, values: Readonly<Record<string, string>>): string {
  const isAlone = text.length === 3 && text[0] === '' && text[2] === '';
  return joined(text, (path) => valueIn(field, values[path] ?? '', isAlone));
}

/** A value adds no element or attribute to HTML, and no recipient to an address. `isAlone`: it may be a list of addresses. */
export function valueIn(field: string, value: string, isAlone: boolean): string {
  if (field === 'emails') return isAlone ? value : value.replaceAll(/[,<>"]/g, ' ');
  return field === 'bodyHtml' ? escapeHtml(value) : value;
}

function escapeHtml(value: string): string {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return value.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character);
}

/** Joins everything that an activity must check before the action. If there is only a plain condition, returns this condition. */
export function opaqueCondition(opaque: Opaque): Condition | undefined {
  const { condition, if: expression, late } = opaque;
  if (!expression && !late) return condition;
  const texts = [condition && conditionText(condition), expression?.text].filter((text) => text !== undefined);
  const value = texts.length > 1 ? texts.map((text) => `(${text})`).join(' && ') : (texts[0] ?? onlyLate);
  return { path: [], operator: '==', value, opaque };
}

/** If an action has late texts, but no condition, people see this text in place of the condition. */
const onlyLate = 'the assignment has all needed values';
