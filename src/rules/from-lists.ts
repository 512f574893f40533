/** Makes the contents of a rule from past requests with lists of actions. Values that vary between the requests become variables. */

import { isDeepStrictEqual } from 'node:util';
import { type Fields, fixedFields } from '../chain/fields.js';
import { variables as knownVariables } from '../chain/variables.js';
import { type Contents, maxVariables } from '../contract/rule-contents.js';
import { withoutReferences } from './references.js';

/** The place of a text in a list of actions. `item`: the place in a list, such as `emails`. */
type Place = { index: number; field: string; item?: number };

const mostReferences = 50; // the maximum number of references to known variables in one text

/**
 * @param requests - the newest first. Requests with other actions or fields than the newest request are left out.
 * @returns `values`: the values of each variable, one for each request
 */
export function contentsFromLists(requests: readonly (readonly Fields[])[]) {
  const [newest = []] = requests;
  const alike = withEqualLists(requests.filter((request) => shapeOf(request) === shapeOf(newest)));
  const [first = []] = alike;
  const found = new Variables();
  const written = new Map<string, string>();
  // Begins with the assignments and short texts, because longer texts often contain these values.
  const places = first.flatMap(placesOf).map((place) => ({ place, texts: alike.map((request) => textAt(request, place)) }));
  const isVariable = ({ field }: Place) => field === 'platformAssignmentId';
  const order = ({ place, texts }: (typeof places)[number]) =>
    isVariable(place) ? 0 : Math.max(...texts.map(({ length }) => length));
  for (const { place, texts } of places.toSorted((one, other) => order(one) - order(other)))
    written.set(keyOf(place), isVariable(place) ? found.reference(texts) : template(texts, found));
  const textOf = (place: Place, otherwise: unknown) => written.get(keyOf(place)) ?? otherwise;
  const actions = first.map((element, index) =>
    Object.fromEntries(
      Object.entries(element).map(([field, value]) => {
        if (!Array.isArray(value)) return [field, textOf({ index, field }, value)];
        return [field, value.map((text, item) => textOf({ index, field, item }, text))];
      }),
    ),
  );
  return { contents: { variables: found.settings(), actions }, values: Object.fromEntries(found.values) };
}

/** Requests with the same shape have the same actions with the same fields. */
const shapeOf = (request: readonly Fields[]) =>
  JSON.stringify(request.map((element) => [element.action, Object.keys(withoutRule(element)).sort()]));

const withoutRule = (element: Fields): Fields =>
  Object.fromEntries(Object.entries(element).filter(([name]) => name === 'action' || !fixedFields.includes(name)));

/** Joins the items of a list, such as the recipients, if their number varies between the requests. */
function withEqualLists(requests: readonly (readonly Fields[])[]): Fields[][] {
  const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);
  const joined = (value: unknown, field: string, index: number) =>
    Array.isArray(value) && requests.some((request) => lengthOf(request[index]?.[field]) !== value.length)
      ? [value.join(', ')]
      : value;
  const equal = (element: Fields, index: number) =>
    Object.fromEntries(Object.entries(withoutRule(element)).map(([field, value]) => [field, joined(value, field, index)]));
  return requests.map((request) => request.map(equal));
}

function placesOf(element: Fields, index: number): Place[] {
  return Object.entries(element).flatMap(([field, value]): Place[] => {
    if (field === 'action') return [];
    if (Array.isArray(value)) return value.map((_, item) => ({ index, field, item }));
    return typeof value === 'string' ? [{ index, field }] : [];
  });
}

function textAt(request: readonly Fields[], { index, field, item }: Place): string {
  const value = request[index]?.[field];
  return String((item === undefined ? value : Array.isArray(value) && value[item]) ?? '');
}

const keyOf = ({ index, field, item }: Place) => `${index}/${field}/${item}`;

class Variables {
  readonly values = new Map<string, string[]>();

  settings(): Contents['variables'] {
    const blank = { missing: 'default', default: '' } as const;
    const missing = (values: string[]) => (values.some((value) => value.trim() === '') ? blank : { missing: 'hold' as const });
    return Object.fromEntries(Array.from(this.values, ([name, values]) => [name, { path: name, ...missing(values) }]));
  }

  /** Refers to the variable with these values, or to a new variable. */
  reference(values: readonly string[]): string {
    const known = [...this.values].find(([, other]) => isDeepStrictEqual(values, other))?.[0];
    if (known === undefined && this.values.size >= maxVariables) return withoutReferences(values[0] ?? '');
    const name = known ?? this.#nameFor(values);
    this.values.set(name, [...values]);
    return `\${${name}}`;
  }

  /** Finds a variable whose value each text contains as whole words. Each request has its own text and value. */
  in(texts: readonly string[]): { name: string; before: string[]; after: string[] } | undefined {
    for (const [name, values] of this.values) {
      const valueIn = (request: number) => values[request] ?? '';
      const places = texts.map((text, request) => wordsAt(text, valueIn(request)));
      if (places.includes(-1)) continue;
      const before = texts.map((text, request) => text.slice(0, places[request]));
      const after = texts.map((text, request) => text.slice((places[request] ?? 0) + valueIn(request).length));
      return { name, before, after };
    }
    return undefined;
  }

  /** Returns the name of a known variable whose sample has the same form as the values. Otherwise `value_1` and so on. */
  #nameFor(values: readonly string[]): string {
    const form = values.map(formOf).reduce((one, other) => (one === other ? one : undefined));
    const isFree = (name: string) => /^\w+$/.test(name) && !this.values.has(name);
    const known = form && knownVariables.find(({ name, sample }) => isFree(name) && formOf(sample) === form);
    for (let number = 1; ; number += 1) if (known || isFree(`value_${number}`)) return known?.name ?? `value_${number}`;
  }
}

/** A number, an e-mail address, a state, or a time. */
const forms = [/^\d+$/, /^[^\s@]+@[^\s@]+$/, /^[A-Z]{2}$/, /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)$/];
const formOf = (text: string) => forms.find((form) => form.test(text));

/** Matches a word or number (with marks inside, such as an address or a time), white space, or one other character. */
const token = /[\p{L}\p{M}\p{N}_$](?:[\p{L}\p{M}\p{N}_$@.:+/-]*[\p{L}\p{M}\p{N}_$])?|\s+|./gsu;
const ofWord = /[\p{L}\p{M}\p{N}_$]/u;

/** @returns the place where the text has `words` as whole words; -1 if there is none, or if `words` is very short. */
function wordsAt(text: string, words: string): number {
  if (words.length < 3) return -1;
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    const [before, after] = [text.charAt(at - 1), text.charAt(at + words.length)];
    if (!ofWord.test(before) && !ofWord.test(after)) return at;
  }
  return -1;
}

/** Makes one text with references from the texts of all requests. @param room - the number of references that are still allowed */
function template(texts: readonly string[], found: Variables, room = { left: mostReferences }): string {
  const [first = ''] = texts;
  room.left -= 1;
  const known = room.left > 0 ? found.in(texts) : undefined;
  if (known) return `${template(known.before, found, room)}\${${known.name}}${template(known.after, found, room)}`;
  if (texts.every((text) => text === first)) return withoutReferences(first);

  const tokens = texts.map((text) => text.match(token) ?? []);
  const [own = []] = tokens;
  const shortest = Math.min(...tokens.map(({ length }) => length));
  // `$` before a reference would make it a literal. So a word that ends with `$` belongs to the value.
  const isShared = (place: number) => tokens.every((list) => list.at(place) === own.at(place)) && !own.at(place)?.endsWith('$');
  const isSameLength = tokens.every(({ length }) => length === shortest);
  let start = 0;
  while (start < shortest && isShared(start)) start += 1;
  let end = 0;
  while (end < shortest - start && isShared(-1 - end)) end += 1;
  let written = withoutReferences(own.slice(0, start).join(''));
  let from = start; // where the next value begins
  const reference = (to: number) => found.reference(tokens.map((list) => list.slice(from, list.length - to).join('')));
  for (let place = start; isSameLength && place < shortest - end; place += 1) {
    // A word that all texts share ends a value. White space and marks do not end a value.
    if (!ofWord.test(own[place] ?? '') || !isShared(place)) continue;
    let gap = 0;
    while (place - gap > from && isShared(place - gap - 1)) gap += 1;
    written += reference(shortest - place + gap);
    from = place;
    while (isShared(from)) from += 1;
    written += withoutReferences(own.slice(place - gap, from).join(''));
    place = from;
  }
  return written + reference(end) + withoutReferences(own.slice(own.length - end).join(''));
}
