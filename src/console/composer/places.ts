/** Suggestions from the places of an event; the places that a draft uses; and an event made from them. */

import { conditionOf, type Row, type Value, whenOf } from '../../chain/comparisons.js';
import { pathPattern, stepsOf } from '../../chain/condition.js';
import type { Fields } from '../../chain/fields.js';
import { type Place, placesOf, withValue } from '../../chain/places.js';
import type { Issue } from '../../chain/request.js';
import { groupsOf } from '../../chain/sentences.js';
import { cutShort, variablePattern } from '../../chain/text.js';
import type { SystemNames } from '../types.js';
import type { Draft } from './draft.js';

/** The places with their values, as suggestions for a field. @param before - put before each path. */
export const offersOf = (object: Fields, before = '') =>
  placesOf(object).map(({ path, value }) => [before + path, valueWords(value)] as const);

export const valueWords = (value: unknown) => cutShort(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), 60);

/** A name for a variable, such as `manager_email` for `workorder.manager.email`. @param taken - names that are in use. */
export function variableName(path: string, taken: readonly string[]): string {
  const words = path.split(/[^A-Za-z\d]+/).filter((word) => word !== '' && !/^\d+$/.test(word));
  const name = words
    .slice(-2)
    .join('_')
    .slice(0, 80)
    .replace(/^(?![A-Za-z])/, 'value_')
    .replace(/_$/, '');
  const free = [name, ...Array.from({ length: 99 }, (_, n) => `${name}_${n + 2}`)];
  return free.find((one) => ![...taken, 'event', 'assignment'].includes(one)) ?? name;
}

/** Names of places with the number of the assignment, without `id` or `number`: `job` also stands for `job.id`. */
const things = ['assignment', 'workorder', 'work_order', 'job', 'visit', 'order', 'ticket'];
const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z\d]/g, '');

/** The place that probably has the number of the assignment, such as `assignment_id` or `workorder.id`. */
export function assignmentPlace(places: readonly Place[]): string | undefined {
  const ids = places.filter(({ value }) => (typeof value === 'string' && value !== '') || typeof value === 'number');
  const ranks = things.flatMap((thing) => [`${plain(thing)}id`, `${plain(thing)}number`, plain(thing)]);
  const rankOf = ({ path }: Place) => {
    const steps = path.split('.').map(plain);
    const [last = '', before = ''] = [steps.at(-1), steps.at(-2)];
    const found = [ranks.indexOf(last), ranks.indexOf(before + last)].filter((rank) => rank >= 0);
    return found.length > 0 ? Math.min(...found) * 100 + steps.length : Number.POSITIVE_INFINITY;
  };
  const [best] = ids.map((place) => ({ place, rank: rankOf(place) })).sort((one, other) => one.rank - other.rank);
  return best && best.rank < Number.POSITIVE_INFINITY ? best.place.path : ids.find(({ path }) => path === 'id')?.path;
}

/** The names in `${…}` of the actions. */
function referencesIn(draft: Draft): string[] {
  const text = JSON.stringify(draft.cards.map(({ fields }) => fields)).replaceAll('$${', '');
  return [...new Set([...text.matchAll(variablePattern)].map(([, name = '']) => name))];
}

/** The variables that actions use, but that the draft does not define. */
export function undefinedVariables(draft: Draft): string[] {
  const isPath = (name: string) => /^(event|assignment)(\.|\[|$)/.test(name);
  return referencesIn(draft).filter((name) => !isPath(name) && !Object.hasOwn(draft.variables, name));
}

/** Makes an event that has each place that the draft uses. The rehearsal uses this event before the first event arrives. */
export function inventedEvent(draft: Draft): Fields {
  const conditions = [whenOf(draft.when), ...draft.cards.map(({ fields }) => conditionOf(fields))];
  const rows = conditions.flatMap((condition) => condition.rows).filter(({ of }) => of === 'event');
  const named = referencesIn(draft).flatMap((name) => (name.startsWith('event.') ? [name.slice(6)] : []));
  const values: (readonly [path: string, value: unknown])[] = [
    ...[...Object.values(draft.variables).map(({ path }) => path), ...named].map((path) => [path, sampleAt(path)] as const),
    ...rows.toReversed().map((row) => [row.path, fittingValue(row)] as const),
  ];
  const known = values.filter(([path, value]) => value !== undefined && pathPattern.test(path));
  return known.reduce<object>((event, [path, value]) => withValue(event, stepsOf(path), value), {}) as Fields;
}

function sampleAt(path: string): string {
  if (/mail$/i.test(path)) return 'someone@example.com';
  return /(id|number|no)$/i.test(path) ? '1001' : 'example';
}

/** A value for which the comparison is true. If it is undefined, the place stays empty. */
function fittingValue({ comparison, value }: Row): Value | undefined {
  if (comparison === 'missing') return undefined;
  if (comparison === 'not') return typeof value === 'string' ? `not ${value}` : typeof value === 'number' ? value + 1 : !value;
  if (comparison === 'more' || comparison === 'less') return Number(value) + (comparison === 'more' ? 1 : -1);
  return comparison === 'exists' ? 'example' : value;
}

/** Warnings about groups that are not at the platform. There are none if the platform lists no groups. */
export function unknownGroups(cards: Draft['cards'], { groups, groupIds }: SystemNames): Issue[] {
  const known = [...groups, ...groupIds].map((name) => name.trim().toLowerCase());
  const isUnknown = (group: string) => known.length > 0 && !group.includes('${') && !known.includes(group.toLowerCase());
  const detail = 'has a group that the platform does not know: ';
  const unknown = cards.map(({ fields }) => groupsOf(fields).filter(isUnknown));
  return unknown.flatMap((all, place) => all.map((one) => ({ pointer: `/actions/${place}/sendToGroups`, detail: detail + one })));
}
