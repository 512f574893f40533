/** The draft of a rule. Converts the contents of the API to cards, and cards to contents or to the list of a webhook. */

import { type Fields, isObject } from '../../chain/fields.js';
import { mailHtml } from './mail-html.js';

export type { Fields };

export interface Card {
  /** The id of the card. It stays the same when the card moves. */
  key: number;
  fields: Fields;
}

export interface Variable {
  path: string;
  missing: 'hold' | 'refuse' | 'default';
  default?: string;
}

export interface Draft {
  when?: string;
  variables: Readonly<Record<string, Variable>>;
  cards: readonly Card[];
}

let lastKey = 0;

export function newCard(fields: Fields): Card {
  lastKey += 1;
  return { key: lastKey, fields };
}

export const emptyDraft: Draft = { variables: {}, cards: [] };

/** Makes a draft without rules and tokens. A text that is made from another text is left out, so that it follows that text. */
export function draftOf(contents: Fields | undefined): Draft {
  const { when, variables, actions } = contents ?? {};
  return {
    ...(typeof when === 'string' && when !== '' && { when }),
    variables: isObject(variables)
      ? Object.fromEntries(Object.entries(variables).map(([name, one]) => [name, variableOf(one)]))
      : {},
    cards: (Array.isArray(actions) ? actions.filter(isObject) : []).map((element) => newCard(cardFields(element))),
  };
}

function variableOf(value: unknown): Variable {
  const { path, missing, default: text } = isObject(value) ? value : {};
  const kind = missing === 'refuse' || missing === 'default' ? missing : 'hold';
  return { path: fieldText(path), missing: kind, ...(kind === 'default' && { default: fieldText(text) }) };
}

function cardFields({ relayId: _rule, relayAccessToken: _token, ...fields }: Fields): Fields {
  const { bodyHtml, ...rest } = fields;
  return bodyHtml !== undefined && bodyHtml === mailHtml(fieldText(rest.body)) ? rest : fields;
}

/** The actions, without blank fields. The HTML of a mail is made from its text, if nobody has written it. */
export function actionsOf(cards: readonly Card[]): Fields[] {
  return cards.map(({ fields }) => {
    const made =
      fields.bodyHtml === undefined && fieldText(fields.body) !== '' ? { bodyHtml: mailHtml(fieldText(fields.body)) } : {};
    return Object.fromEntries(Object.entries({ ...fields, ...made }).flatMap(([name, value]) => given(name, value)));
  });
}

export function contentsOf({ when, variables, cards }: Draft): Fields {
  return { ...(when && { when }), variables, actions: actionsOf(cards) };
}

/** The list of actions for a webhook. Without a token, each action has the placeholder. */
export function listOf(cards: readonly Card[], relayId: string, token = '<RELAY_ACCESS_TOKEN>'): Fields[] {
  return actionsOf(cards).map(({ action, ...fields }) => ({ action, relayId, relayAccessToken: token, ...fields }));
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

/** Replaces each token in the text with an empty string. The text may be invalid JSON. */
export function withoutTokens(text: string): string {
  return text.replaceAll(/("relayAccessToken"\s*:\s*)(?:"[^"\n]*"?|[^"\s,}]+"?)/g, '$1""');
}

/** Reads contents, or the list of a webhook. @returns `error` completes a sentence that begins with `This`. */
export function readContents(text: string): { contents?: Fields; isList?: boolean; error?: string } {
  try {
    const value: unknown = JSON.parse(text);
    const contents = Array.isArray(value) ? { actions: value } : value;
    if (!isObject(contents)) return { error: 'must be an object: {"actions": […]}' };
    const { when: _when, variables: _variables, actions = [], ...unknown } = contents;
    const [odd] = Object.keys(unknown);
    if (odd !== undefined) return { error: `is not valid: a rule has no field ${odd}` };
    if (!Array.isArray(actions)) return { error: 'must have a list of actions: {"actions": […]}' };
    const place = actions.findIndex((element) => !isObject(element));
    if (place >= 0) return { error: `is not valid: element ${place} must be an object` };
    return { contents, isList: Array.isArray(value) };
  } catch (error) {
    return { error: `is not JSON: ${error instanceof Error ? error.message : ''}` };
  }
}
