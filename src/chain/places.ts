/** The places of an object, such as `workorder.id`, with their values. */

import type { Value } from './comparisons.js';
import { ownProperty, pathPattern, propertyOf, stepsOf } from './condition.js';
import { type Fields, isObject } from './fields.js';

export type Place = { path: string; value: Value | null };

const mostPlaces = 400;
const mostOfList = 3;

/** The places with a text, number, boolean or null, in the order of the object. Leaves out names that a path cannot contain. */
export function placesOf(object: Fields): Place[] {
  const places: Place[] = [];
  const look = (value: unknown, path: string) => {
    if (places.length >= mostPlaces || (path !== '' && !pathPattern.test(path))) return;
    if (Array.isArray(value)) for (const [at, one] of value.slice(0, mostOfList).entries()) look(one, `${path}[${at}]`);
    else if (isObject(value)) for (const [name, one] of Object.entries(value)) look(one, path === '' ? name : `${path}.${name}`);
    else if (value === null || ['string', 'number', 'boolean'].includes(typeof value))
      places.push({ path, value: value as Value | null });
  };
  look(object, '');
  return places;
}

export const valuesByPlace = (object: Fields): Fields =>
  Object.fromEntries(placesOf(object).map(({ path, value }) => [path, value]));

/** The reason why an event is refused, or an action is held. Test cases of users contain these words. */
export const noValueAt = (path = '') => `the event has no value at ${path}`;
/** Finds the words of `noValueAt`. The group is the place. */
export const noValuePattern = new RegExp(noValueAt('(\\S*\\w)'), 'g');

/** The places without a value, such as `assignment.id`, that the mistakes of a refused event name. */
export const missingPlaces = (mistakes: readonly { detail: string }[] = []): string[] =>
  mistakes.flatMap(({ detail }) => [...detail.matchAll(noValuePattern)].map(([, place = '']) => place));

/** The different values at this place of the objects. */
export function valuesAt(objects: readonly Fields[], path: string): string[] {
  const values = objects.map((object) => (path === '' ? undefined : propertyOf(object, path)));
  const shown = values.filter((value) => ['string', 'number', 'boolean'].includes(typeof value)).map((value) => String(value));
  return [...new Set(shown.filter((value) => value !== '' && value.length <= 100))];
}

/** The object with the new texts at these places. A number or a boolean keeps its type if the text allows it. */
export function withPlaces(object: Fields, changes: Fields): Fields {
  const typed = (path: string, text: unknown) => {
    const before = propertyOf(object, path);
    const isSame = ['number', 'boolean'].includes(typeof before) && /^(true|false|-?\d+(\.\d+)?)$/.test(String(text));
    return isSame ? JSON.parse(String(text)) : text;
  };
  const values = Object.entries(changes).map(([path, text]) => [path, typed(path, text)] as const);
  return values.reduce<object>((made, [path, value]) => withValue(made, stepsOf(path), value), object) as Fields;
}

/** A copy of `into` with this value at the place. */
export function withValue(into: unknown, [step, ...rest]: (string | number)[], value: unknown): object {
  const inner = step === undefined || rest.length === 0 ? value : withValue(ownProperty(into, step), rest, value);
  const before = typeof step === 'number' ? (Array.isArray(into) ? into : []) : isObject(into) ? into : {};
  return Object.assign(Array.isArray(before) ? [...before] : { ...before }, step !== undefined && { [step]: inner });
}
