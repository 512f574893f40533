/** Rules with contents in a terminal: the differences of two versions, and the result of a try on past events. */

import { triedText } from '../../chain/tried-text.js';
import type { ContentsDiff, Tried } from '../../contract/rule-contents.js';
import { issueLines } from '../explain.js';
import type { Session } from '../session.js';
import type { Line } from '../text.js';

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
