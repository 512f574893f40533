/** Converts fields of an action to text that a person can edit, and back. A list has one entry per line. An object is JSON. */

import { plainCondition, storedCondition } from '../chain/condition.js';
import { delayText, storedDelay } from '../chain/durations.js';
import { type Fields, fieldText, fixedFields, isObject } from '../chain/fields.js';
import { jsonPlace } from '../chain/json-place.js';
import { isMadeHtml, mailHtml } from '../chain/mail-html.js';

/** The fields that users see, with their values. */
export const shownFields = (fields: Fields) => Object.entries(fields).filter(([name]) => !fixedFields.includes(name));

const isList = (value: unknown): value is string[] => Array.isArray(value) && value.every((entry) => typeof entry === 'string');
const listHint = 'Write one entry per line.';
const linesOf = (text: string) => text.split('\n').flatMap((line) => line.trim() || []);

/** @returns '' for undefined and null. */
export function editText(value: unknown): string {
  if (isList(value)) return value.join('\n');
  if (typeof value === 'object' && value !== null) return JSON.stringify(value, undefined, 2);
  return value === undefined || value === null ? '' : String(value);
}

/** Whether the form shows the field as a textarea with several lines. */
export function isLong(name: string, value: unknown): boolean {
  const text = editText(value);
  return name === 'emails' || name === 'body' || Array.isArray(value) || text.length > 60 || text.includes('\n');
}

/** A merge patch with the changed fields. A field that the user emptied is `null`, so the API removes the field. */
export function changesOf(fields: Fields, texts: Readonly<Record<string, string>>): Fields {
  // A text in place of the list of addresses becomes a list, even if the user does not touch it.
  const isText = typeof fields.emails === 'string';
  const all = isText ? { emails: editText(fields.emails), ...texts } : texts;
  const isChanged = (name: string, text: string) => (name === 'emails' && isText) || text !== formText(name, fields[name]);
  const changed = Object.entries(all).filter(([name, text]) => isChanged(name, text));
  const stored = (name: string, text: string) => forms[name]?.stored(text) ?? readText(fields[name], text);
  const changes: Fields = Object.fromEntries(changed.map(([name, text]) => [name, text === '' ? null : stored(name, text)]));
  // People who do not know HTML write only the text. The text replaces the HTML, unless the user changed the HTML, too.
  const { action, body, bodyHtml } = { ...fields, ...changes };
  const isOld = 'bodyHtml' in fields ? 'body' in changes && !('bodyHtml' in changes) : action === 'sendEmails' && !bodyHtml;
  return isOld && body ? { ...changes, bodyHtml: mailHtml(fieldText(body)) } : changes;
}

/** Fields that a form shows in its own way: a delay with its unit, a condition with `is` or `is not`, addresses as a list. */
const forms: Record<string, { shown(stored: string): string; stored(shown: string): unknown; hint: string }> = {
  delayInSeconds: { shown: delayText, stored: storedDelay, hint: 'For example: 30 minutes or 1 h.' },
  emails: { shown: (text) => text, stored: linesOf, hint: listHint },
  actionCondition: { shown: plainCondition, stored: storedCondition, hint: 'Examples: status is draft; status is not draft.' },
};

export function hintOf(name: string, fields: Fields) {
  if (name === 'body' && fields.bodyHtml && !isMadeHtml(fields)) return 'If you change this text, it loses its formatting.';
  return forms[name]?.hint ?? (Array.isArray(fields[name]) ? listHint : undefined);
}

/** The text of a field in a form. */
export const formText = (name: string, value: unknown): string => forms[name]?.shown(editText(value)) ?? editText(value);

function readText(before: unknown, text: string): unknown {
  if (isList(before)) return linesOf(text);
  if (typeof before !== 'object' || before === null) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // The text is not JSON. The API reports this mistake.
  }
}

/** For example `The text has a mistake at line 2, column 7`. Empty if the text is a JSON object. */
export function objectMistake(text: string): string {
  try {
    return isObject(JSON.parse(text)) ? '' : 'This must be a JSON object, such as {"workorder": {"id": 1001}}';
  } catch (error) {
    return `The text has a mistake${jsonPlace(error, text)}`;
  }
}

/** Parses a JSON object. Undefined if the text is not a JSON object. */
export const readObject = (text: string): Fields | undefined => (objectMistake(text) ? undefined : JSON.parse(text));
