/** Checks the contents of a rule when they are saved. Parses the contents only once, so that an event needs no parsing. */

import { parseCondition, pathPattern } from '../chain/condition.js';
import type { Fields } from '../chain/fields.js';
import { warningsOfKind } from '../chain/kinds.js';
import type { Issue } from '../chain/request.js';
import { isNearMiss, issuesOf, jsonPointer, markBesides, maxConditionLength, mostBytes, readMarked } from '../chain/request.js';
import { cutShort } from '../chain/text.js';
import type { Company } from '../contract/company.js';
import { type Contents, contentsSchema } from '../contract/rule-contents.js';
import { allNames, type Expression, type Name, parseExpression } from './expression.js';
import { parseTemplate, type Reference, type Template } from './references.js';

export interface CompiledAction {
  /** The fields of the request. Texts and lists of texts are templates. Other values stay as they are. */
  fields: [name: string, value: Template | Template[] | { other: unknown }][];
  references: Reference[]; // each name once
  if?: Expression;
  /** Present only if `actionCondition` has a reference. `start` ends with the operator. `isQuoted`: the value is in quotes. */
  comparison?: { start: string; isQuoted: boolean };
  asksAssignment: boolean; // whether `if` or a reference names the assignment
}

/** `text`: the contents as JSON. */
type CompiledContents = { text: string; actions: CompiledAction[]; problems: Issue[] };

/** These fields decide when and whether the action runs, so they must be known when the event arrives. */
const knownAtOnce = ['action', 'platformAssignmentId', 'delayInSeconds', 'actionCondition', 'incomingValue', 'comment'];
const ownFields = ['relayId', 'relayAccessToken'];
const broken = 'mistake'; // A reference with this name replaces a text that has a mistake.

const compiled = new WeakMap<Contents, CompiledContents>();

/** @param contents - already checked. The result is cached as long as the object exists. */
export function compileContents(contents: Contents): CompiledContents {
  const known = compiled.get(contents) ?? compile(contents);
  compiled.set(contents, known);
  return known;
}

/** Finds every mistake that the actions would have in a request. The pointers point into the contents. */
export function checkContents(given: unknown, { relayId, platform }: { relayId: string; platform?: Company['platform'] }) {
  const refused = (problems: Issue[], warnings: Issue[] = []) => ({ ok: false as const, problems, warnings });
  const { data: contents, error } = contentsSchema.safeParse(given);
  if (error) return refused(issuesOf(error));
  const { text, actions, problems } = compileContents(contents);
  if (Buffer.byteLength(text) > mostBytes) return refused([{ pointer: '', detail: `must have at most ${mostBytes / 1024} KiB` }]);
  const mark = markBesides(text);
  const elements = actions.map((action) => elementOf(action, relayId, mark, ({ name }) => `\${${name}}`));
  const unread = [broken, ...actions.flatMap(({ references }) => references.map(({ name }) => name))];
  const read = readMarked(elements, { unfilled: [], unread }, mark);
  const wrong = read.ok ? [...read.mistakes, ...warningsOfKind(platform, read.actions)] : [...read.problems, ...read.mistakes];
  const all = [...problems, ...wrong.map(inContents)];
  const odd = [...(read.ok ? read.warnings.map(inContents) : []), ...oddities(contents, actions)];
  const warnings = odd.filter(({ pointer }) => !all.some((problem) => problem.pointer === pointer));
  return all.length > 0 ? refused(all, warnings) : { ok: true as const, contents, warnings };
}

/** Returns the groups and the ticket fields that the actions name. Leaves out names that depend on the event. */
export function namedIn({ actions }: Contents): { groups: string[]; fields: string[] } {
  const texts = (name: string) => actions.flatMap(({ [name]: text }) => (typeof text === 'string' ? [text] : []));
  const known = (names: string[]) => names.map((name) => name.trim()).filter((name) => name !== '' && !name.includes('${'));
  const listed = texts('sendToGroups').flatMap((list) => list.split(','));
  return { groups: known([...texts('groupId'), ...listed]), fields: known(texts('cfName')) };
}

export const inContents = <Found extends Issue>(found: Found): Found => ({
  ...found,
  pointer: found.pointer && `/actions${found.pointer}`,
});

/** Marks each `$` that could begin a reference, alone or together with the next text. */
export const marked = (data: string, mark: string) => data.replaceAll(/\$(?=\{|$)/g, mark);

/** @param write - returns the text that replaces a reference. @param mark - see `marked`. */
export function elementOf({ fields }: CompiledAction, relayId: string, mark: string, write: Write): Fields {
  const written = (template: Template, field: string) =>
    template
      .map((part) => (typeof part === 'string' ? part.replaceAll('${', `${mark}{`) : write(part, field, template)))
      .join('');
  const texts = fields.map(([name, value]) => {
    if ('other' in value) return [name, value.other];
    return [name, isList(value) ? value.map((template) => written(template, name)) : written(value, name)];
  });
  return { relayId, relayAccessToken: '', ...Object.fromEntries(texts) }; // the schema requires a token
}

type Write = (reference: Reference, field: string, template: Template) => string;

export const isList = (value: Template | Template[]): value is Template[] => Array.isArray(value[0]);

function compile(contents: Contents): CompiledContents {
  const problems: Issue[] = [];
  const { when, variables } = contents;
  if (when !== undefined) expression(when, ['event'], '/when', problems);
  for (const [name, { path }] of Object.entries(variables)) {
    const at = jsonPointer(['variables', name]);
    if (['event', 'assignment'].includes(name)) problems.push({ pointer: at, detail: 'cannot be the name of a value' });
    if (!pathPattern.test(path))
      problems.push({ pointer: `${at}/path`, detail: 'must be a path into the event, such as workorder.id or items[0].id' });
  }
  const actions = contents.actions.map((action, index) => compileAction(action, index, Object.keys(variables), problems));
  return { text: JSON.stringify(contents), actions, problems };
}

function compileAction(action: Fields, index: number, variables: readonly string[], problems: Issue[]): CompiledAction {
  const problem = (field: string, detail: string) => problems.push({ pointer: jsonPointer(['actions', index, field]), detail });
  const references = new Map<string, Reference>();
  const fields = Object.entries(action).flatMap(([name, value]): CompiledAction['fields'] => {
    if (name === 'if') return [];
    if (ownFields.includes(name)) {
      problem(name, 'must be left out: the actions of a rule do not need this field');
      return [];
    }
    if (typeof value === 'string') return [[name, template(name, value)]];
    const isTexts = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
    return [[name, isTexts ? value.map((text) => template(name, text)) : { other: value }]];
  });
  const { if: text, actionCondition } = action;
  if (text !== undefined && typeof text !== 'string') problem('if', 'must be a string');
  const condition = typeof text === 'string' ? expression(text, allNames, `/actions/${index}/if`, problems) : undefined;
  const all = [...references.values()];
  const asksAssignment = condition?.names.has('assignment') === true || all.some(({ from }) => from === 'assignment');
  if (asksAssignment && action.platformAssignmentId === undefined)
    problem('platformAssignmentId', 'is required, because "if" or a text uses values of the assignment');
  const comparison = typeof actionCondition === 'string' ? comparisonOf(actionCondition) : undefined;
  return { fields, references: all, asksAssignment, ...(condition && { if: condition }), ...(comparison && { comparison }) };

  function template(field: string, written: string): Template {
    const parsed = parseTemplate(written);
    const found = parsed.ok ? parsed.template.filter((part) => typeof part !== 'string') : [];
    const wrong = parsed.ok ? found.map((reference) => mistakeIn(reference, field)).find(Boolean) : parsed.error;
    if (wrong !== undefined || !parsed.ok) {
      problem(field, wrong ?? '');
      return [{ name: broken, from: 'variable', path: broken }];
    }
    for (const reference of found) references.set(reference.name, reference);
    return parsed.template;
  }

  function mistakeIn({ name, from }: Reference, field: string): string | undefined {
    const shown = `contains \${${cutShort(name, 80)}}`;
    if (from === 'assignment' && knownAtOnce.includes(field)) return `${shown}, but must be known when the event arrives`;
    if (from !== 'variable' || variables.includes(name)) return undefined;
    const meant = variables.find((variable) => isNearMiss(name, variable));
    return `${shown}, which this rule does not take from the event${meant ? `; did you mean \${${meant}}?` : ''}`;
  }

  /** Values in a condition are data, so a quotation mark or an operator in a value has no meaning. */
  function comparisonOf(condition: string): CompiledAction['comparison'] {
    if (!condition.includes('${') || condition.length > maxConditionLength) return undefined;
    const { error } = parseCondition(condition);
    if (error !== undefined) problem('actionCondition', error);
    const end = condition.search(/[=!]=/) + 2;
    return { start: condition.slice(0, end), isQuoted: /^\s*(["']).*\1\s*$/s.test(condition.slice(end)) };
  }
}

function expression(text: string, allowed: readonly Name[], pointer: string, problems: Issue[]): Expression | undefined {
  const parsed = parseExpression(text, allowed);
  if (parsed.ok) return parsed.expression;
  const place = parsed.at === undefined ? '' : ` (at character ${parsed.at + 1})`;
  problems.push({ pointer, detail: `${parsed.error}${place}` });
  return undefined;
}

function oddities({ variables }: Contents, actions: readonly CompiledAction[]): Issue[] {
  const used = new Set(actions.flatMap(({ references }) => references.map(({ name }) => name)));
  const unused = Object.keys(variables).filter((name) => !used.has(name) && variables[name]?.missing !== 'refuse');
  const asking = actions.flatMap(({ fields, if: condition }, index) => {
    const isMissing = condition?.names.has('incomingValue') && !fields.some(([name]) => name === 'incomingValue');
    return isMissing
      ? [{ pointer: `/actions/${index}/if`, detail: 'asks for incomingValue, which the action does not have' }]
      : [];
  });
  return [...unused.map((name) => ({ pointer: jsonPointer(['variables', name]), detail: 'is not used' })), ...asking];
}
