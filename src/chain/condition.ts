/** The relay parses a condition when the request arrives, and evaluates it before the action. Conditions are case-sensitive. */

import { cutShort, type Parsed } from './text.js';

export interface Condition {
  path: (string | number)[]; // `location.zip` → `['location', 'zip']`, `stops[0].id` → `['stops', 0, 'id']`
  operator: '==' | '!=';
  value: string;
  opaque?: Opaque; // A condition that only an activity can evaluate. Then `value` is a text for people.
}

/** Everything that an activity checks before the action runs. All parts must hold. */
export interface Opaque {
  condition?: Condition; // the `actionCondition`
  /** A CEL expression, and the parts of the event that the expression names. */
  if?: { text: string; event: unknown };
  late?: true; // the action has late texts
}

export interface Verdict {
  holds: boolean;
  reason: string; // for people: `status was "sent"`, `location.zipp: no such property`
  missing: boolean; // the property does not exist, which is usually a mistake
}

const supported =
  'write <property>==<value> or <property>!=<value>, one comparison only, for example status==draft or location.zip=="94016"';
const name = /[\p{L}_$][\p{L}\p{M}\p{N}_$-]*/u.source;
export const pathPattern = new RegExp(`^${name}(?:\\.${name}|\\[\\d{1,6}\\])*$`, 'u');
const stepPattern = new RegExp(`${name}|\\d+`, 'gu');

export function parseCondition(text: string): Parsed<{ condition: Condition }> {
  const refuse = (what: string) => ({ ok: false as const, error: `${what}: ${supported}` });
  const operatorAt = text.search(/[=!]=/);
  if (operatorAt < 0) {
    const other = /[<>=!~&|]+/.exec(text)?.[0];
    if (other && other !== '=') return refuse(`has ${other}, which is not supported`);
    return refuse(`"${cutShort(text, 80)}" has ${other ? 'a single =' : 'no =='}`);
  }
  const left = text.slice(0, operatorAt).trim();
  const operator = text[operatorAt] === '!' ? '!=' : '==';
  const right = text.slice(operatorAt + 2);
  if (right.startsWith('=')) return refuse(`has ${operator}=, which is not supported`);
  const unsupported = /&&|\|\||[<>!=]$/.exec(left)?.[0];
  if (unsupported) return refuse(`has ${unsupported}, which is not supported`);
  if (!pathPattern.test(left)) return refuse(`has "${cutShort(left, 80)}", which is not the name of a property`);
  const path = stepsOf(left);
  if (path[0] === 'incomingValue' && path.length > 1)
    return refuse('asks for a property of incomingValue, but incomingValue is a text');
  const trimmed = right.trim();
  const unquoted = trimmed.replace(/^(["']).*?\1/su, '');
  const second = /&&|\|\||[=!]=(?=\s*[^\s=])/.exec(unquoted)?.[0];
  if (second)
    return refuse(
      `has ${second} after the first comparison, which is not supported (put quotes around a value that contains ${second})`,
    );
  return { ok: true, condition: { path, operator, value: /^(["'])(.*)\1$/su.exec(trimmed)?.[2] ?? trimmed } };
}

/** `location.zip` becomes `['location', 'zip']`. */
export const stepsOf = (path: string) => (path.match(stepPattern) ?? []).map((step) => (/^\d/.test(step) ? Number(step) : step));

export const propertyOf = (subject: unknown, path: string) => stepsOf(path).reduce<unknown>(ownProperty, subject);

/** Whether the condition tests `incomingValue`. Otherwise it tests the assignment from the platform. */
export const asksIncomingValue = (condition: Condition) => condition.path[0] === 'incomingValue';

/** Does not parse expressions, so the word `assignment` in a text also counts. Part of the replay contract. */
export function mayAskAssignment(condition: Condition): boolean {
  const { opaque } = condition;
  if (!opaque) return !asksIncomingValue(condition);
  const { condition: plain, if: expression, late } = opaque;
  return late === true || (plain && mayAskAssignment(plain)) || /\bassignment\b/.test(expression?.text ?? '');
}

/** Writes `['stops', 0, 'id']` as `stops[0].id`. */
export function pathText(path: Condition['path']): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  return steps.join('').replace(/^\./, '');
}

/** Writes the condition as text, for example `status==draft`. */
export const conditionText = ({ path, operator, value, opaque }: Condition) =>
  opaque !== undefined ? value : `${pathText(path)}${operator}${value}`;

/** Writes `status==draft` as `status is draft`, and `!=` as `is not`. A condition that is no such comparison stays unchanged. */
export function plainCondition(text: string): string {
  const [, path = '', operator, value = ''] = /^\s*([^\s=!]+)\s*([=!]=)\s*(.*?)\s*$/s.exec(text) ?? [];
  return pathPattern.test(path) && !value.startsWith('not ') ? `${path} is ${operator === '!=' ? 'not ' : ''}${value}` : text;
}

/** The opposite of `plainCondition`. */
export function storedCondition(text: string): string {
  const [, path = '', not, value = ''] = /^\s*(\S+) is (not )?(.*?)\s*$/s.exec(text) ?? [];
  return pathPattern.test(path) ? `${path}${not ? '!=' : '=='}${value}` : text;
}

/** Evaluates the condition on the assignment, or on `{ incomingValue }`. Never throws. Part of the replay contract. */
export function evaluateCondition(condition: Condition, subject: unknown): Verdict {
  const path = pathText(condition.path);
  const found = condition.path.reduce<unknown>(ownProperty, subject);
  const negate = condition.operator === '!=';
  if (found === undefined) return { holds: negate, reason: `${path}: no such property`, missing: true };
  if (typeof found === 'object' && found !== null) {
    return { holds: negate, reason: `${path} was ${Array.isArray(found) ? 'a list' : 'an object'}, not a value`, missing: false };
  }
  const seen = String(found);
  const holds = (seen === condition.value) !== negate;
  return { holds, reason: `${path} was ${JSON.stringify(cutShort(seen, 120))}`, missing: false };
}

export function ownProperty(from: unknown, step: string | number): unknown {
  if (typeof from !== 'object' || from === null) return undefined;
  if (Array.isArray(from) && typeof step !== 'number') return undefined;
  return Object.hasOwn(from, step) ? Reflect.get(from, step) : undefined;
}
