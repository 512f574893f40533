/** The `ApplicationFailure`s of the activities, as workflows and the Web UI read them. */

import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import type { Connector } from '../chain/pause.js';
import { waitsTooLong } from '../chain/retry.js';
import { ConnectorError } from '../connectors/call.js';
import type { ActionRef, FailureDetails } from '../contract/activities.js';

const failureTypes: Record<Connector, string> = { platform: 'PlatformError', ticketing: 'TicketingError', mail: 'MailError' };

/**
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

/**
 * This attempt tried nothing and does not count. `Paused`: the workflow waits until the pause is over. `NotTried`: it tries again
 * in a while. `OutcomeUnknown`: nobody knows how an earlier attempt ended.
 */
export function notTried(
  type: 'Paused' | 'NotTried' | 'OutcomeUnknown' | 'UseOrdinary',
  message: string,
  facts: Partial<FailureDetails> = {},
): ApplicationFailure {
  return finalFailure(type, message, { ...facts, attempt: activityInfo().attempt - 1 });
}

/** The workflow schedules an ordinary activity instead of this local one: through the budget, or once if not `retryable`. */
export function useOrdinary(why: string, retryable: boolean): ApplicationFailure {
  return notTried('UseOrdinary', `not tried as a local activity: ${why}`, { retryable });
}

function finalFailure(type: string, message: string, facts: Partial<FailureDetails>): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { retryable: false, ...facts });
}
