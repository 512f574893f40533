/** Keeps data of an attempt for the next attempt with the same idempotency key. Temporal stores this data. */

import { activityInfo } from '@temporalio/activity';
import { ActivityCancelledError, ActivityPausedError, ActivityResetError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ActionRef, FailureDetails } from '../contract/activities.js';
import { notTried } from './failure.js';

const answerTimeoutMs = 3_000;

/** Returns the data of the previous attempt, which may belong to an earlier activity. */
export function keptBefore({ kept }: Pick<ActionRef, 'kept'>): unknown {
  return activityInfo().heartbeatDetails ?? kept;
}

/**
 * Resolves when Temporal has the data. The SDK's `heartbeat` returns earlier, and delays a second heartbeat by up to 30 seconds.
 * If Temporal has given up this attempt, Temporal refuses the data. Then the attempt fails, and does not start its effect.
 * @param before - the earlier data, which stays if Temporal refuses the new data. @throws ApplicationFailure `NotTried`
 */
export async function recordKept({ client }: { client: Client }, data: unknown, before: unknown): Promise<void> {
  const { taskToken } = activityInfo();
  try {
    await client.withDeadline(Date.now() + answerTimeoutMs, () => client.activity.heartbeat(taskToken, data));
  } catch (error) {
    // Temporal has the data. The error only says that the activity is cancelled, paused or reset.
    if ([ActivityCancelledError, ActivityPausedError, ActivityResetError].some((said) => error instanceof said)) return;
    throw notTried('NotTried', 'Temporal does not store the attempt (for the operator: `relay health`)', { kept: before });
  }
}

/** If a failure has no data, adds the data of the previous attempt. The next activity gets this data from the failure. */
export async function withKept<Result>(input: Pick<ActionRef, 'kept'>, attempt: Promise<Result>): Promise<Result> {
  try {
    return await attempt;
  } catch (error) {
    const [details] = error instanceof ApplicationFailure ? ((error.details ?? []) as [FailureDetails?]) : [];
    const kept = keptBefore(input);
    if (details && kept !== undefined) details.kept ??= kept;
    throw error;
  }
}
