/** What the platform's webhook fills in before a request comes, written `${name}`; for those who compose a chain. */

import type { Fields } from './fields.js';
import { mostBytes } from './request.js';
import { variablePattern } from './text.js';

export interface Variable {
  name: string;
  description: string;
  /** Stands for it where nobody says what it would be. */
  sample: string;
}

const ofCustomField = /^custom_field_[\w-]+$/;

export const variables: readonly Variable[] = [
  { name: 'assignment_id', description: 'The assignment.', sample: '1001' },
  { name: 'owner_email', description: "Its owner's address.", sample: 'owner@example.com' },
  { name: 'resource_email', description: "The worker's address.", sample: 'worker@example.com' },
  { name: 'resource_state', description: "The worker's state or region.", sample: 'CA' },
  { name: 'checked_in_on', description: 'When the worker checked in.', sample: '2026-07-01T12:00:00Z' },
  { name: 'custom_field_<field_id>', description: 'A custom field of the assignment: put its id at the end.', sample: '501' },
];

/** Undefined: it is not one that the relay knows of. */
export function sampleOf(name: string): string | undefined {
  const known = ofCustomField.test(name) ? 'custom_field_<field_id>' : name;
  return variables.find(({ name }) => name === known)?.sample;
}

/** The names of the variables in the text, each once. */
export function variablesIn(text: string): string[] {
  return [...new Set([...text.matchAll(variablePattern)].map(([, name = '']) => name))];
}

/** The elements as the webhook would send them. What `filling` does not know stays. */
export function fillIn(elements: readonly Fields[], filling: (name: string) => string | undefined): Fields[] {
  let room = mostBytes; // Of UTF-16 units, for all that is filled in.
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

/** What the webhook filled in for a request that came: of fields that have one variable, and are otherwise as they were sent. */
export function valuesFrom(elements: readonly Fields[], sent: readonly Fields[]): Record<string, string> {
  const pairs = elements.flatMap((element, place) =>
    Object.entries(element).flatMap(([field, written]) => textPairs(written, sent[place]?.[field])),
  );
  const values = pairs.flatMap(([written, came]) => {
    const [before = '', name, after = '', more] = written.split(variablePattern);
    const isFilled = came.length >= before.length + after.length && came.startsWith(before) && came.endsWith(after);
    if (name === undefined || more !== undefined || !isFilled) return [];
    return [[name, came.slice(before.length, came.length - after.length)] as const];
  });
  return Object.fromEntries(values);
}

function textPairs(written: unknown, came: unknown): [written: string, came: string][] {
  if (typeof written === 'string' && typeof came === 'string') return [[written, came]];
  if (!Array.isArray(written) || !Array.isArray(came)) return [];
  return written.flatMap((element, place) => textPairs(element, came[place]));
}
