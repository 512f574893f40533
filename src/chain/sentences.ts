/** Says what an action does in one sentence: `After 30 minutes, if the assignment is still “draft”, send to Metro technicians within 25 miles`. */

import { type Condition, comparisons, conditionOf, hasValue, type Row, whenOf } from './comparisons.js';
import { delaySeconds, delayText } from './durations.js';
import type { Fields } from './fields.js';
import { fieldText } from './fields.js';
import { capital, cutShort, listed, variablePattern } from './text.js';
import { actionWords, labelled } from './words.js';

/** Writes `${event.manager.email}` as `[manager email]`. */
export function spoken(text: string): string {
  return text.replaceAll(variablePattern, (_, name: string) => {
    const words = name.replace(/^(event|assignment)\./, '').replaceAll(/[._[\]]+/g, ' ');
    return `[${words.trim()}]`;
  });
}

/** Says where each value in a text comes from: `In place of ${owner_email}, the relay writes the value from the event.` */
export function filledWords(text: string): string {
  const written = [...new Set(text.match(variablePattern))];
  const from = (one: string) => (one.startsWith('${assignment.') ? 'assignment' : 'event');
  return written.map((one) => `In place of ${one}, the relay writes the value from the ${from(one)}.`).join(' ');
}

const entriesOf = (value: unknown) =>
  fieldText(value)
    .split(/[,\n]/)
    .flatMap((entry) => entry.trim() || []);

export const groupsOf = ({ groupId, sendToGroups }: Fields) => [...new Set([groupId, sendToGroups].flatMap(entriesOf))];

const sendWords = (fields: Fields) => {
  const groups = groupsOf(fields).map(spoken);
  const numbers = groups.length > 0 && groups.every((group) => /^\d+$/.test(group));
  const to = numbers ? `group${groups.length > 1 ? 's' : ''} ${listed(groups)}` : listed(groups);
  const radius = spoken(fieldText(fields.sendRadius)).trim();
  return [to ? 'send' : 'send the assignment', to && `to ${to}`, radius && `within ${radius} mile${radius === '1' ? '' : 's'}`]
    .filter(Boolean)
    .join(' ');
};

const mailWords = ({ emails, subject }: Fields) => {
  const [to, about] = [entriesOf(emails).map(spoken), spoken(fieldText(subject)).trim()];
  return `e-mail ${to.length > 0 ? listed(to) : 'somebody'}${about && `: “${cutShort(about, 80)}”`}`;
};

const fieldWords = ({ externalSystemTicketId, cfName, cfValue }: Fields) => {
  const [ticket, name, value] = [externalSystemTicketId, cfName, cfValue].map((field) => spoken(fieldText(field)).trim());
  return `set ${name ? `“${name}”` : 'a field'} of ticket ${ticket || '…'} to ${value ? `“${value}”` : '…'}`;
};

const does: Record<string, (fields: Fields) => string> = {
  platform_sendAssignment: sendWords,
  sendEmails: mailWords,
  ticket_updateUDF: fieldWords,
};

/** Describes the action without its delay and condition: `send to Metro technicians within 25 miles`. */
export function deedWords(fields: Fields): string {
  const action = fieldText(fields.action);
  return does[action]?.(fields) ?? (action === '' ? 'do something' : action);
}

/** For example `if the assignment is still “draft”`. Empty without a condition. */
export function conditionWords({ rows, join, text }: Condition, isDelayed = false): string {
  const said = rows.map((row) => rowWords(row, isDelayed));
  if (text !== undefined) said.push(cutShort(text, 80));
  return said.length === 0 ? '' : `if ${said.join(` ${join} `)}`;
}

function rowWords({ of, path, comparison, value }: Row, isDelayed: boolean): string {
  const shown = spoken(String(value)) || 'empty';
  if (of === 'assignment' && path === 'status' && comparison === 'is' && value)
    return `the assignment is ${isDelayed ? 'still ' : ''}“${shown}”`;
  if (of === 'assignment' && path === 'status' && comparison === 'not') return `the assignment is not “${shown}”`;
  const written = typeof value === 'string' && value !== '' ? `“${shown}”` : shown;
  const name = of === 'incomingValue' ? 'the value to compare' : `${of === 'event' ? "the event's " : ''}${path || '…'}`;
  return `${name} ${comparisons[comparison].words}${hasValue(comparison) ? ` ${written}` : ''}`;
}

export function sentenceOf(fields: Fields): string {
  const wait = fieldText(fields.delayInSeconds);
  const delay = delaySeconds(wait) === undefined && !wait.includes('${') ? `“${wait}”` : spoken(delayText(wait));
  const condition = conditionWords(conditionOf(fields), delay !== '');
  return capital([delay && `after ${delay}`, condition, deedWords(fields)].filter(Boolean).join(', '));
}

/** For example `For each event, if status is “created”`. */
export function whenWords(when: unknown): string {
  // Omits "the event's", because every property here belongs to the event.
  const condition = conditionWords(whenOf(when)).replaceAll("the event's ", '');
  return `For each event${condition && `, ${condition}`}`;
}

/** The fields whose values are not words. */
export const codedFields = ['delayInSeconds', 'actionCondition', 'if'];

/** The value of a field in words: `30 minutes` for `1800`, `if draft` for `status==draft`. */
export function valueText(field: string, value: unknown): string {
  if (field === 'when') return whenWords(value);
  if (field === 'needs attention') return value === undefined ? 'no' : `yes, because ${labelled(fieldText(value))}`;
  if (value === undefined || value === '') return 'nothing';
  const text = fieldText(value);
  if (field === 'delayInSeconds') return spoken(delayText(text)) || 'immediately';
  if (field === 'actionCondition' || field === 'if') return conditionWords(conditionOf({ [field]: value })).replace(/^if /, '');
  return field === 'action' ? (actionWords[text] ?? text) : spoken(Array.isArray(value) ? value.join(', ') : text);
}
