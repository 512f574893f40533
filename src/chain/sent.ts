/** The fields of an action as they were sent. What the action itself holds so, a long e-mail above all, is not kept twice. */

import { actionDefinitions } from './actions.js';
import type { ChainAction } from './chain.js';
import type { ActionDefinition } from './define-action.js';
import { type Fields, fixedFields } from './fields.js';

const ofEveryAction = {
  platformAssignmentId: 'assignmentId',
  delayInSeconds: 'delaySeconds',
  incomingValue: 'incomingValue',
  comment: 'comment',
};

/** @returns the fields that the action does not hold as they were sent. @param names - of the fields that are known. */
export function sentFields(action: ChainAction, fields: Fields, names: readonly string[]): Fields {
  const held = heldFields(action);
  const isKept = (name: string) =>
    // Of a comment, which is a label, the rest of a longer one is not kept.
    name !== 'comment' && !fixedFields.includes(name) && fields[name] !== undefined && !isSame(fields[name], held[name]);
  return Object.fromEntries(names.filter(isKept).map((name) => [name, fields[name]]));
}

/** Every field as it was sent, but for the token. */
export function fieldsOf(action: ChainAction): Fields {
  const given = Object.entries({ ...heldFields(action), ...action.sent }).filter(([, value]) => value !== undefined);
  return { action: action.action, relayId: action.relayId, ...Object.fromEntries(given) };
}

function heldFields(action: ChainAction): Fields {
  const definition: ActionDefinition | undefined = actionDefinitions.find(({ name }) => name === action.action);
  const values: Fields = { ...action };
  const textOf = (value: unknown) => (typeof value === 'number' ? String(value) : value);
  const names = Object.entries({ ...ofEveryAction, ...definition?.verbatim });
  return Object.fromEntries(names.map(([field, name]) => [field, textOf(values[name])]));
}

/** Texts, or lists of them. */
export function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return one.length === other.length && one.every((item, place) => item === other[place]);
}
