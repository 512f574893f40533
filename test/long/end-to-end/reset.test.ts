/**
 * Resets chains of every shape at every workflow task. All chains must end well, nothing is started twice, and repeated effects
 * have the same keys.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChainResource } from '../../../src/contract/chain-resource.js';
import { resetAt, resetPoints } from '../../end-to-end/resets.js';
import { type Action, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack({ retryBudgetSeconds: 120 });
type Company = Awaited<ReturnType<typeof stack.company>>;

/** Waits until the chain's notices are sent, so that each chain of a shape has the same workflow tasks. @returns its run. */
function settled(workflowId: string): Promise<string> {
  return eventually('the chain to have nothing under way', async () => {
    const { raw, runId } = await stack.client.workflow.getHandle(workflowId).describe();
    const { pendingActivities, pendingWorkflowTask } = raw;
    return pendingActivities?.length || pendingWorkflowTask ? new Unmet({ pendingActivities, pendingWorkflowTask }) : runId;
  });
}

interface Shape {
  name: string;
  actions(company: Company): Promise<Action[]>;
  /** Brings the chain to the state for the reset. */
  until(company: Company, chainId: string): Promise<unknown>;
  /** Brings the reset chain to its end. */
  finish(company: Company, chainId: string): Promise<unknown>;
  states: string[];
  /** The platform is called more than once for the same effect, because it fails or is slow. */
  repeats?: boolean;
}

/** A delayed send to a failing platform. */
async function troubledSend({ companyId }: Company, trouble: Record<string, unknown>): Promise<Action[]> {
  await stack.assignment({ id: `d-${companyId}` });
  await stack.breakPlatform({ ...trouble, path: 'send' });
  return [udf(`a-${companyId}`), send(`d-${companyId}`, { groupId: '501', delayInSeconds: '1' })];
}

const shapes: Shape[] = [
  {
    name: 'closed, with a delayed action done',
    actions: async (company) => [
      udf(`a-${company.companyId}`),
      email([`x@${company.companyId}.example`]),
      udf(`d-${company.companyId}`, { delayInSeconds: '1' }),
    ],
    until: (company, chainId) => company.ended(chainId),
    finish: async () => {},
    states: ['done', 'done', 'done'],
  },
  {
    name: 'open, with delayed actions pending',
    actions: async (company) => [
      udf(`a-${company.companyId}`),
      udf(`d-${company.companyId}`, { delayInSeconds: '3000' }),
      udf(`e-${company.companyId}`, { delayInSeconds: '4000' }),
    ],
    until: (company, chainId) => company.action(chainId, 0, 'done'),
    finish: async (company, chainId) => {
      await company.action(chainId, 0, 'done');
      await company.steer(chainId, 'runNow', 1);
      await company.steer(chainId, 'runNow', 2);
    },
    states: ['done', 'done', 'done'],
  },
  {
    name: 'held, and then skipped',
    actions: async (company) => [
      send('404404', { groupId: '501' }),
      udf(`b-${company.companyId}`),
      udf(`d-${company.companyId}`, { delayInSeconds: '1' }),
    ],
    until: async (company, chainId) => {
      await company.action(chainId, 2, 'done');
      await company.action(chainId, 0, 'needs-attention');
    },
    finish: async (company, chainId) => {
      await company.action(chainId, 0, 'needs-attention');
      await company.steer(chainId, 'skip', 0);
    },
    states: ['skipped', 'done', 'done'],
  },
  {
    name: 'open, with a delayed action held',
    actions: async (company) => [udf(`a-${company.companyId}`), send('404404', { groupId: '501', delayInSeconds: '1' })],
    until: (company, chainId) => company.action(chainId, 1, 'needs-attention'),
    finish: async (company, chainId) => {
      await company.until(chainId, ({ actions }) => actions[0]?.state === 'done', 'the immediate action');
      await stack.client.workflow.getHandle(`relay:${company.companyId}:${chainId}`).signal('skip', [1]);
    },
    states: ['done', 'skipped'],
  },
  {
    name: 'open, with a delayed action in flight',
    actions: (company) => troubledSend(company, { delayMs: 1500 }),
    until: (company, chainId) =>
      eventually('the send to arrive', async () => {
        const calls = await stack.calls(`d-${company.companyId}`);
        return calls.some(({ idempotencyKey }) => idempotencyKey?.includes(chainId)) || new Unmet(calls);
      }),
    finish: () => stack.heal(),
    states: ['done', 'done'],
    repeats: true,
  },
  {
    name: 'open, with a delayed action retrying',
    actions: (company) => troubledSend(company, { status: 503 }),
    until: (company, chainId) => company.action(chainId, 1, 'retrying'),
    finish: () => stack.heal(),
    states: ['done', 'done'],
    repeats: true,
  },
  {
    name: 'failed, with the actions after it',
    actions: async (company) => [send('404404', { groupId: '501' }), udf(`d-${company.companyId}`, { delayInSeconds: '1' })],
    until: (company, chainId) => company.ended(chainId),
    finish: async () => {},
    states: ['failed', 'done'],
  },
];

describe('a reset at every workflow task', () => {
  for (const shape of shapes) {
    it(shape.name, async (t) => {
      const company = await stack.company({ onFailure: shape.states.includes('failed') ? 'continue' : 'hold' });
      let points = 1;
      for (let point = 0; point < points; point += 1) {
        // Each point gets a new chain, so that every chain is in the shape's state when it is reset.
        const { chainId, workflowId } = await company.start(await shape.actions(company));
        await shape.until(company, chainId);
        const runId = await settled(workflowId);
        const all = await resetPoints(stack.client, workflowId, runId);
        points = all.length;
        const at = all[Math.min(point, points - 1)];
        assert(at);
        await resetAt(stack.client, workflowId, runId, at);
        await shape.finish(company, chainId);
        const chain: ChainResource = await company.ended(chainId);
        assert.deepEqual(
          chain.actions.map(({ state }) => state),
          shape.states,
          `reset at event ${at}`,
        );
        const calls = await stack.calls(...['a', 'b', 'd', 'e'].map((letter) => `${letter}-${company.companyId}`));
        const ofChain = calls.filter(({ idempotencyKey }) => idempotencyKey?.includes(chainId));
        const acted = ofChain.filter(({ repeat, status = 0 }) => !repeat && status >= 200 && status < 300);
        assert.equal(
          acted.length,
          new Set(ofChain.map(({ idempotencyKey }) => idempotencyKey)).size,
          'an effect was done under two keys, or twice under one',
        );
        const delayed = ofChain.filter(({ path }) => /\/[de]-/.test(path));
        if (!shape.repeats)
          assert.equal(delayed.length, delayed.filter(({ repeat }) => !repeat).length, 'a delayed action ran twice');
      }
      t.diagnostic(`${points} workflow tasks`);
    });
  }
});

it("after a reset without signals the chain asks its delayed actions' workflows how they ended", async () => {
  const company = await stack.company({ onFailure: 'continue' });
  const { chainId, workflowId } = await company.start([
    udf('T', { delayInSeconds: '1' }),
    send('404404', { groupId: '501', delayInSeconds: '1' }),
    udf('T', { delayInSeconds: '3000' }),
  ]);
  await company.action(chainId, 1, 'failed');
  await stack.client.workflow.getHandle(`${workflowId}:2`).cancel();
  await company.ended(chainId);
  const { runId } = await stack.client.workflow.getHandle(workflowId).describe();
  const [first] = await resetPoints(stack.client, workflowId, runId);
  assert(first);
  const signals = 1; // temporal.api.enums.v1.ResetReapplyExcludeType
  await resetAt(stack.client, workflowId, runId, first, [signals]);
  const chain = await company.ended(chainId);
  assert.deepEqual(
    chain.actions.map(({ state }) => state),
    ['done', 'failed', 'cancelled'],
  );
  assert.match(chain.actions[1]?.reason ?? '', /404/);
});
