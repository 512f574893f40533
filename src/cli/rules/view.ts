/** Rules with contents in a terminal: the differences of two versions, and the result of a try on past events. */

import { counted } from '../../chain/text.js';
import type { ContentsDiff, Tried, TriedOutcome } from '../../contract/rule-contents.js';
import { issueLines } from '../explain.js';
import type { Session } from '../session.js';
import type { Line } from '../text.js';

interface Change {
  before?: unknown;
  after?: unknown;
}

/** For example `variables.note` with a `-` line and a `+` line below it, action by action. */
export function diffLines({ same, when, variables, actions }: ContentsDiff): Line[] {
  if (same) return ['No differences.'];
  return [
    ...(when ? ['when', ...changeLines(when, '  ')] : []),
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

export function changeLines({ before, after }: Change, indent: string): Line[] {
  const minus = linesOf(before).map((text) => [{ text: indent }, { text: `- ${text}`, tone: 'bad' as const }]);
  const plus = linesOf(after).map((text) => [{ text: indent }, { text: `+ ${text}`, tone: 'good' as const }]);
  return [...minus, ...plus];
}

function linesOf(value: unknown): string[] {
  if (value === undefined) return [];
  return (typeof value === 'string' ? value : JSON.stringify(value)).split('\n');
}

const outcomeTexts: Record<TriedOutcome, string | undefined> = {
  same: undefined,
  'not-applicable': undefined,
  different: 'would be different',
  'no-longer-applies': 'would no longer apply',
  'applies-now': 'would apply now',
  'would-be-refused': 'would be refused',
  'needs-attention': 'would need attention',
};

/** For example `Of the last 200 events 12 would be different; 1 would be refused.` */
export function triedText({ tried, counts, stopped }: Tried): string {
  if (tried === 0) return 'There are no events to try the rule on.';
  const parts = Object.entries(outcomeTexts).flatMap(([outcome, text]) => {
    const count = counts[outcome as TriedOutcome] ?? 0;
    return text && count > 0 ? [`${count} ${text}`] : [];
  });
  const all = `Of ${counted(tried, 'event')}${stopped ? ' (the time was too short for all)' : ''}`;
  return `${all}, ${parts.join('; ') || 'none would be different'}.`;
}

export function triedLines(session: Session, tried: Tried): Line[] {
  if (tried.problems.length > 0) return ['The contents have mistakes. No event was tried.', ...issueLines(tried.problems)];
  const table = session.table(tried.events, {
    EVENT: 'eventId',
    RECEIVED: 'receivedAt',
    OUTCOME: 'outcome',
    WHAT: ({ reason, differences = [] }) =>
      reason ?? differences.map(({ action, field }) => (field === '' ? `action ${action}` : `${action} ${field}`)).join(', '),
  });
  return [triedText(tried), ...(tried.events.length > 0 ? ['', ...table] : [])];
}
