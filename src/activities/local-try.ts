/** Refuses a local try if an earlier attempt at the workflow task was lost, because the effect may have crashed the worker. */

import { activityInfo } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { ActionRef } from '../contract/activities.js';
import { useOrdinary } from './failure.js';

/** After 10 seconds, Temporal gives a workflow task to another worker. So an attempt within 8 seconds is the first attempt. */
const surelyFirstMs = 8_000;
const answerMs = 500;

/** If this may not be the first attempt, asks Temporal for the number of the attempt. @throws ApplicationFailure `UseOrdinary` */
export async function assertFirstAttempt(
  { client }: { client: Client },
  { dueAt = '', isFirstAttempt }: Pick<ActionRef, 'dueAt' | 'isFirstAttempt'>,
): Promise<void> {
  const { isLocal, workflowExecution: execution } = activityInfo();
  if (!isLocal || isFirstAttempt || Date.now() - Date.parse(dueAt) < surelyFirstMs) return;
  const { namespace } = client.options;
  const asked = () => client.workflowService.describeWorkflowExecution({ namespace, execution });
  const described = await client.withDeadline(Date.now() + answerMs, asked).catch(() => undefined);
  if (described?.pendingWorkflowTask?.attempt !== 1)
    throw useOrdinary('an attempt at the workflow task may have been lost', true);
}
