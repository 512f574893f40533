/** A chain of each kind that an operator meets in the Web UI, brought to where it is worth looking at. */

import assert from 'node:assert/strict';
import type { Stack } from './stack.js';
import { type Action, email, eventually, send, Unmet, udf } from './stack.js';

export type ShownKind = 'running' | 'held' | 'failed' | 'completed' | 'delayed';

/** The workflows to look at, by kind; the running chain is still trying, the delayed one is a `DelayedAction`. Needs a retry budget of minutes. */
export async function startShownChains(stack: Stack) {
  const company = await stack.company();
  const made = await stack.store.rules.create(
    company.companyId,
    { name: 'Goes on', onFailure: 'continue', onUnknown: 'resend' },
    { kind: 'admin' },
  );
  assert(typeof made === 'object');
  const carefree = { relayId: made.rule.relayId, relayAccessToken: made.relayAccessToken };
  const assignment = await stack.assignment();
  const other = await stack.assignment();

  const workflowId = (chainId: string) => `relay:${company.companyId}:${chainId}`;
  const start = async (actions: Action[]) => (await company.start(actions)).chainId;
  const completed = await start([
    email(['owner@demo.example', 'dispatch@demo.example'], { comment: 'Tell the owner first' }),
    send(assignment, { groupId: '501', sendRadius: '25', actionCondition: 'status==draft', comment: 'Preferred technicians' }),
    udf('T1', { cfName: 'Sent', comment: 'Note it in the ticket' }),
  ]);
  const held = await start([
    email(['owner@demo.example'], { comment: 'Tell the owner first' }),
    send('404404', { groupId: '502', comment: 'Metro technicians' }),
    udf('T1', { cfName: 'Sent', comment: 'Note it in the ticket' }),
  ]);
  const failed = await start([
    udf('T1', { cfName: 'Created', comment: 'Note it in the ticket', ...carefree }),
    send('404404', { groupId: '501', comment: 'Preferred technicians', ...carefree }),
    email(['manager@demo.example'], { comment: 'Alert the manager', delayInSeconds: '1', ...carefree }),
  ]);
  const delayed = await start([
    send(other, { groupId: '501', comment: 'Preferred technicians now' }),
    send(other, {
      groupId: '502',
      delayInSeconds: '1800',
      actionCondition: 'status==draft',
      comment: 'Metro technicians later',
    }),
  ]);
  await company.ended(completed);
  await company.ended(failed);
  await company.action(held, 1, 'needs-attention');
  await company.action(delayed, 0, 'done');

  await stack.breakPlatform({ status: 503, path: 'send' });
  const running = await start([
    send(assignment, { groupId: '501', comment: 'Preferred technicians' }),
    udf('T1', { cfName: 'Sent', comment: 'Note it in the ticket' }),
    email(['manager@demo.example'], {
      comment: 'Alert the manager',
      platformAssignmentId: assignment,
      delayInSeconds: '3600',
      actionCondition: 'status==draft',
    }),
  ]);
  await eventually('the second attempt of the ordinary activity', async () => {
    const { pendingActivities } = (await stack.client.workflow.getHandle(workflowId(running)).describe()).raw;
    return pendingActivities?.some(({ attempt }) => (attempt ?? 0) > 1) ? true : new Unmet(pendingActivities);
  });
  assert.equal((await company.read(completed)).status, 'completed');
  assert.equal((await company.read(failed)).status, 'failed');

  const workflows: Record<ShownKind, string> = {
    running: workflowId(running),
    held: workflowId(held),
    failed: workflowId(failed),
    completed: workflowId(completed),
    delayed: `${workflowId(delayed)}:1`,
  };
  return { company, workflows, chains: { running, held, failed, completed, delayed }, assignment, other };
}
