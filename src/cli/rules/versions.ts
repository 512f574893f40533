/** The versions of a rule, as the API has them, their differences, and the result of a try on past events. */

import { triedText } from '../../chain/tried-text.js';
import { ruleSchema } from '../../contract/rule.js';
import type { Contents, ContentsDiff, Tried, WholeVersion } from '../../contract/rule-contents.js';
import { contentsSchema, tryResponse, wholeVersionSchema } from '../../contract/rule-contents.js';
import { diffContents } from '../../rules/compare.js';
import { path } from '../api.js';
import { issueLines } from '../explain.js';
import type { Session } from '../session.js';
import type { Line } from '../text.js';

export const ruleAt = (companyId: string, relayId: string) => path`/admin/companies/${companyId}/rules/${relayId}`;

/** The reason that a command gives when it asks before it publishes. */
export const newEventsRunIt = 'New events will run it';

export async function askVersion({ api }: Session, companyId: string, relayId: string, version: number): Promise<WholeVersion> {
  const target = `${ruleAt(companyId, relayId)}/versions/${version}`;
  const { body } = await api.ask('GET', target, wholeVersionSchema);
  return { ...body, contents: withTexts(body.contents) };
}

export async function askPublished(session: Session, companyId: string, relayId: string): Promise<WholeVersion | undefined> {
  const { published } = (await session.api.ask('GET', ruleAt(companyId, relayId), ruleSchema)).body;
  return published === undefined ? undefined : askVersion(session, companyId, relayId, published);
}

export const askTry = ({ api }: Session, companyId: string, relayId: string, body: object) =>
  api.ask('POST', `${ruleAt(companyId, relayId)}/try`, tryResponse, { body });

/** @param other - contents, perhaps malformed. Malformed contents are never the same. */
export function isSame(one: Contents | undefined, other: unknown): boolean {
  const { data } = contentsSchema.safeParse(other);
  return one !== undefined && data !== undefined && diffContents(one, withTexts(data)).same;
}

/** Turns numbers and booleans into texts with the same meaning, because a file has only texts. */
function withTexts(contents: Contents): Contents {
  const text = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(text) : ['number', 'boolean'].includes(typeof value) ? String(value) : value;
  const ofAction = (action: object) => Object.fromEntries(Object.entries(action).map(([field, value]) => [field, text(value)]));
  return { ...contents, actions: contents.actions.map(ofAction) };
}

/** Each difference has a line with its place, such as `variables.note`. Below this line are a `-` line and a `+` line. */
export function diffLines({ same, fields, variables, actions }: ContentsDiff): Line[] {
  if (same) return ['No differences.'];
  return [
    ...fields.flatMap((change) => [change.field, ...changeLines(change, '  ')]),
    ...variables.flatMap((change) => [`variables.${change.field}`, ...changeLines(change, '  ')]),
    ...actions.flatMap(({ before, after, action, changes }): Line[] => [
      `action ${after ?? before} ${action}${placeText(before, after)}`,
      ...changes.flatMap((change) => [`  ${change.field}`, ...changeLines(change, '    ')]),
    ]),
  ];
}

function placeText(before: number | undefined, after: number | undefined): string {
  if (before === undefined) return ' (new)';
  if (after === undefined) return ' (removed)';
  return before === after ? '' : ` (was action ${before})`;
}

function changeLines({ before, after }: { before?: unknown; after?: unknown }, indent: string): Line[] {
  const minus = linesOf(before).map((text) => [{ text: indent }, { text: `- ${text}`, tone: 'bad' as const }]);
  const plus = linesOf(after).map((text) => [{ text: indent }, { text: `+ ${text}`, tone: 'good' as const }]);
  return [...minus, ...plus];
}

function linesOf(value: unknown): string[] {
  if (value === undefined) return [];
  return (typeof value === 'string' ? value : JSON.stringify(value)).split('\n');
}

export function triedLines(session: Session, tried: Tried): Line[] {
  if (tried.problems.length > 0) return ['The contents have mistakes. No event was tried.', ...issueLines(tried.problems)];
  const table = session.table(tried.events, {
    EVENT: 'eventId',
    RECEIVED: 'receivedAt',
    ASSIGNMENT: 'assignmentId',
    OUTCOME: 'outcome',
    WHAT: ({ reason, differences = [] }) =>
      reason ?? differences.map(({ action, field }) => (field === '' ? `action ${action}` : `${action} ${field}`)).join(', '),
  });
  return [triedText(tried), ...(tried.events.length > 0 ? ['', ...table] : [])];
}
