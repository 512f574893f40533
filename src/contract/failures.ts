/** Reads the SDK's failures of activities and child workflows. Creates the failure of a workflow whose actions failed. */

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { ActionError, ActionStatus } from '../chain/action-status.js';
import type { Chain } from '../chain/chain.js';
import { failureMessage } from '../chain/web-ui.js';
import type { EffectOutcome, EffectResult, FailureDetails } from './activities.js';

/** The time limit of one local activity, and of several local activities in a row. Part of the replay contract. */
export const longestLocalMs = 2000;

export interface FailedAttempt {
  attempts: number;
  failure: ActionError;
  /** The duration that the activity reports. If the activity reports none, this is the time limit of a local activity. */
  tookMs: number;
  kept?: unknown;
}

/** Failures of ordinary activities, and time-outs, are inside an `ActivityFailure`. @throws the error if it is a cancellation. */
export function readFailure(error: unknown): FailedAttempt {
  if (isCancellation(error)) throw error;
  const once = { attempts: 1, tookMs: longestLocalMs };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    const message = "the relay's worker process did not report the result in time; the operator must check this process";
    return { ...once, failure: { type: 'Timeout', message, retryable: true, unknown: true }, kept: cause.lastHeartbeatDetails };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  const failed = cause instanceof ApplicationFailure ? cause : undefined;
  const details = failed?.details?.[0] as Partial<FailureDetails> | undefined;
  if (!failed || (!details && !failed.nonRetryable)) {
    const words = `the relay itself failed: ${message}; the operator finds more in the log of the worker process`;
    return { ...once, failure: { type: 'InternalError', message: words, retryable: true } };
  }
  const { attempt = 1, tookMs = longestLocalMs, kept, retryable = false, ...told } = details ?? {};
  const { title, remedy, unknown, retryAfterSeconds, paused } = told;
  const failure = { type: failed.type ?? 'InternalError', message, title, remedy, retryable, unknown, retryAfterSeconds, paused };
  return { attempts: attempt, tookMs, failure, kept };
}

/** @throws ApplicationFailure - the same failure as if the effect had run in an activity of its own. */
export async function resultOf(outcome: EffectOutcome): Promise<EffectResult> {
  if (!('failure' in outcome)) return outcome;
  const { type, message, details } = outcome.failure;
  throw ApplicationFailure.nonRetryable(message, type, details);
}

export function actionsFailed(type: string, chain: Chain, actions: ActionStatus[], details: unknown): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(failureMessage(chain, actions), type, details);
  failure.stack = ''; // With a stack, the Web UI would not show the details.
  return failure;
}

/** If the workflow did not return the statuses of all its actions, `how` says how the workflow closed. */
export type ChildEnd = { actions: ActionStatus[]; how?: string };

export const runsAlready = 'runs already';

/** Reads the end of a `DelayedAction` that did not complete. The failure or earlier signals contain the statuses of its actions. */
export function readEnd(error: unknown): ChildEnd {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return { actions: [], how: runsAlready };
  const cause = error instanceof ChildWorkflowFailure || error instanceof ActivityFailure ? error.cause : error;
  const failure = cause instanceof ApplicationFailure ? cause : undefined;
  if (failure?.type === 'ActionsFailed') return { actions: (failure.details ?? []).flat() as ActionStatus[] };
  const cancelled = isCancellation(error) || failure?.type === 'DelayedActionCancelled';
  const why = cause instanceof Error ? cause.message : String(cause);
  return { actions: [], how: cancelled ? 'cancelled' : `ended early, and nobody knows whether the step was done: ${why}` };
}
