/** Turns what a connector throws into the `ApplicationFailure` that workflows and the Web UI read. */

import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import type { Connector } from '../chain/pause.js';
import { waitsTooLong } from '../chain/retry.js';
import { ConnectorError } from '../connectors/call.js';
import type { ActionRef } from '../contract/activities.js';

/** `details[0]` of every failure. */
export interface TroubleDetails {
  retryable: boolean;
  unknown?: boolean;
  retryAfterSeconds?: number;
  status?: number;
  paused?: Connector;
  /** The attempt that failed, from 1. */
  attempt: number;
}

/**
 * The failure of an effect.
 * @param type - `PlatformError`, `TicketingError`, `MailError`.
 * @param options.once - whether the rule says that what nobody can be sure of is not repeated: then Temporal repeats nothing, and the workflow decides.
 * @throws the error itself where no connector threw it on purpose.
 */
export function effectFailure(
  type: string,
  error: unknown,
  { retryBudgetSeconds }: ActionRef,
  { once = false } = {},
): ApplicationFailure {
  if (!(error instanceof ConnectorError)) throw error;
  const { kind, message, facts } = error;
  const attempt = activityInfo().attempt;
  const unknown = kind === 'unknown' || (once && facts.unanswered === true);
  const retryable = kind !== 'permanent' && !(unknown && once);
  const { unanswered: _, ...told } = facts;
  const details: TroubleDetails = { retryable, ...(unknown && { unknown }), ...told, attempt };
  // After so many attempts that were told to wait so long, the budget is about used up.
  const waited = attempt * (facts.retryAfterSeconds ?? 0);
  return ApplicationFailure.create({
    type: unknown ? 'OutcomeUnknown' : type,
    message: unknown && kind !== 'unknown' ? `${message}; whether it was done is not known` : message,
    nonRetryable: !retryable || once || waitsTooLong(waited, retryBudgetSeconds),
    details: [details],
    ...(facts.retryAfterSeconds !== undefined && { nextRetryDelay: facts.retryAfterSeconds * 1000 }),
  });
}

/** A mistake in the settings or the data: trying again without mending it is of no use. */
export function mistake(type: 'DataMistake' | 'ConfigurationMistake', message: string): ApplicationFailure {
  const details: TroubleDetails = { retryable: false, attempt: activityInfo().attempt };
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}

/** Nothing was tried, and nothing is until the pause is over; the workflow waits for that, and this attempt does not count. */
export function paused(connector: Connector, message: string): ApplicationFailure {
  const details: TroubleDetails = { retryable: false, paused: connector, attempt: activityInfo().attempt - 1 };
  return ApplicationFailure.create({ type: 'Paused', message, nonRetryable: true, details: [details] });
}

/** Nobody knows how an earlier attempt ended, and the rule says `onUnknown: "hold"`. */
export function lostAttempt(): ApplicationFailure {
  const details: TroubleDetails = { retryable: false, unknown: true, attempt: activityInfo().attempt - 1 };
  const message = 'whether it was done is not known: a worker was lost while it was being done; look before you retry';
  return ApplicationFailure.create({ type: 'OutcomeUnknown', message, nonRetryable: true, details: [details] });
}

/** Says, from a local try under a rule with `onUnknown: "hold"`, that the effect has to be an ordinary activity. */
export function useOrdinary(): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    'the rule says onUnknown: "hold", so the effect is not tried as a local activity',
    'UseOrdinary',
  );
}
