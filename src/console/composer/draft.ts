/** The draft of a chain. Converts the actions of a request to cards, and cards to a request. */

import type { Fields } from '../../chain/fields.js';

export type { Fields };

export interface Card {
  /** The id of the card. It stays the same when the card moves. */
  key: number;
  fields: Fields;
}

let lastKey = 0;

export function newCard(fields: Fields): Card {
  lastKey += 1;
  return { key: lastKey, fields };
}

/** Makes cards without tokens. A card has a `relayId` only if its rule differs from the rule of the draft. */
export function cardsOf(elements: readonly Fields[], relayId: string): Card[] {
  return elements.map(({ relayAccessToken: _token, relayId: own, ...fields }) =>
    newCard(['', relayId].includes(fieldText(own)) ? fields : { ...fields, relayId: own }),
  );
}

/** The rules that differ from the rule of the draft, each with the indexes of its actions. */
export function otherRules(cards: readonly Card[], relayId: string): Map<string, number[]> {
  const others = new Map<string, number[]>();
  for (const [place, { fields }] of cards.entries()) {
    const own = fieldText(fields.relayId);
    if (own !== '' && own !== relayId) others.set(own, [...(others.get(own) ?? []), place]);
  }
  return others;
}

/** Replaces each token in the text with an empty string. The text may be invalid JSON. */
export function withoutTokens(text: string): string {
  return text.replaceAll(/("relayAccessToken"\s*:\s*)(?:"[^"\n]*"?|[^"\s,}]+"?)/g, '$1""');
}

/** The actions of the request, without tokens and blank fields. */
export function elementsOf(cards: readonly Card[], relayId: string): Fields[] {
  return cards.map(({ fields: { action, relayId: own, ...fields } }) => ({
    action,
    relayId: own ?? relayId,
    ...Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => given(name, value))),
  }));
}

export const tokenPlaceholder = '<RELAY_ACCESS_TOKEN>';

/** The body for the webhook. Actions of the rule get the token. A missing token becomes a placeholder. */
export function bodyOf(elements: readonly Fields[], relayId: string, token: string): { body: string; lacksToken: boolean } {
  const tokens = elements.map(({ relayId: own }) => (own === relayId && token) || tokenPlaceholder);
  const withTokens = elements.map(({ action, relayId: own, ...fields }, place) => ({
    action,
    relayId: own,
    relayAccessToken: tokens[place],
    ...fields,
  }));
  return { body: JSON.stringify(withTokens, undefined, 2), lacksToken: tokens.includes(tokenPlaceholder) };
}

function given(name: string, value: unknown): [string, unknown][] {
  if (!Array.isArray(value)) return value === '' ? [] : [[name, value]];
  const lines = value.filter((line) => typeof line !== 'string' || line.trim() !== '');
  return lines.length > 0 ? [[name, lines]] : [];
}

/** The field as text. A list has one element per line. */
export function fieldText(value: unknown): string {
  if (Array.isArray(value)) return value.map(fieldText).join('\n');
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

/** Moves the card one place up (-1) or down (1), if that place exists. */
export function moved(cards: readonly Card[], place: number, by: -1 | 1): Card[] {
  const [one, other] = [cards[place], cards[place + by]];
  if (!one || !other) return [...cards];
  return cards.map((card) => (card === one ? other : card === other ? one : card));
}

/** Parses an array of actions. @returns `error` completes a sentence that begins with `This`, such as `This is not JSON`. */
export function readElements(text: string): { elements?: Fields[]; error?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) return { error: 'must be an array of actions: [{"action": …}]' };
    const place = value.findIndex((element) => typeof element !== 'object' || element === null || Array.isArray(element));
    return place < 0 ? { elements: value } : { error: `is not valid: element ${place} must be an object` };
  } catch (error) {
    return { error: `is not JSON: ${error instanceof Error ? error.message : ''}` };
  }
}

/** The delay in seconds. `event` means that a variable sets the delay. `wrong` means that the delay is not a whole number. */
export type Delay = number | 'event' | 'wrong';

export function delayOf({ delayInSeconds = '' }: Fields): Delay {
  const text = fieldText(delayInSeconds).trim();
  return /^\d*$/.test(text) ? Number(text) : text.includes('${') ? 'event' : 'wrong';
}

/** Groups the indexes of the cards by delay. Immediate actions come first, and unknown delays come last. */
export function railOf(cards: readonly Card[]): { delay: Delay; places: number[] }[] {
  const stops = new Map<Delay, number[]>();
  for (const [place, { fields }] of cards.entries()) {
    const delay = delayOf(fields);
    stops.set(delay, [...(stops.get(delay) ?? []), place]);
  }
  const order = (delay: Delay) => (typeof delay === 'number' ? delay : Number.MAX_VALUE);
  return [...stops].map(([delay, places]) => ({ delay, places })).sort((one, other) => order(one.delay) - order(other.delay));
}
