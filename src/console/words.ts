/** The words and colours of states, failures, verbs and fields. */

import type { BulkVerb, SteeringVerb } from '../chain/allowed-verbs.js';
import type { Forecast } from '../chain/forecast.js';
import { type ActionState, type ChainStatus, outcomesText } from '../chain/outcome.js';
import type { Pausable } from '../chain/pause.js';
import { counted } from '../chain/text.js';
import type { Bulk, ListedChain } from '../contract/chain-resource.js';
import type { RejectionReason } from '../contract/problem.js';

export { titleOf } from '../chain/text.js';
export { counted };

type ForecastOutcome = Forecast['outcome'];

export type Tone = 'good' | 'wait' | 'bad' | 'quiet' | 'busy';

const tones: Record<ActionState | ChainStatus, Tone> = {
  pending: 'quiet',
  scheduled: 'busy',
  running: 'busy',
  retrying: 'wait',
  'needs-attention': 'wait',
  done: 'good',
  completed: 'good',
  skipped: 'quiet',
  failed: 'bad',
  'partly-failed': 'bad',
  'not-run': 'bad',
  cancelled: 'quiet',
  terminated: 'bad',
};

/** The number of recipients in the platform's answer. */
type Result = { recipients?: number | undefined };

/** A send that reached no worker is done, but there is nobody to accept the assignment. */
const reachedNobody = (state: ActionState | ChainStatus, { recipients }: Result) => state === 'done' && recipients === 0;

export function toneOf(state: ActionState | ChainStatus, result: Result = {}): Tone {
  return reachedNobody(state, result) ? 'wait' : tones[state];
}

/** `needs attention`. */
export function stateWords(state: ActionState | ChainStatus, result: Result = {}): string {
  return state.replaceAll('-', ' ') + (reachedNobody(state, result) ? ', reached nobody' : '');
}

export const forecastTone: Record<ForecastOutcome, Tone> = {
  runs: 'good',
  skipped: 'quiet',
  'needs-attention': 'wait',
  failed: 'bad',
  held: 'wait',
  unknown: 'quiet',
};

/** `needs attention`. An action behind a held one has the outcome `held`, and `waits`. */
export function forecastWords(outcome: ForecastOutcome): string {
  return outcome === 'held' ? 'waits' : outcome.replaceAll('-', ' ');
}

const failures: Record<string, string> = {
  PlatformError: 'The assignment platform refused or did not answer',
  TicketingError: 'The ticket system refused or did not answer',
  MailError: 'The mail server refused or did not answer',
  OutcomeUnknown: 'The outcome is unknown',
  DataMistake: "The event's data has a mistake",
  ConfigurationMistake: 'The settings have a mistake',
};

/** @param type - the failure type, such as `PlatformError`. */
export function failureWords(type: string): string {
  return failures[type] ?? type;
}

interface Failure {
  type: string;
  message: string;
  assignmentId?: string | undefined;
}

const isMissingAssignment = ({ type, message }: Failure) => type === 'PlatformError' && /\banswered 404\b/.test(message);

/** Finds the action of a cause, since a chain may hold actions for several. Messages of one cause differ in ids only. */
export function actionOfCause<Action extends { error?: { message: string } | undefined }>(
  { message }: { message: string },
  actions: readonly Action[],
): Action | undefined {
  const withoutIds = (text = '') => text.replace(/\d+/g, '');
  return actions.find(({ error }) => withoutIds(error?.message) === withoutIds(message)) ?? actions[0];
}

/** `Assignment 2001 does not exist`. */
export function failureTitle(failure: Failure): string {
  const { type, assignmentId } = failure;
  if (!isMissingAssignment(failure)) return failureWords(type);
  return assignmentId ? `Assignment ${assignmentId} does not exist` : 'The assignment does not exist';
}

/** Whether a retry without changes fails again. */
export function isFutile({ retryable, unknown }: { retryable: boolean; unknown?: boolean | undefined }): boolean {
  return !retryable && !unknown;
}

/** The first step, if a retry alone cannot succeed. */
export function remedyWords(failure: Failure): string {
  return `Fix the ${isMissingAssignment(failure) ? 'assignment number' : 'cause'} first; retrying alone fails again.`;
}

export const refusalWords: Record<RejectionReason, string> = {
  'invalid-chain': 'The chain has a mistake',
  'idempotency-key': 'The idempotency key is not valid',
  'idempotency-key-reused': 'The idempotency key was used with another body',
  'token-expired': 'The token has expired',
  'token-revoked': 'The token was revoked',
  'rule-disabled': 'The rule is disabled',
  signature: 'The signature is missing or wrong',
  'rate-limited': 'Too many requests in one minute',
  'actions-per-day': 'The daily limit of actions is reached',
  'recipients-per-day': 'The daily limit of recipients is reached',
  'open-chains': 'Too many chains are open',
  'malformed-body': 'The body cannot be read',
  'not-actions': 'The body is not a list of actions',
  'body-too-large': 'The body is too large',
  'unsupported-body': 'The encoding of the body is not supported',
  'wrong-token': 'One of the tokens is wrong',
};

export const verbWords: Record<SteeringVerb, string> = {
  retry: 'Retry',
  mend: 'Edit and retry',
  skip: 'Skip',
  runNow: 'Run now',
  reschedule: 'Reschedule',
  cancel: 'Cancel',
};

const verbsDone: Record<BulkVerb, string> = {
  retry: 'retried',
  mend: 'edited and retried',
  skip: 'skipped',
  cancel: 'cancelled',
  runNow: 'started',
};

/** `3 of 3 chains done. 3 actions retried: 1 failed again, 2 done.` */
export function progressWords({ count, verb, progress }: Pick<Bulk, 'count' | 'verb' | 'progress'>): string {
  if (!progress) return `${counted(count, 'chain')}.`;
  const { done, actions, unchanged, refused, failed, outcomes = {} } = progress;
  const outcome = outcomesText(outcomes);
  return [
    `${done} of ${counted(count, 'chain')} done.`,
    `${counted(actions, 'action')} ${verbsDone[verb]}${outcome && `: ${outcome}`}.`,
    unchanged > 0 && `${counted(unchanged, 'chain')} unchanged.`,
    refused > 0 && `${counted(refused, 'action')} refused.`,
    failed > 0 && `${counted(failed, 'chain')} did not answer.`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** The effect of a verb on many chains, shown before the confirmation. */
export const verbMeanings: Record<BulkVerb, string> = {
  retry: 'Every action that needs attention is retried. Its condition is checked again first.',
  mend: 'The same field is changed in every action that needs attention. Then the action is retried.',
  skip: 'Every action that needs attention is skipped. The next actions run.',
  cancel: 'Actions that have not run yet are cancelled. An action that is running finishes first.',
  runNow: 'Every scheduled action runs now.',
};

export const pausableWords: Record<Pausable, string> = {
  all: 'everything',
  platform: 'the platform',
  ticketing: 'the ticket system',
  mail: 'mail',
};

/** The summary without the company: `3 actions, assignment 1003: Tell the owner first, …`. */
export function aboutChain({ companyId, chainId, summary }: Pick<ListedChain, 'companyId' | 'chainId' | 'summary'>): string {
  return summary?.replace(`${companyId}: `, '') ?? chainId;
}

export const failureTypes = Object.keys(failures);

export const actionWords: Record<string, string> = {
  platform_sendAssignment: 'send the assignment',
  sendEmails: 'send an e-mail',
  ticket_updateUDF: 'update a ticket field',
};

export const fieldWords: Record<string, string> = {
  platformAssignmentId: 'Assignment',
  delayInSeconds: 'Wait',
  actionCondition: 'Run only if',
  incomingValue: 'Incoming value',
  comment: 'Note',
  groupId: 'Group',
  sendToGroups: 'Groups',
  sendRadius: 'Radius',
  emails: 'To',
  subject: 'Subject',
  body: 'Text',
  bodyHtml: 'Text as HTML',
  externalSystemTicketId: 'Ticket',
  cfName: 'Ticket field',
  cfValue: 'New value',
  cfTargetDateFormat: 'Timestamp format',
};

/** Replaces the API's descriptions, which are for programmers. */
export const fieldHints: Record<string, string> = {
  delayInSeconds: 'How many seconds to wait after the event.',
  actionCondition: 'Such as status==draft or status!=accepted. Empty: the action always runs.',
  incomingValue: 'A value of the event. Use it in a condition: incomingValue==yes.',
  comment: 'Shown in lists and notices.',
  groupId: 'One group to send to.',
  sendToGroups: 'Groups to send to, separated by commas.',
  sendRadius: 'Miles around the assignment.',
  emails: 'E-mail addresses.',
  cfTargetDateFormat: 'For a date or time: the format that the ticket needs, such as yyyy-MM-dd HH:mm.',
};

/** Replaces the API's hint with this proposal. */
export const reminderWords = 'If no worker is found, nobody gets a message. Add a reminder e-mail?';

/** The effect of an action in a test. */
export const effectWords: Record<string, string> = {
  groupIds: 'Groups',
  radiusMiles: 'Radius in miles',
  recipients: 'To',
  subject: 'Subject',
  body: 'Text',
  bodyHtml: 'Text as HTML',
  ticketId: 'Ticket',
  field: 'Ticket field',
  value: 'New value',
};
