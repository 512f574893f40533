/** A chain without the relay. The actions run in order, as activities. A delayed action is a child workflow that sleeps first. */

import { ParentClosePolicy, proxyActivities, sleep, startChild } from '@temporalio/workflow';
import type * as activities from './activities.js';

const { sendAssignment, sendEmail } = proxyActivities<typeof activities>({ startToCloseTimeout: '10 seconds' });

export type Action = { delayInSeconds?: string } & (
  | { action: 'platform_sendAssignment'; platformAssignmentId: string; groupId: string }
  | { action: 'sendEmails'; emails: string[]; subject: string; body: string; bodyHtml: string }
);

export async function chain(actions: Action[]): Promise<void> {
  for (const action of actions) {
    if (Number(action.delayInSeconds ?? 0) > 0)
      await startChild(delayedAction, { args: [action], parentClosePolicy: ParentClosePolicy.ABANDON });
    else await run(action);
  }
}

export async function delayedAction(action: Action): Promise<void> {
  await sleep(Number(action.delayInSeconds) * 1000);
  await run(action);
}

function run(action: Action): Promise<void> {
  return action.action === 'sendEmails' ? sendEmail(action) : sendAssignment(action.platformAssignmentId, action.groupId);
}
