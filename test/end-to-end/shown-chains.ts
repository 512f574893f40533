/** One chain of each kind that an operator sees in the Web UI, in a state worth showing. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDemo } from '../../src/sandbox/demo.js';
import { type Action, email, eventually, type Stack, send, Unmet, udf } from './stack.js';

export type ShownKind = 'running' | 'held' | 'failed' | 'completed' | 'delayed';

/** The company and assignments of the chains. */
export interface Scene {
  company: Pick<Awaited<ReturnType<Stack['company']>>, 'companyId' | 'start' | 'read' | 'ended' | 'action'>;
  /** An assignment in draft. */
  assignment: string;
  /** Another assignment in draft. */
  other: string;
  ticket: string;
  /** The value for the ticket's field. */
  cfValue: string;
  /** Id and token of the rule that continues after a failure; without them the function creates a rule. */
  carefree?: { relayId: string; relayAccessToken: string };
}

/** Creates a separate company, for a server that other tests share. */
async function ownScene(stack: Stack): Promise<Scene> {
  const [company, assignment, other] = [await stack.company(), await stack.assignment(), await stack.assignment()];
  return { company, assignment, other, ticket: 'T1', cfValue: 'value' };
}

/** The company and the assignments that `npm start` creates, for pictures. */
export async function demoScene(stack: Stack): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-demo-'));
  const demo = await ensureDemo(stack.store, stack.platform.url, directory);
  rmSync(directory, { recursive: true });
  assert(demo);
  const company = stack.companyOf(demo);
  return {
    company,
    assignment: '1003',
    other: '1001',
    ticket: '7003',
    cfValue: 'yes',
    carefree: { relayId: '4712', relayAccessToken: demo.relayAccessToken },
  };
}

/**
 * Starts one workflow of each kind. In the chain `running`, an action is being retried, so the stack needs a retry budget of
 * some minutes. The workflow `delayed` is a `DelayedAction`.
 */
export async function startShownChains(stack: Stack, scene?: Scene) {
  const { company, assignment, other, ticket, cfValue, carefree: given } = scene ?? (await ownScene(stack));
  const note = (cfName: string, more: Action = {}) => udf(ticket, { cfName, cfValue, comment: 'Note it in the ticket', ...more });
  const made = await stack.store.rules.create(
    company.companyId,
    { name: 'Goes on', onFailure: 'continue', onUnknown: 'resend', ...given },
    { kind: 'admin' },
  );
  assert(typeof made === 'object');
  const carefree = { relayId: made.rule.relayId, relayAccessToken: made.relayAccessToken };
  const toOwner: Action = { subject: 'We look for technicians', comment: 'Tell the owner first' };
  const toManager: Action = { subject: 'Nobody has been found yet', comment: 'Alert the manager' };

  const workflowId = (chainId: string) => `relay:${company.companyId}:${chainId}`;
  const start = async (actions: Action[]) => (await company.start(actions)).chainId;
  const completed = await start([
    email(['owner@demo.example', 'dispatch@demo.example'], toOwner),
    send(assignment, { groupId: '501', sendRadius: '25', actionCondition: 'status==draft', comment: 'Preferred technicians' }),
    note('Sent'),
  ]);
  const held = await start([
    email(['owner@demo.example'], toOwner),
    send('404404', { groupId: '502', comment: 'Metro technicians' }),
    note('Sent'),
  ]);
  const failed = await start([
    note('Created', carefree),
    send('404404', { groupId: '501', comment: 'Preferred technicians', ...carefree }),
    email(['manager@demo.example'], { ...toManager, delayInSeconds: '1', ...carefree }),
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
    note('Sent'),
    email(['manager@demo.example'], {
      ...toManager,
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
