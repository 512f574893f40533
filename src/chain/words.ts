/** Words for people: actions, their fields, and why they failed. */

import type { ActionError, ActionStatus } from './action-status.js';
import { retryHelps } from './outcome.js';
import { capital, cutShort, oneLine } from './text.js';

const failures: Record<string, string> = {
  PlatformError: 'The assignment platform refused the request or did not answer',
  TicketingError: 'The ticket system refused the request or did not answer',
  MailError: 'The mail server refused the message or did not answer',
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
  title?: string | undefined; // from the connector
  assignmentId?: string | undefined;
}

const isMissingAssignment = ({ type, message }: Failure) => type === 'PlatformError' && /\banswered 404\b/.test(message);

/** For example `Assignment 2001 does not exist`. */
export function failureTitle(failure: Failure): string {
  const { type, title, assignmentId } = failure;
  if (title) return title;
  if (!isMissingAssignment(failure)) return failureWords(type);
  return assignmentId ? `Assignment ${assignmentId} does not exist` : 'The assignment does not exist';
}

/** Whether a retry without changes fails again. */
export function isFutile({ retryable, unknown }: { retryable: boolean; unknown?: boolean | undefined }): boolean {
  return !retryable && !unknown;
}

/** The button that helps most. Undefined if a person must first do something outside the relay. */
export function bestVerb(error: ActionError | undefined): 'retry' | 'mend' | undefined {
  if (!error || error.retryable) return 'retry';
  const { remedy, unknown } = error;
  if (!remedy) return unknown ? undefined : 'mend';
  // Remedies such as `Change the number, then retry` are about the fields of the action.
  if (remedy.startsWith('Change ')) return 'mend';
  return /\bretry\b/i.test(remedy) ? 'retry' : undefined;
}

/** Says what a person must fix first, if a retry alone cannot succeed. */
export function remedyWords(failure: Failure): string {
  return `Fix the ${isMissingAssignment(failure) ? 'assignment number' : 'cause'} first. A retry without this fix fails again.`;
}

export const failureTypes = Object.keys(failures);

export const actionWords: Record<string, string> = {
  platform_sendAssignment: 'send the assignment',
  sendEmails: 'send an e-mail',
  ticket_updateUDF: 'update a ticket field',
};

export const fieldWords: Record<string, string> = {
  platformAssignmentId: 'Assignment number',
  delayInSeconds: 'Wait',
  actionCondition: 'Only if',
  incomingValue: 'Incoming value',
  comment: 'Note',
  groupId: 'Group',
  sendToGroups: 'Groups to send to',
  sendRadius: 'Within (miles)',
  emails: 'To',
  subject: 'Subject',
  body: 'Text',
  bodyHtml: 'Text as HTML',
  externalSystemTicketId: 'Ticket',
  cfName: 'Ticket field',
  cfValue: 'New value',
  cfTargetDateFormat: 'Timestamp format',
};

const effects: Record<string, [what: string, done: string]> = {
  platform_sendAssignment: ['The assignment', 'sent'],
  sendEmails: ['An e-mail', 'sent'],
  ticket_updateUDF: ['A ticket field', 'updated'],
};

type Titled = Pick<ActionStatus, 'action' | 'comment'>;

/** For example `Send an e-mail: tell the manager`. */
export function stepTitle({ action, comment = '' }: Titled): string {
  return [capital(actionWords[action] ?? action), cutShort(oneLine(comment))].filter(Boolean).join(': ');
}

/** For example `Assignment 1001 was not sent`. @param how - the words around `not`, such as `after all` */
export function effectTitle(
  { action, assignmentId }: Titled & Pick<ActionStatus, 'assignmentId'>,
  how: (done: string) => string,
) {
  const [what, done] = effects[action] ?? [capital(action), 'done'];
  const named = action === 'platform_sendAssignment' && assignmentId ? `Assignment ${cutShort(oneLine(assignmentId), 60)}` : what;
  return `${named} was ${how(done)}`;
}

const callTypes = ['PlatformError', 'TicketingError', 'MailError', 'OutcomeUnknown'];

/** What was wrong, as a sentence. `details` has the message for technicians, if the sentence does not contain it. */
export function explained({ error, reason, assignmentId }: Pick<ActionStatus, 'error' | 'reason' | 'assignmentId'>) {
  if (!error) return { wrong: sentence(reason ?? 'The relay knows no reason'), details: [] };
  const { type, message, title } = error;
  const isCall = title !== undefined || callTypes.includes(type);
  const known = type in failures ? `${failureWords(type)}: ${message}` : capital(message);
  return {
    wrong: sentence(isCall ? failureTitle({ ...error, assignmentId }) : known),
    details: isCall ? [`${message} (${type})`] : [],
  };
}

/** What a person must do before a retry. Undefined if a retry alone can help. */
export function toDoFirst(error: ActionError | undefined): string | undefined {
  if (error?.remedy) return sentence(error.remedy);
  if (error?.unknown) return 'Check the other system first: a retry may do it a second time.';
  return error && isFutile(error) ? remedyWords(error) : undefined;
}

/** Whether people must fix something before a retry can help. Then *Fix* comes before *Retry*. */
export function isFixFirst({ error }: Pick<ActionStatus, 'error'>): boolean {
  return bestVerb(error) === 'mend' || !retryHelps({ ...(error && { error }) });
}

/** Adds a full stop if the text does not end with a mark. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
