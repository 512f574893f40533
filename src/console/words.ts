/** The words and colours with which the console shows states, failures, verbs and fields. */

import type { Forecast } from '../chain/forecast.js';
import { type ActionState, type ChainStatus, foundNobody } from '../chain/outcome.js';
import { capital, counted, listed, stepsText } from '../chain/text.js';
import { labelled } from '../chain/words.js';
import type { ActionResource, ListedChain } from './types.js';

export * from '../chain/failure-words.js';
export { pausableWords } from '../chain/pause.js';
export * from '../chain/words.js';
export { auditSentence } from '../contract/audit-words.js';
export * from '../contract/bulk-words.js';
export { isForTechnicians, refusalWords } from '../contract/rejection.js';
export { callerWords, roleName, roleWords, signedInWords } from '../contract/role-words.js';
export * from './when.js';
export { capital, counted, listed, stepsText };

export type Tone = 'good' | 'wait' | 'bad' | 'quiet' | 'busy';

const tones: Record<ActionState | ChainStatus, Tone> = {
  ...({ pending: 'quiet', scheduled: 'busy', running: 'busy', retrying: 'wait', 'needs-attention': 'wait' } as const),
  ...({ done: 'good', completed: 'good', skipped: 'quiet', failed: 'bad', 'partly-failed': 'bad', 'not-run': 'bad' } as const),
  ...({ cancelled: 'quiet', terminated: 'bad', forgotten: 'bad' } as const),
};

type Result = ActionResource['result'];

export const toneOf = (state: ActionState | ChainStatus, result?: Result): Tone =>
  foundNobody({ state, result }) ? 'wait' : tones[state];

/** For example `needs attention` for `needs-attention`, or `nobody found` for a send that reached no worker. */
export const stateWords = (state: ActionState | ChainStatus, result?: Result): string =>
  foundNobody({ state, result }) ? 'nobody found' : state === 'pending' ? 'waiting' : state.replaceAll('-', ' ');

export const forecastTone: Record<Forecast['outcome'], Tone> = {
  ...({ runs: 'good', skipped: 'quiet', 'needs-attention': 'wait', failed: 'bad', held: 'wait', unknown: 'quiet' } as const),
};

/** Finds the action with this cause. One chain can have several causes. The messages of one cause differ only in ids. */
export function actionOfCause<Action extends { error?: { message: string } | undefined }>(
  { message }: { message: string },
  actions: readonly Action[],
): Action | undefined {
  const withoutIds = (text = '') => text.replace(/\d+/g, '');
  return actions.find(({ error }) => withoutIds(error?.message) === withoutIds(message)) ?? actions[0];
}

/** The summary without the company, for example `2 steps: “When the worker arrived”, “How to get in”`. */
export function aboutChain({ companyId, chainId, summary }: Pick<ListedChain, 'companyId' | 'chainId' | 'summary'>): string {
  const words = labelled(summary?.replace(`${companyId}: `, '') ?? chainId);
  const quoted = (names: string) => `“${names.replaceAll(', ', '”, “')}”`.replace(/([“”])\1/g, '$1');
  return words.replace(/^(\d+) action(s?): (.*)$/, (_, n, s, names) => `${n} step${s}: ${quoted(names)}`);
}

/** For example `1001`, or the summary of a chain without an assignment. */
export function namesOf(chain: Pick<ListedChain, 'companyId' | 'chainId' | 'summary' | 'assignmentIds'>): string {
  const assignmentIds = chain.assignmentIds.filter(Boolean);
  const more = assignmentIds.length > 3 ? ` and ${assignmentIds.length - 3} more` : '';
  return assignmentIds.slice(0, 3).join(', ') + more || `Chain without an assignment (${aboutChain(chain)})`;
}

/** Hints for dispatchers. The API's descriptions are for programmers. */
export const fieldHints: Record<string, string> = {
  platformAssignmentId: 'The number of the assignment that this step is about.',
  incomingValue: '“Only if” can compare this value.',
  comment: 'Lists and notices show this note.',
  sendToGroups: 'Names or numbers, separated by commas. If this field is empty, the platform chooses the technicians.',
  sendRadius: 'How far technicians may be from the assignment, for example 25.',
  emails: 'The e-mail addresses of the recipients.',
  ...{ subject: '', body: '', bodyHtml: '', cfValue: '' },
  externalSystemTicketId: 'The number of the ticket in the ticket system.',
  cfName: 'The name of the field, as the ticket system shows it.',
  cfTargetDateFormat:
    'If the new value is a date or time, enter the format that the ticket system needs, such as yyyy-MM-dd HH:mm.',
};

/** The console shows this question in place of the API's hint. */
export const reminderWords = 'If no technician is found, nobody is told. Add a reminder e-mail?';

export const onFailureWords = { hold: 'hold the next steps until somebody decides', continue: 'run the next steps' };
export const onUnknownWords = {
  resend: 'run the step again',
  hold: 'wait until somebody decides',
};
