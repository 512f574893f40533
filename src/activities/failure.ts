/** The `ApplicationFailure`s of the activities, as workflows and the Web UI read them. */

import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import type { Connector } from '../chain/pause.js';
import { waitsTooLong } from '../chain/retry.js';
import { ConnectorError } from '../connectors/call.js';
import type { ActionRef, FailureDetails } from '../contract/activities.js';

/** The failure type for each of a company's systems. */
const failureTypes: Record<Connector, string> = { platform: 'PlatformError', ticketing: 'TicketingError', mail: 'MailError' };

/**
 * The failure of a call.
 * @param options.once - for `onUnknown: "hold"`: Temporal repeats nothing, and a call without an answer is `OutcomeUnknown`.
 * @throws the error itself where it is not a ConnectorError.
 */
export function effectFailure(
  connector: Connector,
  error: unknown,
  { retryBudgetSeconds }: Pick<ActionRef, 'retryBudgetSeconds'>,
  { once = false } = {},
): ApplicationFailure {
  if (!(error instanceof ConnectorError)) throw error;
  const { kind, message, facts } = error;
  const { status, retryAfterSeconds, unanswered } = facts;
  const { attempt } = activityInfo();
  const unknown = kind === 'unknown' || (once && unanswered === true);
  const retryable = kind !== 'permanent' && !(unknown && once);
  const details: FailureDetails = { retryable, unknown: unknown || undefined, status, retryAfterSeconds, attempt };
  // Every attempt so far may have waited as long as this `Retry-After` asks for.
  const waitedSeconds = attempt * (retryAfterSeconds ?? 0);
  return ApplicationFailure.create({
    type: unknown ? 'OutcomeUnknown' : failureTypes[connector],
    message: unknown && kind !== 'unknown' ? `${message}; whether it was done is not known` : message,
    nonRetryable: !retryable || once || waitsTooLong(waitedSeconds, retryBudgetSeconds),
    details: [details],
    nextRetryDelay: retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000,
  });
}

/** What is wrong in the data or the settings has to be mended before another attempt can help. */
export function mistake(type: 'DataMistake' | 'ConfigurationMistake', message: string): ApplicationFailure {
  return finalFailure(type, message, { attempt: activityInfo().attempt });
}

/** Nothing was tried: this attempt does not count, and the workflow waits until the pause is over. */
export function paused(connector: Connector, message: string): ApplicationFailure {
  return finalFailure('Paused', message, { paused: connector, attempt: activityInfo().attempt - 1 });
}

/** Nothing was tried, for a reason of the relay's own: this attempt does not count, and the workflow tries again in a while. */
export function notTried(why: string): ApplicationFailure {
  return finalFailure('NotTried', why, { attempt: activityInfo().attempt - 1 });
}

/** Nobody knows how an earlier attempt ended, and the rule says `onUnknown: "hold"`. */
export function lostAttempt(): ApplicationFailure {
  const message = 'whether it was done is not known: a worker was lost while it was being done; look before you retry';
  return finalFailure('OutcomeUnknown', message, { unknown: true, attempt: activityInfo().attempt - 1 });
}

/**
 * Tells the workflow, from a local try, to schedule an ordinary activity instead.
 * @param retryable - whether that may be attempted through the budget; otherwise once.
 */
export function useOrdinary(why: string, retryable: boolean): ApplicationFailure {
  const details: FailureDetails = { retryable, attempt: 0 };
  return ApplicationFailure.nonRetryable(`not tried as a local activity: ${why}`, 'UseOrdinary', details);
}

function finalFailure(type: string, message: string, facts: Omit<FailureDetails, 'retryable'>): ApplicationFailure {
  const details: FailureDetails = { retryable: false, ...facts };
  return ApplicationFailure.nonRetryable(message, type, details);
}
