/** Reads the webhook's array of actions and reports all problems together, with JSON pointers. */

import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { type ActionEffect, actionDefinitions } from './actions.js';
import { type ChainAction, maxDelaySeconds, relayIdPattern, relayIdRule } from './chain.js';
import { asksIncomingValue, parseCondition } from './condition.js';
import { type ActionDefinition, type Issues, parseFields, ruledText, shortText, text } from './define-action.js';
import { sentFields } from './sent.js';
import { blankness, cutShort, leftover, variablePattern } from './text.js';

/** `pointer` is a JSON pointer (RFC 6901), for example `/1/delayInSeconds`. */
export type Issue = { pointer: string; detail: string };

export const jsonPointer = (path: readonly PropertyKey[]) =>
  path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export const issuesOf = ({ issues }: z.ZodError): Issue[] =>
  issues.map(({ path, message }) => ({ pointer: jsonPointer(path), detail: message }));

/** The maximum size of a request's body, and of all fields of an edited action together, in bytes. */
export const mostBytes = 256 * 1024;
export const maxActions = 100;
export const maxTokenLength = 512; // in characters
export const maxConditionLength = 1000; // in characters
const maxCommentLength = 1000; // in characters; a longer comment is cut

const actionNames = actionDefinitions.map(({ name }) => name);

export const commonFields = {
  action: z
    .enum(actionNames, {
      error: ({ input }) => `${input === undefined ? 'is required: one of' : 'must be one of'} ${actionNames.join(', ')}`,
    })
    .describe('Name of the action.'),
  relayId: text.regex(relayIdPattern, relayIdRule).describe('Identifier of the rule.'),
  relayAccessToken: shortText(maxTokenLength).describe('Access token of the rule.'),
  platformAssignmentId: shortText(256).optional().describe('The assignment that the action applies to.'),
  delayInSeconds: ruledText(1000, (delay) => {
    if (!/^\s*\d*\s*$/.test(delay)) return 'must be a whole number of seconds, such as "1800"';
    return Number(delay) > maxDelaySeconds ? `must be at most 366 days (${maxDelaySeconds} seconds)` : undefined;
  })
    .optional()
    .describe('The delay of the action after the request, in whole seconds.'),
  actionCondition: ruledText(maxConditionLength, (condition) => parseCondition(condition).error)
    .optional()
    .describe('<property>==<value> or <property>!=<value>. The action runs only if this condition is true.'),
  incomingValue: text.optional().describe('A value that actionCondition can test as incomingValue.'),
  comment: text.optional().describe('Free text that names the action in summaries and notices.'),
};
const commonSchema = z.object(commonFields);

/** `mistakes` are errors in the event's data: the action will need attention. `warnings` also contains the mistakes. */
export type ReadRequest =
  | { ok: true; actions: ChainAction[]; warnings: Issue[]; mistakes: Issue[] }
  | { ok: false; problems: Issue[]; mistakes: Issue[] };

/** All errors in the actions: those that refuse the request, and the mistakes in the event's data. */
export const errorsOf = (read: ReadRequest): Issue[] => (read.ok ? read.mistakes : [...read.problems, ...read.mistakes]);

type Found = Record<'problems' | 'warnings' | 'mistakes', Issue[]>;

/** The references in actions that the relay made from an event. Every other `${…}` in these actions is data. */
export interface References {
  unfilled: readonly string[]; // references without a value; such a reference is a mistake in every field except `comment`
  unread?: readonly string[]; // references that get a value later, so their fields are not checked
}

/** @param references - only for an action that the relay made from an event. */
export function readRequest(elements: readonly Record<string, unknown>[], references?: References): ReadRequest {
  if (!references) return readElements(elements);
  const { unfilled, unread = [] } = references;
  const text = JSON.stringify(elements);
  const mark = markBesides(text);
  const isKnown = (name: string) => unfilled.includes(name) || unread.includes(name);
  const marked = text.replaceAll(variablePattern, (written, name) => (isKnown(name) ? written : mark + written.slice(1)));
  return readMarked(JSON.parse(marked), references, mark);
}

/** @param mark - replaces the `$` of each `${…}` that is data. */
export const readMarked = (elements: readonly Record<string, unknown>[], references: References, mark: string): ReadRequest =>
  JSON.parse(JSON.stringify(readElements(elements, references)).replaceAll(mark, '$'));

/** Returns a character of Unicode's private use area that the texts do not contain. */
export function markBesides(...texts: string[]): string {
  let code = 0xe000;
  while (texts.some((text) => text.includes(String.fromCharCode(code)))) code++;
  return String.fromCharCode(code);
}

function readElements(elements: readonly Record<string, unknown>[], references?: References): ReadRequest {
  const refused = (detail: string): ReadRequest => ({ ok: false, problems: [{ pointer: '', detail }], mistakes: [] });
  if (elements.length === 0) return refused('must have at least one action');
  if (elements.length > maxActions) return refused(`has ${elements.length} actions; at most ${maxActions} are allowed`);
  const found: Found = { problems: [], warnings: [], mistakes: [] };
  const actions = elements.map((element, index) => readAction(element, index, found, references));
  const { problems, warnings, mistakes } = found;
  return problems.length > 0
    ? { ok: false, problems, mistakes }
    : { ok: true, actions: actions.filter((action) => action !== undefined), warnings, mistakes };
}

function readAction(
  element: Record<string, unknown>,
  index: number,
  { problems, warnings, mistakes: allMistakes }: Found,
  { unfilled = [], unread = [] }: Partial<References> = {},
): ChainAction | undefined {
  const at = (field: string) => `/${index}/${field}`;
  const fields = withTexts(element);
  const refersTo = (field: string, names: readonly string[]) =>
    names.find((name) => [fields[field.split('/')[0] ?? '']].flat().some((text) => String(text).includes(`\${${name}}`)));
  const invalidData: string[] = [];
  const cannotSchedule: string[] = [];
  const issuesWith = (mistakes: string[]): Issues => ({
    problem: (field, detail) => problems.push({ pointer: at(field), detail }),
    warning: (field, detail) => {
      // A reference needs no warning: it is a mistake, or it gets its value later.
      if (refersTo(field, [...unread, ...unfilled]) === undefined) warnings.push({ pointer: at(field), detail });
    },
    mistake: (field, detail) => {
      if (detail === undefined || refersTo(field, unread) !== undefined) return;
      mistakes.push(`${field} ${detail}`);
      allMistakes.push({ pointer: at(field), detail });
      warnings.push({ pointer: at(field), detail: `${detail}; this action will need attention` });
    },
  });
  const issues = issuesWith(invalidData);
  const schedulingIssues = issuesWith(cannotSchedule);

  const definition = actionDefinitions.find(({ name }) => name === fields.action);
  checkNames(fields, definition, issues);
  const common = parseFields(commonSchema, fields, issues);
  const effect: ActionEffect | undefined = definition?.parse(fields, issues);
  const { actionCondition: text } = fields;
  const parsed = typeof text === 'string' && text.length <= maxConditionLength ? parseCondition(text).condition : undefined;
  const asked = parsed !== undefined && !asksIncomingValue(parsed);
  const assignmentId = readAssignment(fields.platformAssignmentId, definition, asked, asked ? schedulingIssues : issues);
  if (!common || !effect) return undefined;

  const { delayInSeconds, actionCondition, incomingValue, comment = '' } = common;
  const noDelay = blankness(delayInSeconds);
  schedulingIssues.mistake('delayInSeconds', noDelay);
  const left = leftover(actionCondition);
  schedulingIssues.mistake('actionCondition', left);
  const condition = left ? undefined : parsed;
  if (condition && asksIncomingValue(condition)) schedulingIssues.mistake('incomingValue', leftover(incomingValue));
  for (const name of unfilled.length > 0 ? fieldNames(definition) : []) {
    const left =
      name === 'comment' || allMistakes.some(({ pointer }) => pointer === at(name)) ? undefined : refersTo(name, unfilled);
    issues.mistake(name, left && `contains \${${left}}, which has no value`);
  }
  if (comment.length > maxCommentLength) issues.warning('comment', `is longer than ${maxCommentLength} characters and is cut`);
  const action: ChainAction = {
    ...effect,
    index,
    relayId: common.relayId,
    assignmentId,
    delaySeconds: delayInSeconds === undefined || noDelay ? undefined : Number(delayInSeconds),
    condition,
    incomingValue,
    comment: common.comment && cutShort(common.comment, maxCommentLength),
    cannotSchedule: cannotSchedule.join('; ') || undefined,
    invalidData: invalidData.join('; ') || undefined,
  };
  return { ...action, sent: sentFields(action, fields, fieldNames(definition)) };
}

function readAssignment(id: unknown, definition: ActionDefinition | undefined, asked: boolean, issues: Issues) {
  const needed = definition?.needsAssignment || asked;
  if (id === undefined && needed) {
    const where = definition?.needsAssignment ? `for ${definition.name}` : 'because actionCondition asks about the assignment';
    issues.problem('platformAssignmentId', `is required ${where}`);
  }
  if (typeof id !== 'string') return undefined;
  const blank = blankness(id);
  if (needed) issues.mistake('platformAssignmentId', blank);
  return blank ? undefined : id.trim();
}

/** Turns booleans and numbers (up to the safe integers) into text, also in arrays. The schema refuses other types. */
function withTexts(element: Record<string, unknown>): Record<string, unknown> {
  const asText = (value: unknown): unknown =>
    typeof value === 'boolean' || (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER)
      ? String(value)
      : value;
  return Object.fromEntries(
    Object.entries(element).map(([field, value]) => [field, Array.isArray(value) ? value.map(asText) : asText(value)]),
  );
}

/** The field names of an action. Without `definition`, returns the field names of all actions. */
export function fieldNames(definition: Pick<ActionDefinition, 'fields'> | undefined): string[] {
  const own = (definition ? [definition] : actionDefinitions).flatMap(({ fields }) => Object.keys(fields));
  return [...Object.keys(commonFields), ...own];
}

/** Refuses a misspelled field name. Ignores other unknown names with a warning. */
function checkNames(fields: Record<string, unknown>, definition: ActionDefinition | undefined, issues: Issues): void {
  const known = fieldNames(definition);
  for (const name of Object.keys(fields).filter((name) => !known.includes(name))) {
    const meant = known.find((candidate) => isNearMiss(name, candidate));
    const field = jsonPointer([name]).slice(1);
    if (meant) issues.problem(field, `is not a field; did you mean ${meant}?`);
    else issues.warning(field, `is not a field${definition ? ` of ${definition.name}` : ''} and is ignored`);
  }
}

/** Whether `name` is probably a misspelled `known`: a quarter of the letters, but at most three, may differ. */
export function isNearMiss(name: string, known: string): boolean {
  if (name.length > 100) return false; // all known names have fewer than 50 characters
  const [one, other] = [folded(name), folded(known)];
  const allowed = Math.min(3, Math.floor(other.length / 4));
  return Math.abs(one.length - other.length) <= allowed && distance(one, other) <= allowed;
}

const foldedNames = new Map<string, string>(); // a cache, because every field of every request is compared with the known names

function folded(name: string): string {
  const known = foldedNames.get(name);
  if (known !== undefined) return known;
  const fold = name.toLowerCase().replaceAll(/[\s_-]/g, '');
  if (foldedNames.size >= 1000) foldedNames.clear();
  foldedNames.set(name, fold);
  return fold;
}
