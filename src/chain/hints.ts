/** Finds likely mistakes in a valid chain, such as actions that can never run, or assignments sent without a safety net. */

import { asksIncomingValue, type Condition, evaluateCondition, parseCondition, pathText } from './condition.js';
import type { Fields } from './fields.js';
import { type Issue, jsonPointer } from './request.js';
import { cutShort, listed, unsubstituted } from './text.js';
import { sampleOf, variablesIn, wordingOf } from './variables.js';
import { quotedLabel } from './words.js';

const statuses = ['draft', 'sent']; // known statuses of an assignment

/** `add` is an action to append to the chain. */
export type Hint = Issue & { add?: Fields };

interface Written {
  index: number;
  fields: Fields;
  condition?: Condition;
  delay?: number; // in seconds; undefined if the delay is invalid or has a variable
}

/** @param elements - the elements of the request, with variables. */
export function hintsOn(elements: readonly Fields[]): Hint[] {
  const written = elements.map((fields, index) => ({ index, fields, condition: conditionOf(fields), delay: delayIn(fields) }));
  return [
    ...written.flatMap(ofOne),
    ...written.filter(isOfOneAssignment).slice(0, 1).map(ofAssignment),
    ...written.flatMap((one) => ofOrder(one, written)),
    ...withoutNet(written),
  ];
}

const conditionOf = ({ actionCondition }: Fields): Condition | undefined =>
  typeof actionCondition === 'string' && !unsubstituted(actionCondition) ? parseCondition(actionCondition).condition : undefined;

function delayIn({ delayInSeconds = 0 }: Fields): number | undefined {
  const seconds = Number(delayInSeconds);
  return Number.isNaN(seconds) ? undefined : seconds;
}

const isOfOneAssignment = ({ fields: { platformAssignmentId: id } }: Written) =>
  typeof id === 'string' && id.trim() !== '' && !unsubstituted(id);
const ofAssignment = ({ index }: Written): Issue => ({
  pointer: `/${index}/platformAssignmentId`,
  detail:
    'has a fixed number, so every event uses the same assignment. To use the assignment of each event, write ${assignment_id}',
});

function ofOne({ index, fields, condition }: Written): Issue[] {
  const at = (field: string, detail: string): Issue => ({ pointer: jsonPointer([index, field]), detail });
  const unknown = Object.entries(fields).flatMap(([field, value]) =>
    variablesIn(JSON.stringify(value) ?? '').flatMap((name) => ofVariable(name).map((detail) => at(field, detail))),
  );
  if (!condition) return unknown;
  const { incomingValue } = fields;
  const isFixed = typeof incomingValue !== 'string' || !unsubstituted(incomingValue);
  if (asksIncomingValue(condition) && isFixed) {
    const { holds, reason } = evaluateCondition(condition, { incomingValue });
    const why = reason
      .replace(/^\w+ was/, 'the value is always')
      .replace(/^\w+: .+/, `the field ${quotedLabel('incomingValue')} is empty`);
    unknown.push(at('actionCondition', `${holds ? 'is always true' : 'is never true, so the step never runs'} (${why})`));
  }
  if (pathText(condition.path) === 'status' && condition.value === '')
    unknown.push(at('actionCondition', 'has no value: write a status, for example draft'));
  const meant = statuses.find((status) => status !== condition.value && status === condition.value.toLowerCase());
  if (pathText(condition.path) === 'status' && meant)
    unknown.push(at('actionCondition', `must use small letters: write ${meant}, not ${condition.value}`));
  return unknown;
}

function ofVariable(name: string): string[] {
  const written = `\${${cutShort(name, 80)}}`;
  const free =
    `${written} is text that a person writes. If this text contains a quotation mark ("), the relay cannot read the list of steps correctly. ` +
    'Use an id, an e-mail address or a time instead. Or ask the person who set up the webhook to change its template, so that it puts a backslash (\\) before each quotation mark in this text';
  return [
    ...(sampleOf(name) === undefined ? [`${written} is a value that the relay does not know`] : []),
    ...(wordingOf(name) === 'free' ? [free] : []),
  ];
}

const isSend = ({ fields }: Written) => fields.action === 'platform_sendAssignment';
const asksStatus = ({ condition }: Written) => condition !== undefined && pathText(condition.path) === 'status';

function ofOrder(one: Written, all: readonly Written[]): Issue[] {
  const { index, delay } = one;
  if (delay === undefined) return [];
  const before = all.slice(0, index);
  const later = before.filter((other) => (other.delay ?? 0) > delay).map((other) => `action ${other.index}`);
  const send = before.findLast((other) => isSend(other) && other.delay === delay);
  const hints: Issue[] = [];
  if (later.length > 0)
    hints.push({
      pointer: `/${index}`,
      detail: `comes after ${listed(later)} in the list, but runs before ${later.length > 1 ? 'them' : 'it'}. If you do not want this, change the delay of this step`,
    });
  if (send && asksStatus(one))
    hints.push({
      pointer: `/${index}/actionCondition`,
      detail: `is checked immediately after action ${send.index} has sent the assignment. People need time to accept the assignment, so let this step wait longer`,
    });
  return hints;
}

const netAfterSeconds = 1800; // time for people to accept the assignment after it was last sent

/** Warns if the last send has no safety net. A later e-mail is a safety net if its condition is absent, or tests the status. */
function withoutNet(all: readonly Written[]): Hint[] {
  const last = all
    .filter(isSend)
    .reduce<Written | undefined>((late, one) => (late && (late.delay ?? 0) > (one.delay ?? 0) ? late : one), undefined);
  if (!last) return [];
  /** Actions with the same due time run in the order of the list. */
  const isAfter = ({ index, delay = Number.POSITIVE_INFINITY }: Written, { delay: before = 0, ...other }: Written) =>
    delay > before || (delay === before && delay > 0 && index > other.index);
  const isNet = (one: Written) => one.fields.action === 'sendEmails' && isAfter(one, last) && (asksStatus(one) || !one.condition);
  if (all.some(isNet)) return [];
  const detail =
    'has no reminder: if no technician is found, nobody gets a message. Add a delayed e-mail with actionCondition status==draft';
  const { platformAssignmentId = '${assignment_id}' } = last.fields;
  const words = `No technician has been found for assignment ${platformAssignmentId}.`;
  const add = {
    action: 'sendEmails',
    platformAssignmentId,
    actionCondition: 'status==draft',
    delayInSeconds: String((last.delay ?? 0) + netAfterSeconds),
    emails: ['${owner_email}'],
    ...{ subject: words, body: words, bodyHtml: `<p>${words}</p>` },
  };
  return [{ pointer: `/${last.index}`, detail, add }];
}
