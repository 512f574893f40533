/** What the pages call things. */

import type { Forecast } from '../chain/forecast.js';
import type { ActionState, BulkVerb, ChainStatus } from '../chain/outcome.js';
import type { Pausable } from '../chain/pause.js';
import type { ActionResource, ListedChain } from '../contract/chain-resource.js';
import type { RejectionReason } from '../contract/problem.js';
import type { OfferedVerb } from './verbs.js';

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

export function toneOf(state: ActionState | ChainStatus): Tone {
  return tones[state];
}

/** `needs attention`. */
export function stateWords(state: ActionState | ChainStatus): string {
  return state.replaceAll('-', ' ');
}

const forecastTones: Record<ForecastOutcome, Tone> = {
  runs: 'good',
  skipped: 'quiet',
  'needs-attention': 'wait',
  failed: 'bad',
  held: 'wait',
  unknown: 'quiet',
};

export function forecastTone(outcome: ForecastOutcome): Tone {
  return forecastTones[outcome];
}

const failures: Record<string, string> = {
  PlatformError: 'The assignment platform refused or did not answer',
  TicketingError: 'The ticket system refused or did not answer',
  MailError: 'The mail server refused or did not answer',
  OutcomeUnknown: 'Nobody knows whether it was done',
  DataMistake: "Something is wrong with the event's data",
  ConfigurationMistake: 'Something is wrong with the settings',
};

/** What a type of failure means, such as `PlatformError`. */
export function failureWords(type: string): string {
  return failures[type] ?? type;
}

const refusals: Record<RejectionReason, string> = {
  'invalid-chain': 'A mistake in the chain',
  'idempotency-key': 'An unusable idempotency key',
  'idempotency-key-reused': 'An idempotency key used before, with another body',
  'token-expired': 'A token that was rotated',
  'token-revoked': 'A token that was revoked',
  'rule-disabled': 'The rule is disabled',
  signature: 'Not signed, or not rightly',
  'rate-limited': 'Too many requests in a minute',
  'actions-per-day': 'The actions of the day are used up',
  'recipients-per-day': 'The recipients of the day are used up',
  'open-chains': 'Too many chains are open',
};

export function refusalWords(reason: RejectionReason): string {
  return refusals[reason];
}

export const verbWords: Record<OfferedVerb, string> = {
  retry: 'Retry',
  mend: 'Mend',
  skip: 'Skip',
  runNow: 'Run now',
  reschedule: 'Move',
  cancel: 'Cancel',
};

/** What a verb does, before it is confirmed. */
export const verbMeanings: Record<BulkVerb, string> = {
  retry: 'Each held action is tried again, its condition evaluated anew.',
  mend: 'The same field of each held action is corrected, and the action tried again.',
  skip: 'Each held action is skipped, and what stands behind it goes on.',
  cancel: 'What has not run will not run. An effect under way is awaited first.',
  runNow: 'Each scheduled action runs now.',
};

export const pausableWords: Record<Pausable, string> = {
  all: 'everything',
  platform: 'the platform',
  ticketing: 'the ticket system',
  mail: 'mail',
};

/** What a chain is about: `3 actions, assignment 1003: Tell the owner first, …`, without its company, whose page it is on. */
export function aboutChain({ companyId, chainId, summary }: Pick<ListedChain, 'companyId' | 'chainId' | 'summary'>): string {
  return summary?.replace(`${companyId}: `, '') ?? chainId;
}

export const failureTypes = Object.keys(failures);

/** `2 sendEmails: tell the manager`. */
export function titleOf({ index, action, comment }: Pick<ActionResource, 'index' | 'action' | 'comment'>): string {
  return `${index} ${action}${comment ? `: ${comment}` : ''}`;
}

/** `1 chain`, `3 chains`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Of actions, for those who compose a chain. */
export const actionWords: Record<string, string> = {
  platform_sendAssignment: 'send the assignment',
  sendEmails: 'send an e-mail',
  ticket_updateUDF: 'update a field of a ticket',
};

/** Of the fields of a request, for those who compose one. */
export const fieldWords: Record<string, string> = {
  platformAssignmentId: 'Assignment',
  delayInSeconds: 'Wait',
  actionCondition: 'Only if',
  incomingValue: 'Value passed in',
  comment: 'Note',
  groupId: 'Group',
  sendToGroups: 'Groups',
  sendRadius: 'Radius',
  emails: 'To',
  subject: 'Subject',
  body: 'Text',
  bodyHtml: 'Text as HTML',
  externalSystemTicketId: 'Ticket',
  cfName: 'Field of the ticket',
  cfValue: 'New value',
  cfTargetDateFormat: 'Timestamp format',
};
