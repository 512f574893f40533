/** A chain that is being written: its cards, and what is sent of them. */

/** The fields of an action by their names in the request; blank ones are not sent. */
export type Fields = Record<string, unknown>;

export interface Card {
  /** Stays when the card moves. */
  key: number;
  fields: Fields;
}

let lastKey = 0;

export function newCard(fields: Fields): Card {
  lastKey += 1;
  return { key: lastKey, fields };
}

/** Tokens are no part of a draft, nor is the rule where it is that of the whole chain. */
export function cardsOf(elements: readonly Fields[], relayId: string): Card[] {
  return elements.map(({ relayAccessToken: _token, relayId: own, ...fields }) =>
    newCard(['', relayId].includes(fieldText(own)) ? fields : { ...fields, relayId: own }),
  );
}

/** Of actions that are not of the rule of the whole chain: the rules that they name, each with their places. */
export function otherRules(cards: readonly Card[], relayId: string): Map<string, number[]> {
  const others = new Map<string, number[]>();
  for (const [place, { fields }] of cards.entries()) {
    const own = fieldText(fields.relayId);
    if (own !== '' && own !== relayId) others.set(own, [...(others.get(own) ?? []), place]);
  }
  return others;
}

/** With blanks in place of tokens, also in what cannot be read as JSON. */
export function withoutTokens(text: string): string {
  return text.replaceAll(/("relayAccessToken"\s*:\s*)(?:"[^"\n]*"?|[^"\s,}]+"?)/g, '$1""');
}

/** As they are to be sent, but for their tokens. */
export function elementsOf(cards: readonly Card[], relayId: string): Fields[] {
  return cards.map(({ fields: { action, relayId: own, ...fields } }) => ({
    action,
    relayId: own ?? relayId,
    ...Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => given(name, value))),
  }));
}

function given(name: string, value: unknown): [string, unknown][] {
  if (!Array.isArray(value)) return value === '' ? [] : [[name, value]];
  const lines = value.filter((line) => typeof line !== 'string' || line.trim() !== '');
  return lines.length > 0 ? [[name, lines]] : [];
}

/** The field as one writes it: a list with one element a line. */
export function fieldText(value: unknown): string {
  if (Array.isArray(value)) return value.map(fieldText).join('\n');
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

/** With the card one place up (-1) or down (1); the same where there is no such place. */
export function moved(cards: readonly Card[], place: number, by: -1 | 1): Card[] {
  const [one, other] = [cards[place], cards[place + by]];
  if (!one || !other) return [...cards];
  return cards.map((card) => (card === one ? other : card === other ? one : card));
}

/** What the text says, or why it is no array of actions. */
export function readElements(text: string): { elements?: Fields[]; error?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) return { error: 'must be an array of actions: [{"action": …}]' };
    const place = value.findIndex((element) => typeof element !== 'object' || element === null || Array.isArray(element));
    return place < 0 ? { elements: value } : { error: `element ${place} must be an object` };
  } catch (error) {
    return { error: `is not JSON: ${error instanceof Error ? error.message : ''}` };
  }
}

/** Whole seconds; undefined: the webhook fills it in, or it is wrong. */
export function delayOf({ delayInSeconds = '' }: Fields): number | undefined {
  const text = fieldText(delayInSeconds).trim();
  return /^\d*$/.test(text) ? Number(text) : undefined;
}

/** The places of the cards by when they are due: first what runs at once, in its order. Unknown delays come last. */
export function railOf(cards: readonly Card[]): { delay: number | undefined; places: number[] }[] {
  const stops = new Map<number | undefined, number[]>();
  for (const [place, { fields }] of cards.entries()) {
    const delay = delayOf(fields);
    stops.set(delay, [...(stops.get(delay) ?? []), place]);
  }
  const far = Number.POSITIVE_INFINITY;
  return [...stops].map(([delay, places]) => ({ delay, places })).sort((one, other) => (one.delay ?? far) - (other.delay ?? far));
}
