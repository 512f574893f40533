/** The draft of a rule. Converts the contents of the API to cards, and cards to contents or to the list of a webhook. */

import { type Fields, fieldText, isObject } from '../../chain/fields.js';
import { jsonPlace } from '../../chain/json-place.js';
import { isMadeHtml, mailHtml } from '../../chain/mail-html.js';
import type { Contents } from '../types.js';

/** `key` is the id of the card. This id stays the same when the card moves. */
export type Card = { key: number; fields: Fields };

export type Variable = Contents['variables'][string];

export type Draft = Omit<Contents, 'actions'> & { cards: readonly Card[] };

let lastKey = 0;

export function newCard(fields: Fields): Card {
  lastKey += 1;
  return { key: lastKey, fields };
}

/** Makes a draft without rule ids and tokens. Leaves out the HTML of a mail if the relay has made this HTML from the text. */
export function draftOf(contents: Fields = {}): Draft {
  const { when, variables, actions, ...others } = contents;
  const named = isObject(variables) ? Object.entries(variables) : [];
  return {
    ...others,
    ...(typeof when === 'string' && when !== '' && { when }),
    variables: Object.fromEntries(named.map(([name, one]) => [name, variableOf(one)])),
    cards: (Array.isArray(actions) ? actions.filter(isObject) : []).map((element) => newCard(cardFields(element))),
  };
}

export function variableOf(value: unknown): Variable {
  const { path, missing, default: text } = isObject(value) ? value : {};
  const kind = missing === 'refuse' || missing === 'default' ? missing : 'hold';
  return { path: fieldText(path), missing: kind, ...(kind === 'default' && { default: fieldText(text) }) };
}

function cardFields({ relayId: _rule, relayAccessToken: _token, ...fields }: Fields): Fields {
  const { bodyHtml: _made, ...rest } = fields;
  return isMadeHtml(fields) ? rest : fields;
}

/** The actions, without blank fields. If nobody has written the HTML of a mail, it is made from the text. */
export function actionsOf(cards: readonly Card[]): Fields[] {
  return cards.map(({ fields }) => {
    const body = fieldText(fields.body);
    const made = fields.bodyHtml === undefined && body !== '' ? { bodyHtml: mailHtml(body) } : {};
    return Object.fromEntries(Object.entries({ ...fields, ...made }).flatMap(([name, value]) => given(name, value)));
  });
}

export const contentsOf = ({ cards, ...fields }: Draft): Fields => ({ ...fields, actions: actionsOf(cards) });

/** The contents as JSON, in the order of `draftOf`. */
export const contentsText = (draft: Draft, indent?: number) => JSON.stringify(contentsOf(draft), undefined, indent);

/** The list of actions for a webhook. Without a token, each action has the placeholder. */
export const listOf = (cards: readonly Card[], relayId: string, token = '<RELAY_ACCESS_TOKEN>'): Fields[] =>
  actionsOf(cards).map(({ action, ...fields }) => ({ action, relayId, relayAccessToken: token, ...fields }));

function given(name: string, value: unknown): [string, unknown][] {
  if (!Array.isArray(value)) return value === '' ? [] : [[name, value]];
  const lines = value.filter((line) => typeof line !== 'string' || line.trim() !== '');
  return lines.length > 0 ? [[name, lines]] : [];
}

/** Replaces each token in the text with an empty string. The text may be invalid JSON. */
export const withoutTokens = (text: string): string =>
  text.replaceAll(/("relayAccessToken"\s*:\s*)(?:"[^"\n]*"?|[^"\s,}]+"?)/g, '$1""');

/** Reads contents, or the list of a webhook. @returns `error` completes a sentence that begins with `This`. */
export function readContents(text: string): { contents?: Fields; isList?: boolean; error?: string } {
  try {
    const value: unknown = JSON.parse(text);
    const contents = Array.isArray(value) ? { actions: value } : value;
    if (!isObject(contents)) return { error: 'must have the form {"actions": […]}' };
    const { actions = [] } = contents;
    if (!Array.isArray(actions) || !actions.every(isObject)) return { error: 'must have a list of steps: {"actions": [{…}]}' };
    return { contents, isList: Array.isArray(value) };
  } catch (error) {
    return { error: `is not JSON${jsonPlace(error, text)}`.replace('is not JSON at', 'has a JSON mistake at') };
  }
}
