/** Turns what a connector throws into the `ApplicationFailure` that workflows and the Web UI read. */

import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import { waitsTooLong } from '../chain/retry.js';
import { ConnectorError } from '../connectors/call.js';
import type { ActionRef } from './activities.js';

/** `details[0]` of every failure. */
export interface TroubleDetails {
  retryable: boolean;
  unknown?: boolean;
  retryAfterSeconds?: number;
  status?: number;
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
  const retryable = kind === 'retryable' || (kind === 'unknown' && !once);
  const details: TroubleDetails = { retryable, ...(kind === 'unknown' && { unknown: true }), ...facts, attempt };
  return ApplicationFailure.create({
    type: kind === 'unknown' ? 'OutcomeUnknown' : type,
    message,
    nonRetryable: !retryable || once || waitsTooLong(facts.retryAfterSeconds ?? 0, retryBudgetSeconds),
    details: [details],
    ...(facts.retryAfterSeconds !== undefined && { nextRetryDelay: facts.retryAfterSeconds * 1000 }),
  });
}

/** A mistake in the settings or the data: trying again without mending it is of no use. */
export function mistake(type: 'DataMistake' | 'ConfigurationMistake', message: string): ApplicationFailure {
  const details: TroubleDetails = { retryable: false, attempt: activityInfo().attempt };
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}

/** Says, from a local try under a rule with `onUnknown: "hold"`, that the effect has to be an ordinary activity. */
export function useOrdinary(): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    'the rule says onUnknown: "hold", so the effect is not tried as a local activity',
    'UseOrdinary',
  );
}
