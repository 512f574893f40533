/** Fills the templates of kind `http` (contract/templates.ts). */

import { evaluateCondition, parseCondition } from '../chain/condition.js';
import { isObject } from '../chain/fields.js';
import type { RequestTemplate } from '../contract/templates.js';
import type { ConnectorError } from './call.js';
import type { HttpRequest } from './http.js';
import { refused } from './session.js';

export type Values = Record<string, string | number | string[] | undefined>; // undefined if the action has no such value

/** @throws ConnectorError if a value does not fit, or if the template ignores it */
export function filled(baseUrl: string, template: RequestTemplate, values: Values) {
  const { method, path, headers = {}, body, success } = template;
  const used =
    namesIn.get(template) ?? Array.from((path + JSON.stringify(body ?? null)).matchAll(placeholder), ([, name]) => name);
  namesIn.set(template, used);
  const ignored = Object.keys(values).find((name) => values[name] !== undefined && !used.includes(name));
  // If a send left out the groups or the radius of the action, it would reach other workers.
  if (ignored) throw unfit(`the template has no {${ignored}}`, `The system takes no ${ignored.replace(/Ids|Miles/, '')}`);
  const url = new URL(baseUrl);
  const [pathname = '', query = ''] = path.split(/\?(.*)/).map((part) => text(part, values, encoded));
  url.pathname = url.pathname.replace(/\/+$/, '') + pathname;
  if (query !== '') url.search = query;
  return {
    ...{ method, url, body: json(body, values) },
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    ...(success !== undefined && { refusal: (answer: unknown) => unmet(success, values, answer) }),
  } satisfies Partial<HttpRequest>;
}

/** The names of the placeholders in each template. */
const namesIn = new WeakMap<RequestTemplate, readonly (string | undefined)[]>();
const placeholder = /\{(\w+)(?::number)?\}/g;

const unfit = (why: string, title: string): ConnectorError =>
  refused(`nothing was sent: ${why}`, title, "Change the step, or the templates in the company's settings, then retry");

/** Fills the placeholders of the template. A placeholder inside a value stays as it is. */
const text = (template: string, values: Values, form = (value: string) => value) =>
  template.replace(placeholder, (_, name: string) => form(String(values[name] ?? '')));

/** Fills a part of a body. @returns undefined if the part is only a placeholder, and its value is absent */
function json(part: unknown, values: Values): unknown {
  if (typeof part === 'string') {
    const [, name, asNumber] = /^\{(\w+)(:number)?\}$/.exec(part) ?? [];
    if (name === undefined) return text(part, values);
    const value = values[name];
    return !asNumber || value === undefined ? value : Array.isArray(value) ? value.map(number) : number(value);
  }
  if (Array.isArray(part)) return part.map((inner) => json(inner, values)).filter((inner) => inner !== undefined);
  if (!isObject(part)) return part;
  const members = Object.entries(part).map(([name, inner]) => [text(name, values), json(inner, values)]);
  const filled = Object.fromEntries(members);
  // For example, the value of a ticket field called `id` must not replace the `id` in the template.
  if (Object.keys(filled).length === members.length) return filled;
  throw unfit('a field has a name that the template itself uses', `"${values.field}" cannot be the name of a ticket field`);
}

/** Accepts at most 15 digits, because a longer number could be rounded to the id of another ticket. */
function number(value: string | number): number {
  if (/^-?\d{1,15}(\.\d{1,9})?$/.test(`${value}`)) return Number(value);
  throw unfit('the template needs a number', `${JSON.stringify(`${value}`.slice(0, 60))} is not a number of at most 15 digits`);
}

/** Encodes one segment of a path. Refuses a blank segment, `.`, `..` (servers read `%2e` as a dot) and half a surrogate pair. */
export function encoded(segment: string): string {
  if (!/^\s*$|^\.\.?$|\p{Cs}/u.test(segment)) return encodeURIComponent(segment);
  const shown = JSON.stringify(segment);
  throw refused(
    `${shown} cannot be used as an id in a URL; check the id in the request`,
    `${shown} cannot be an id`,
    'Change the id, then retry',
  );
}

function unmet(success: string, values: Values, answer: unknown): string | undefined {
  const parsed = parseCondition(success);
  if (!parsed.ok) return parsed.error;
  const { holds, reason } = evaluateCondition({ ...parsed.condition, value: text(parsed.condition.value, values) }, answer);
  return holds ? undefined : `${reason}, not ${success}`;
}
