/** The variables (`${name}`) that the platform's webhook fills in, for people who compose a chain. */

import type { Fields } from './fields.js';
import { mostBytes } from './request.js';
import { variablePattern } from './text.js';

export interface Variable {
  name: string;
  description: string;
  sample: string; // the value in a test run, unless the person enters another value
}

const ofCustomField = /^custom_field_[\w-]+$/;

export const variables: readonly Variable[] = [
  { name: 'assignment_id', description: 'The id of the assignment.', sample: '1001' },
  { name: 'owner_email', description: "The e-mail address of the assignment's owner.", sample: 'owner@example.com' },
  { name: 'resource_email', description: "The technician's e-mail address.", sample: 'worker@example.com' },
  { name: 'resource_state', description: "The technician's state or region.", sample: 'CA' },
  { name: 'checked_in_on', description: 'When the technician checked in.', sample: '2026-07-01T12:00:00Z' },
  { name: 'custom_field_<field_id>', description: 'A custom field. The name ends with the id of the field.', sample: '501' },
];

/** @returns undefined for an unknown variable. */
export function sampleOf(name: string): string | undefined {
  const known = ofCustomField.test(name) ? 'custom_field_<field_id>' : name;
  return variables.find(({ name }) => name === known)?.sample;
}

const freeWords =
  /^(note|comment|remark|name|title|subject|description|text|message|body|reason|instruction|detail|summary|label|street|city|custom|field|udf|cf)s?$/;
const strictWords =
  /^(id|uuid|guid|key|number|count|email|mail|phone|date|time|timestamp|on|at|status|state|zip|url|zone|radius)s?$/;

/** @returns `free` for text that a person writes, `strict` for an id, address or time, and undefined for an unknown variable. */
export function wordingOf(name: string): 'free' | 'strict' | undefined {
  const words = name.split(/[^a-zA-Z\d]+|(?<=[a-z\d])(?=[A-Z])/).map((word) => word.toLowerCase());
  if (/^(custom|udf|cf)$/.test(words[0] ?? '')) return 'free';
  const last = words.at(-1) ?? '';
  if (strictWords.test(last)) return 'strict';
  return words.some((word) => freeWords.test(word)) ? 'free' : undefined;
}

/** Returns each name once. */
export function variablesIn(text: string): string[] {
  return [...new Set([...text.matchAll(variablePattern)].map(([, name = '']) => name))];
}

/** Fills in variables as the webhook does. If `filling` returns undefined, the variable stays in the text. */
export function fillIn(elements: readonly Fields[], filling: (name: string) => string | undefined): Fields[] {
  let room = mostBytes; // the limit of all inserted values together, in UTF-16 units
  const filled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== 'string') return value;
    return value.replaceAll(variablePattern, (written, name: string) => {
      const value = filling(name);
      if (value === undefined || value.length > room) return written;
      room -= value.length;
      return value;
    });
  };
  return elements.map((element) => Object.fromEntries(Object.entries(element).map(([field, value]) => [field, filled(value)])));
}
