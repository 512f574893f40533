/** Describes failures in words: what happened, what to do, and the details for technicians. */

import { capital } from './text.js';

export interface Failure {
  type: string;
  message: string;
  title?: string | undefined; // from the connector
  remedy?: string | undefined; // from the connector
  retryable?: boolean | undefined;
  unknown?: boolean | undefined;
  assignmentId?: string | undefined;
}

const failures: Record<string, string> = {
  PlatformError: 'The assignment platform gave an error or no answer',
  TicketingError: 'The ticket system gave an error or no answer',
  MailError: 'The mail server gave an error or no answer',
  OutcomeUnknown: 'The result of this step is unknown',
  DataMistake: 'The data of the step has a mistake',
  ConfigurationMistake: 'The settings of the company have a mistake',
};

export const failureTypes = Object.keys(failures);

/** @param type - the failure type, such as `PlatformError`. */
export const failureWords = (type: string) => failures[type] ?? type;

/** Only technicians understand the messages of these failures, because a message has the request and its status. */
const callTypes = ['PlatformError', 'TicketingError', 'MailError', 'OutcomeUnknown'];
const isMissingAssignment = ({ type, message }: Failure) => type === 'PlatformError' && /\banswered 404\b/.test(message);

/** For example `Assignment 2001 does not exist`. The title never contains the request or its status. */
export function failureTitle(failure: Failure): string {
  const { type, title, message, assignmentId } = failure;
  if (title) return title;
  if (isMissingAssignment(failure)) return `${assignmentId ? `Assignment ${assignmentId}` : 'The assignment'} does not exist`;
  if (callTypes.includes(type)) return failureWords(type);
  return failures[type] ? `${failures[type]}: ${message}` : capital(message);
}

/** `assignments`: their number, or `Infinity` if it is more than one, but unknown. */
type Shared = { assignments?: number | undefined; assignmentId?: string | undefined };

/** Words such as `assignment 2001 does`. An id has a digit. */
const numbered = /\b(assignment|ticket|issue) (?=\S*\d)[^\s,;:"”)]+( does| was| is| has)?/gi;
const plurals: Record<string, string> = { '': '', ' does': ' do', ' was': ' were', ' is': ' are', ' has': ' have' };

/** Replaces the ids in a text about one failure. For example `3 assignments`, or `the assignment` if the number is unknown. */
const sharedWords = (text: string, { assignments = 0, assignmentId }: Shared): string =>
  text
    .replace(numbered, (found: string, thing: string, verb = '') => {
      const isAssignment = thing.toLowerCase() === 'assignment';
      const one = isAssignment && assignmentId ? `assignment ${assignmentId}` : `the ${thing.toLowerCase()}`;
      const words =
        isAssignment && assignments > 1
          ? `${assignments === Infinity ? '' : `${assignments} `}assignments${plurals[verb]}`
          : one + verb;
      return /^[A-Z]/.test(found) ? capital(words) : words;
    })
    .replace(/\bno the (?=\w)/g, 'no ')
    .replace(/(\/assignments\/)[^/\s]+/g, `$1${assignmentId ?? '…'}`);

/** Describes all failures with one cause. For example with the title `3 assignments do not exist at the assignment platform`. */
export function causeFailure(cause: Omit<Failure, 'type'> & Shared & { reason: string }) {
  const failure = { ...cause, type: cause.reason };
  const [title, remedy] = [failureTitle({ ...failure, assignmentId: '0' }), failureRemedy(failure) ?? ''];
  const words = { title: sharedWords(title, cause), message: sharedWords(cause.message, cause) };
  return { ...failure, ...words, remedy: sharedWords(remedy, cause) || undefined };
}

/** The request, its status and the answer. Undefined if the title already has the message. */
export const failureDetails = (failure: Failure): string | undefined =>
  failureTitle(failure).toLowerCase().endsWith(failure.message.toLowerCase()) ? undefined : failure.message;

/** For example `Change the assignment number, then retry`. Undefined if a person can only wait. */
export function failureRemedy(failure: Failure): string | undefined {
  const { type, title, message, remedy, retryable, unknown, assignmentId } = failure;
  const [thing] = /^(assignment|ticket)\b/i.exec(title ?? '') ?? [];
  if (thing && remedy) return remedy.replace(/^Change the number/, `Change the ${thing.toLowerCase()} number`);
  const [, says] = /\banswered "?\d{3}"?: (.+)$/s.exec(message) ?? [];
  if (remedy)
    return says
      ? remedy.replace(/^Fix the cause \(see the details\)(.*)/, (_, rest) => `The reason: “${says}”. Fix this problem${rest}`)
      : remedy;
  if (unknown) return 'Check whether the step was done. If yes, skip the step. If no, retry';
  if (retryable !== false) return undefined;
  if (isMissingAssignment(failure)) return `Change the assignment number${assignmentId ? '' : ' of the step'}, then retry`;
  if (type === 'DataMistake') return 'Correct the fields of the step, then retry';
  return type === 'ConfigurationMistake' ? 'Correct the settings, then retry' : 'Fix the cause, then retry';
}

/** The step that helps first, and the text of its button. `settings` is the page with the company's connections. */
export type Help = { by: 'retry' | 'mend' | 'settings'; words?: string };

/** @returns undefined if a person must first do something outside the relay, for which there is no button. */
export function helpFor(failure: Failure | undefined): Help | undefined {
  if (!failure || failure.retryable) return { by: 'retry' };
  const remedy = failureRemedy(failure) ?? '';
  if (/\bsettings\b/.test(remedy)) return { by: 'settings', words: 'Open the settings' };
  if (/^(Change|Correct|Use) /.test(remedy)) {
    const [short = ''] = remedy.split(/, |: | \(/);
    return /^Use/.test(short) || short.length > 40 ? { by: 'mend' } : { by: 'mend', words: short };
  }
  if (/\bFix th(e cause|is problem)/.test(remedy)) return { by: 'mend' };
  return !failure.unknown && /\bretry\b/i.test(remedy) ? { by: 'retry' } : undefined;
}
