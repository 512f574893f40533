/** Stores the fields of an action as sent, except fields that the action contains unchanged, such as a long e-mail. */

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

/** @returns the fields whose sent value differs from the value in the action. @param names - the known fields. */
export function sentFields(action: ChainAction, fields: Fields, names: readonly string[]): Fields {
  const held = heldFields(action);
  const isKept = (name: string) =>
    // A long comment is cut, and the relay does not store the rest of the comment.
    name !== 'comment' && !fixedFields.includes(name) && fields[name] !== undefined && !isSame(fields[name], held[name]);
  return Object.fromEntries(names.filter(isKept).map((name) => [name, fields[name]]));
}

/** Every field as it was sent, without the token. */
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

export function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return one.length === other.length && one.every((item, place) => item === other[place]);
}
