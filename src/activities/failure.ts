import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import { waitsTooLong } from '../chain/backoff.js';
import type { Connector } from '../chain/pause.js';
import { cutShort } from '../chain/text.js';
import { ConnectorError } from '../connectors/call.js';
import type { ActionRef, FailureDetails } from '../contract/activities.js';

const failureTypes: Record<Connector, string> = { platform: 'PlatformError', ticketing: 'TicketingError', mail: 'MailError' };

/** @param options.once - true for `onUnknown: "hold"`. Temporal then does not retry, and a lost answer becomes `OutcomeUnknown`. */
export function effectFailure(
  connector: Connector,
  error: unknown,
  { retryBudgetSeconds }: Pick<ActionRef, 'retryBudgetSeconds'>,
  { once = false, kept }: { once?: boolean; kept?: unknown } = {},
): ApplicationFailure {
  if (!(error instanceof ConnectorError)) throw error;
  const { kind, message, facts } = error;
  const { status, retryAfterSeconds, unanswered, title, remedy } = facts;
  if (facts.notTried) return notTried('NotTried', message);
  const { attempt } = activityInfo();
  const unknown = kind === 'unknown' || (once && unanswered === true);
  const retryable = kind !== 'permanent' && !(unknown && once) && !facts.settled;
  // If the answer was lost, the connector's words say only that the system did not answer. `perhapsDone` replaces these words.
  const words = unknown && kind !== 'unknown' ? perhapsDone : { title, remedy };
  const details: FailureDetails = {
    ...(words.title && { title: cutShort(words.title, 200) }),
    ...(words.remedy && { remedy: cutShort(words.remedy, 300) }),
    retryable,
    unknown: unknown || undefined,
    status,
    retryAfterSeconds,
    attempt,
    kept,
  };
  // This is an estimate. It assumes that every wait had the same length.
  const waitedSeconds = attempt * (retryAfterSeconds ?? 0);
  return ApplicationFailure.create({
    type: unknown ? 'OutcomeUnknown' : failureTypes[connector],
    message: unknown && kind !== 'unknown' ? `${message}; nobody knows whether the step was done` : message,
    nonRetryable: !retryable || once || waitsTooLong(waitedSeconds, retryBudgetSeconds),
    details: [details],
    nextRetryDelay: retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000,
  });
}

const perhapsDone = {
  title: 'The result of this step is unknown',
  remedy: 'Check in the other system whether the step was done. If yes, skip the step. If no, retry',
};

/** The data or the settings have a mistake. A person must correct the mistake before another attempt can help. */
export function mistake(
  type: 'DataMistake' | 'ConfigurationMistake',
  message: string,
  words: Pick<FailureDetails, 'title' | 'remedy'> = {},
): ApplicationFailure {
  return finalFailure(type, message, { ...words, attempt: activityInfo().attempt });
}

/** The failure of an attempt that tried nothing. Such an attempt does not count. docs/operating.md explains each type. */
export function notTried(
  type: 'Paused' | 'NotTried' | 'OutcomeUnknown' | 'UseOrdinary',
  message: string,
  facts: Partial<FailureDetails> = {},
): ApplicationFailure {
  return finalFailure(type, message, { ...facts, attempt: activityInfo().attempt - 1 });
}

/** Asks for an ordinary activity instead of this local activity. `retryable` says whether Temporal may retry that activity. */
export function useOrdinary(why: string, retryable: boolean): ApplicationFailure {
  return notTried('UseOrdinary', `not tried as a local activity: ${why}`, { retryable });
}

function finalFailure(type: string, message: string, facts: Partial<FailureDetails>): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { retryable: false, ...facts });
}
