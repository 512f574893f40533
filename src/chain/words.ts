/** Words for people: actions, their fields, and why they failed. */

import type { ActionStatus } from './action-status.js';
import { failureDetails, failureRemedy, failureTitle, helpFor } from './failure-words.js';
import { type Fields, fieldText } from './fields.js';
import { foundNobody } from './outcome.js';
import { noValuePattern } from './places.js';
import { capital, cutShort, listed, oneLine, stepsText } from './text.js';

export const actionWords: Record<string, string> = {
  platform_sendAssignment: 'send the assignment',
  sendEmails: 'send an e-mail',
  ticket_updateUDF: 'update a ticket field',
};

const ofAll = ['platformAssignmentId', 'delayInSeconds', 'actionCondition', 'incomingValue', 'comment'];
/** The fields that only this action has. */
export const ownFields: Record<string, readonly string[]> = {
  platform_sendAssignment: ['groupId', 'sendToGroups', 'sendRadius'],
  sendEmails: ['emails', 'subject', 'body', 'bodyHtml'],
  ticket_updateUDF: ['externalSystemTicketId', 'cfName', 'cfValue', 'cfTargetDateFormat'],
};
/** All fields of each action, without those that an edit cannot change. */
export const fieldsOfAction: Record<string, readonly string[]> = Object.fromEntries(
  Object.entries(ownFields).map(([action, own]) => [action, [...ofAll, ...own]]),
);

export const fieldWords: Record<string, string> = {
  ...{ platformAssignmentId: 'Assignment number', delayInSeconds: 'Wait', actionCondition: 'Only if' },
  ...{
    incomingValue: 'Value to compare',
    comment: 'Note',
    groupId: 'Group',
    sendToGroups: 'Groups',
  },
  ...{
    sendRadius: 'Within (miles)',
    emails: 'To',
    subject: 'Subject',
    body: 'Text',
    bodyHtml: 'HTML version of the text',
  },
  ...{ externalSystemTicketId: 'Ticket', cfName: 'Ticket field', cfValue: 'New value' },
  cfTargetDateFormat: 'Date format of the new value',
};

/** The label of a field, such as `To` for `emails`. A field without a label keeps its name. `if` is a field of rules only. */
export const fieldLabel = (name: string): string => labels.get(name) ?? name;
const labels = new Map(Object.entries({ ...fieldWords, if: 'Only if' }));

const withoutLabel = new Map([
  ['action', 'the action'],
  ['relayId', 'the rule number'],
  ['relayAccessToken', 'the token'],
]);

/** For example `“To”` for `emails`, `the token` for `relayAccessToken`, and `“subjct”` for a name that is no field. */
export const quotedLabel = (name: string) => withoutLabel.get(name) ?? (name && `“${fieldLabel(name)}”`);

/** For example `“cfName” (“Ticket field”)`, because the sender of a wrong name must find the right name. */
function bothNames(name: string): string {
  const label = quotedLabel(name);
  return label.toLowerCase() === `“${name.toLowerCase()}”` ? label : `“${name}” (${label})`;
}

/** For example `manager email` for the value `manager_email`. */
export const variableWords = (name: string) => name.replaceAll('_', ' ');

/**
 * Says which part of a rule or a request is meant: `Step 2: “Wait”`, or the value `“owner email”`.
 * @param pointer - a JSON pointer into the contents of a rule, or into a list of actions
 * @param whole - the words for the pointer to the whole text
 * @param label - the words for the name of a field
 */
export function placeText(pointer: string, whole = 'The rule', label = quotedLabel): string {
  const [, part = '', field = ''] = pointer.replace(/^\/actions\//, '/').split('/');
  if (/^\d+$/.test(part)) return [`Step ${Number(part) + 1}`, field && label(field)].filter(Boolean).join(': ');
  if (part === 'variables') return `The value “${variableWords(field)}”`;
  return part === 'when' ? 'The condition of the rule' : whole;
}

/** For example `Step 1: “To” is blank.` for the pointer `/0/emails`. */
export const mistakeText = ({ pointer, detail }: { pointer: string; detail: string }, whole?: string) =>
  sentence(labelled(`${placeText(pointer, whole)} ${detail}`.trim()));

/** For the author of JSON, with the names of the API: `Step 2: “cfNam” is not a field; did you mean “cfName”?` */
export const jsonMistake = ({ pointer, detail }: { pointer: string; detail: string }) =>
  sentence(`${placeText(pointer, undefined, (name) => `“${name}”`)} ${detail.replace(/(?<=did you mean )\w+/, '“$&”')}`);

/** For example `“Site url” of the ticket system`. */
function settingWords(part: string, name: string): string {
  const spaced = capital(name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
  return `${name === 'auth' ? 'The secret' : `“${spaced}”`} of the ${part === 'platform' ? 'assignment platform' : 'ticket system'}`;
}

const apiNames = Object.keys(fieldWords).filter((name) => /[A-Z]/.test(name)); // the others, such as `comment`, are also words
const fieldNames = new RegExp(`(?<!“)\\b(${apiNames.join('|')}|emails(?= has | of step ))\\b`, 'g');

const example = 'write, for example, “status is draft” or “status is not draft”';

const signalWords: Record<string, string> = { mend: 'edit and retry', runNow: 'run now', cancelAction: 'cancel' };

/** Replaces the names of the API by the labels of the forms: `“Group” of step 1` for `/0/groupId`, `step 1` for `action 0`. */
export const labelled = (text: string): string =>
  text
    .replaceAll(/(^|\. |(?<![\w/]))(\/(?:actions|variables|when)\b[\w/-]*)/g, (_, start: string, pointer: string, at: number) => {
      const words = placeText(pointer);
      return start + (start === '' && at > 0 ? words.replace(/^./, (first) => first.toLowerCase()) : words);
    })
    .replace(/(?<!\S)\/(\d+)\/(\w+)\b/g, (_, index: string, name: string) => `${quotedLabel(name)} of step ${Number(index) + 1}`)
    .replace(/(?<!\S)\/fields\/(\w+)/, (_, name: string) => quotedLabel(name))
    .replaceAll(/\b(platform_sendAssignment|ticket_updateUDF|sendEmails)\b/g, (name) => `“${actionWords[name]}”`)
    .replace(/did you mean (\w+)\?/, (_, name: string) => `did you mean ${bothNames(name)}?`)
    .replace(/(?<=^Nothing has run\. )[a-z](?=\w* (?:\w+ ){0,2}of step )/, (first) => first.toUpperCase())
    .replace(/\?; (.)/g, (_, next: string) => `? ${next.toUpperCase()}`)
    .replace(noValuePattern, 'the field “$1” of the event is empty or does not exist')
    .replace(/Step (\d+)[,:] (the action|“[^”]+”)(?= (?:is required:|must be) one of | is not a field; did )/, '$2 of step $1')
    .replace(/the action of step (\d+) must be one of /i, 'Step $1 has an unknown action. Possible actions: ')
    .replace(/the action of step (\d+) is required: one of /i, 'Step $1 has no action. Possible actions: ')
    .replaceAll(/(“[^”]+”) of step (\d+) is not a field; did /g, 'Step $2 has the unknown field $1. Did ')
    .replace(/^is not a field; did /, 'Did ')
    .replaceAll(/(?<=Did you mean (“[^”]+”)\?) \1 of step \d+ is required;?/g, '') // the wrong name is the only mistake
    .replaceAll(/; (?=“[^”]+” of step)/g, '. ')
    .replaceAll(/(“[^”]+”) of step (\d+) is required\b(?!:)/g, 'Step $2 needs $1')
    .replace(/^line \d+, column \d+: (.)/i, (_, first: string) => first.toUpperCase())
    .replace(/with actionCondition status==(\w+)/g, 'that is sent only if the assignment still has the status “$1”')
    .replace(fieldNames, (name) => `“${fieldWords[name]}”`)
    .replace('this action will', 'this step will')
    .replace(
      /(?:the rule number of step (\d+)|step (\d+): the rule number) belongs to/i,
      (_, of, at) => `Step ${of ?? at} belongs to`,
    )
    .replace(/\b(t)he text of (?=`)/i, '$1he field ')
    .replace(/^\/notify\/emails\/(\d+)/, (_, index: string) => `Entry ${Number(index) + 1} of the addresses`)
    .replace(/^\/elements(?= has)/, 'The list')
    .replace(/^\/event is required/, 'The event must be a JSON object')
    .replace(/(?<=\bhas \d+ )actions\b/, 'steps')
    .replace(/; null removes it$/, '')
    .replace(/(?<!\S)\/(platform|ticketing)\/(\w+)(?= |$)/, (_, part: string, name: string) => settingWords(part, name))
    .replace(/(?<=^(?:skipped|cancelled) by )(?:key|admin) .+?(?= \(|$)/, callerText)
    .replace(/\baction (\d+)\b/g, (_, index: string) => `step ${Number(index) + 1}`)
    .replace('must be an array of strings, such as ["dispatch@example.com"]', 'must be a list of e-mail addresses')
    .replace('a whole number of seconds, such as "1800"', 'a time, such as 30 minutes')
    .replace(
      /( has (no ==|a single =))?: write <property>==.*"94016"/,
      (_, is: string) => `${is ? ' is not a condition' : ''}: ${example}`,
    )
    .replace(/^status was /, 'The assignment had the status ')
    .replace(/^(The assignment had the status )"([^"]*)"/, '$1“$2”')
    .replaceAll(/\bevent\.([^\s:,]+): no such property/g, 'the event has no field “$1”')
    .replaceAll(/(?:\bassignment\.)?((?!incomingValue)\b[\w.[\]]+): no such property/g, 'the assignment has no property “$1”')
    .replace(/(?<=, )(mend|runNow|cancelAction)(?=[ :])/, (name) => signalWords[name] ?? name)
    .replace(/ \((?:GET|POST|PUT|PATCH|DELETE) \S+ answered [^)]*\)/g, '')
    .replaceAll(/`“?([^`]+?)”?`/g, '“$1”')
    .replace(/ \[\d+\]:/g, ':')
    .replace(/ \(bulk [\w-]+\)/g, manyAtOnce);

const effects: Record<string, [what: string, done: string]> = {
  platform_sendAssignment: ['The assignment', 'sent'],
  sendEmails: ['An e-mail', 'sent'],
  ticket_updateUDF: ['A ticket field', 'updated'],
};

/** For example `Step 1: Send an e-mail`. An event has no action. */
export const elementTitle = ({ action }: Fields, index: number) =>
  action ? `Step ${index + 1}: ${capital(actionWords[fieldText(action)] ?? `unknown action “${fieldText(action)}”`)}` : 'Event';

type Titled = Pick<ActionStatus, 'action' | 'comment'>;

/** For example `Send an e-mail (note: “tell the manager”)`. */
export const stepTitle = ({ action, comment = '' }: Titled) =>
  `${capital(actionWords[action] ?? action)}${comment.trim() && ` (note: “${cutShort(oneLine(comment))}”)`}`;

/** For example `assignment 1001`. */
const assignmentText = (id: string | undefined) => (id ? `assignment ${cutShort(oneLine(id), 60)}` : 'the assignment');

/** The result of a send that found no technician, for mails and for the page of a link. */
export const foundNobodyWords = 'The platform took the assignment, but found no technician for it.';

/** For example `Assignment 1001 was not sent`. @param how - adds words to `sent`, such as `not sent` */
export function effectTitle(
  { action, assignmentId }: Titled & Pick<ActionStatus, 'assignmentId'>,
  how: (done: string) => string,
) {
  const [what, done] = effects[action] ?? [capital(action), 'done'];
  const named = action === 'platform_sendAssignment' ? capital(assignmentText(assignmentId)) : what;
  return `${named} was ${how(done)}`;
}

/** For example `Assignment 1001 was sent`, or `No technician was found for assignment 1001`. @param more - words at the end */
export const doneTitle = (action: Parameters<typeof effectTitle>[0] & Pick<ActionStatus, 'state' | 'result'>, more = '') =>
  foundNobody(action)
    ? `No technician was found for ${assignmentText(action.assignmentId)}`
    : effectTitle(action, (done) => `${done}${more}`);

/** For example `Assignment 1001 was not sent`, or `was perhaps not sent` if the outcome of the last attempt is unknown. */
export const notDoneTitle = (action: Parameters<typeof effectTitle>[0] & Pick<ActionStatus, 'error'>) =>
  effectTitle(action, (done) => `${action.error?.unknown ? 'perhaps ' : ''}not ${done}`);

type Known = Pick<ActionStatus, 'error' | 'reason' | 'assignmentId'>;

/** Describes the failure as a sentence. `details` has the message for technicians, if the sentence does not contain it. */
export function explained({ error, reason, assignmentId }: Known) {
  if (!error) return { wrong: sentence(reason ?? 'The reason is unknown'), details: [] };
  const details = failureDetails({ ...error, assignmentId });
  return {
    wrong: sentence(failureTitle({ ...error, assignmentId })),
    details: details === undefined ? [] : [details],
  };
}

/** Says what a person must do before a retry. Undefined if a retry alone can help. */
export function toDoFirst({ error, assignmentId }: Pick<Known, 'error' | 'assignmentId'>): string | undefined {
  const remedy = error && failureRemedy({ ...error, assignmentId });
  return remedy && sentence(remedy);
}

/** Whether people must fix something before a retry can help. If so, notices list the fix before the retry. */
export const isFixFirst = ({ error }: Pick<Known, 'error'>) => !error?.unknown && helpFor(error)?.by !== 'retry';

/** Adds a full stop if the text does not end with a punctuation mark. */
export const sentence = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** The result of a check: `The ticket system answers`, or `Contacts: notices go to 1 contact`. */
export const checkedText = (part: string, detail: string) =>
  /^(answers|accepts|knows)\b/.test(detail) ? `The ${part.toLowerCase()} ${detail}` : `${part}: ${detail}`;

/** For example `Ada`, or `the key “dana”`. @param by - a stored name: `key dana`, or `key dana (bulk <id>)` */
export function callerText(by: string): string {
  const [who = '', bulk] = by.split(/ (?=\(bulk [\w-]+\)$)/);
  const [, kind, name] = /^(key|admin) (.+)$/.exec(who) ?? [];
  const caller = kind ? `the ${kind === 'key' ? kind : 'admin token'} “${name}”` : who.replace(/^admin$/, 'the administrator');
  return caller + (bulk ? manyAtOnce : '');
}
const manyAtOnce = ' (many chains at once)';

/** For example `by Ada`, or `with the key “dana”`. @param by - a stored name: `key dana` */
export const byWords = (by: string) => `${/^(key|admin|the link) \w/.test(by) ? 'with' : 'by'} ${callerText(by)}`;

/** The heading of the facts that most readers do not need. */
export const technicalDetails = (whom = 'developers') => `Technical details (for ${whom})`;
export const forWebhooks = technicalDetails('the person who set up the webhook');

/** A mistake in the field of a form. Details of the API begin with a verb: `This field is required.` */
export const fieldMistake = (detail: string) => sentence(labelled(detail).replace(/^(?=(?:is|has|must|cannot) )/, 'This field '));

/** A text that contains an assignment number. If `fixed`, an edit of several actions does not change this text. */
export interface NamedIn {
  index: number;
  field: string;
  fixed?: true | undefined;
}

/** For example `“Subject” and “Text” of step 3`. Leaves out the HTML version of a text. */
export function namedWords(naming: readonly NamedIn[]): string {
  const steps = [...new Set(naming.map(({ index }) => index))];
  const fieldsOf = (step: number) => naming.flatMap(({ index, field }) => (index === step ? field : []));
  const shown = (fields: string[]) => fields.filter((field) => field !== 'bodyHtml' || !fields.includes('body')).map(quotedLabel);
  return steps.map((step) => `${listed(shown(fieldsOf(step)))} of step ${step + 1}`).join('; ');
}

/** Names the other fields with an assignment number that an edit also changes, and the texts that keep the old number. */
export function renamedWords(steps: readonly number[], naming: readonly NamedIn[]) {
  const textsOf = (isFixed: boolean) => namedWords(naming.filter(({ fixed = false }) => fixed === isFixed));
  const ids = steps.length > 0 && `“${fieldWords.platformAssignmentId}” of ${stepsText(steps)}`;
  return { also: [ids, textsOf(false)].filter(Boolean).join('; '), fixed: textsOf(true) };
}
