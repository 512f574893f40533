/** Makes the actions of a chain from an event. Values of the event are data, so they are never expanded again. */

import type { ChainAction, LateText } from '../chain/chain.js';
import { propertyOf } from '../chain/condition.js';
import type { Fields } from '../chain/fields.js';
import { opaqueCondition, valueIn, valueText } from '../chain/late.js';
import { noValueAt } from '../chain/places.js';
import { type Issue, jsonPointer, markBesides, mostBytes, readMarked } from '../chain/request.js';
import { jsonBytes } from '../chain/text.js';
import type { Contents } from '../contract/rule-contents.js';
import { type CompiledAction, compileContents, elementOf, inContents, isList, marked } from './contents.js';
import { evaluateExpression, eventParts } from './expression.js';
import type { Reference, Template } from './references.js';

/** The pointers point into the contents. */
export type Rendered =
  | { kind: 'not-applicable'; reason: string }
  | { kind: 'refused'; problems: Issue[] }
  | { kind: 'chain'; actions: ChainAction[]; warnings: Issue[]; variables: Record<string, string> };

type Values = ReadonlyMap<string, string | undefined>;

const mostFixed = 32 * 1024; // the maximum number of bytes of the event that one `if` may read

export function renderEvent(contents: Contents, relayId: string, event: Record<string, unknown>): Rendered {
  const { actions: compiled, text, problems } = compileContents(contents);
  if (problems.length > 0) return { kind: 'refused', problems };
  const applies = contents.when === undefined ? undefined : evaluateExpression(contents.when, { event });
  if (applies?.ok === false) return refused('/when', `cannot be checked on this event: ${applies.error}`);
  if (applies?.holds === false) return { kind: 'not-applicable', reason: applies.reason };

  const { variables, missing } = variablesIn(contents, event);
  if (missing.length > 0) return { kind: 'refused', problems: missing };
  const values = new Map(Object.entries(variables));
  const named = compiled.flatMap(({ references }) => references);
  for (const { name, from, path } of named) if (from === 'event') values.set(name, valueAt(event, path));

  const mark = markBesides(text, ...[...values.values()].map((value = '') => value));
  let room = mostBytes; // the limit of all inserted values together, in UTF-16 units
  const write = (reference: Reference, field: string, template: Template) => {
    const value = given(reference, field, template, values);
    if (value === undefined) return `\${${reference.name}}`;
    room -= value.length;
    return room < 0 ? '' : marked(value, mark);
  };
  const elements = compiled.map((action) => compared(elementOf(action, relayId, mark, write), action));
  if (room < 0 || jsonBytes(elements) > mostBytes)
    return refused('/actions', `would be larger than ${mostBytes / 1024} KiB with the values of this event`);
  const unread = named.filter(({ from }) => from === 'assignment').map(({ name }) => name);
  const unfilled = named.filter(({ name }) => !unread.includes(name) && values.get(name) === undefined).map(({ name }) => name);
  const read = readMarked(elements, { unfilled, unread }, mark);
  if (!read.ok) return { kind: 'refused', problems: read.problems.map(inContents) };

  const large = compiled.flatMap(({ if: condition }, index) =>
    condition && jsonBytes(eventParts(condition, event) ?? null) > mostFixed
      ? [{ pointer: `/actions/${index}/if`, detail: `reads more than ${mostFixed / 1024} KiB of this event` }]
      : [],
  );
  if (large.length > 0) return { kind: 'refused', problems: large };
  const actions = read.actions.flatMap((action, index) => {
    const of = compiled[index];
    return of ? [madeFrom(action, of, { contents, event, values })] : [];
  });
  const known = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { kind: 'chain', actions, warnings: read.warnings.map(inContents), variables: Object.fromEntries(known) };
}

/** Finds the assignment's id in the event, if an action takes the id from there. Does not make the actions. */
export function assignmentOf({ variables, actions }: Contents, event: Record<string, unknown>): string | undefined {
  const [name = ''] = actions.flatMap(({ platformAssignmentId: id }) => /^\$\{([\w.]+)\}$/.exec(String(id))?.[1] ?? []);
  const path = /^event\.(.+)/.exec(name)?.[1] ?? variables[name]?.path;
  return path === undefined ? undefined : valueAt(event, path)?.slice(0, 200);
}

const refused = (pointer: string, detail: string): Rendered => ({ kind: 'refused', problems: [{ pointer, detail }] });

/** @returns undefined also for a blank value. */
function valueAt(event: Fields, path: string): string | undefined {
  const value = valueText(propertyOf(event, path));
  return value?.trim() === '' ? undefined : value;
}

function variablesIn({ variables }: Contents, event: Fields) {
  const found: Record<string, string | undefined> = {};
  const missing: Issue[] = [];
  for (const [name, { path, missing: rule, default: otherwise }] of Object.entries(variables)) {
    found[name] = valueAt(event, path) ?? otherwise;
    if (found[name] === undefined && rule === 'refuse')
      missing.push({
        pointer: jsonPointer(['variables', name]),
        detail: `is missing: ${noValueAt(path)}`,
      });
  }
  return { variables: found, missing };
}

/** @returns undefined if the value is missing, or is not known yet. */
function given({ name, from }: Reference, field: string, template: Template, values: Values): string | undefined {
  const value = from === 'assignment' ? undefined : values.get(name);
  return value && valueIn(field, value, template.length === 1);
}

/** Puts quotation marks around a value in `actionCondition`, so that an operator in the value has no meaning. */
function compared(element: Fields, { comparison }: CompiledAction): Fields {
  if (!comparison) return element;
  const written = String(element.actionCondition).slice(comparison.start.length).trim();
  const value = comparison.isQuoted ? written.slice(1, -1) : written;
  const quote = value.includes('"') ? "'" : '"';
  return { ...element, actionCondition: `${comparison.start}${quote}${value}${quote}` };
}

type Origin = { contents: Contents; event: Fields; values: Values };

/** Adds the properties that only actions from an event have. */
function madeFrom(action: ChainAction, of: CompiledAction, { contents, event, values }: Origin): ChainAction {
  const missing = of.references.filter(({ name, from }) => from !== 'assignment' && values.get(name) === undefined);
  const late = lateOf(of, values);
  const { condition: plain, invalidData } = action;
  const condition = opaqueCondition({
    ...(plain && { condition: plain }),
    ...(of.if && { if: { text: of.if.text, event: eventParts(of.if, event) } }),
    ...(late && { late: true }),
  });
  const why = (mistakes: string) => [...missing.map((one) => whyMissing(one, contents)), mistakes].join('; ');
  // Without an assignment, the relay cannot evaluate the condition.
  const isUnknown = of.asksAssignment && action.assignmentId === undefined;
  const stuck = action.cannotSchedule ?? (isUnknown ? invalidData : undefined);
  return {
    ...action,
    condition,
    unfilled: missing.map(({ name }) => name),
    ...(late && { late }),
    cannotSchedule: stuck && why(stuck),
    invalidData: stuck ? invalidData : invalidData && why(invalidData),
  };
}

const whyMissing = ({ name, from, path }: Reference, { variables }: Contents) =>
  from === 'variable' ? `the value ${name} is missing: ${noValueAt(variables[name]?.path)}` : noValueAt(path);

/** The fields with `${assignment.path}`. The other values in these fields are already filled in. */
function lateOf({ fields }: CompiledAction, values: Values): ChainAction['late'] {
  const isLate = (template: Template) => template.some((part) => typeof part !== 'string' && part.from === 'assignment');
  const late = fields.flatMap(([field, value]): [string, LateText | LateText[]][] => {
    if ('other' in value) return [];
    if (isList(value)) return value.some(isLate) ? [[field, value.map((template) => lateText(template, field, values))]] : [];
    return isLate(value) ? [[field, lateText(value, field, values)]] : [];
  });
  return late.length > 0 ? Object.fromEntries(late) : undefined;
}

function lateText(template: Template, field: string, values: Values): LateText {
  const text: LateText = [''];
  for (const part of template) {
    if (typeof part === 'string') text.push(`${text.pop()}${part}`);
    else if (part.from === 'assignment') text.push(part.path, '');
    else text.push(`${text.pop()}${given(part, field, template, values) ?? `\${${part.name}}`}`);
  }
  return text;
}
