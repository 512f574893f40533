/** Delayed actions and their chain know each other's state, after any steering. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);

describe('a delayed action', () => {
  it('handles a signal that arrived before its first task', async () => {
    const company = await stack.company();
    const action = { index: 0, relayId: company.relayId, action: 'ticket_updateUDF', ticketId: 'T', field: 'F', value: 'v' };
    const chain = {
      companyId: company.companyId,
      chainId: randomUUID(),
      receivedAt: new Date().toISOString(),
      retryBudgetSeconds: 1,
      attentionWindowSeconds: 600,
      actions: [{ ...action, delaySeconds: 3000 }],
    };
    await stack.stopWorker();
    const handle = await stack.client.workflow.signalWithStart('DelayedAction', {
      workflowId: `relay:${chain.companyId}:${chain.chainId}:0`,
      taskQueue: stack.taskQueue,
      args: [chain],
      signal: 'runNow',
      signalArgs: [0],
    });
    await stack.restartWorker();
    await eventually('the action', async () => {
      const { status } = await handle.describe();
      return status.name === 'COMPLETED' ? true : new Unmet(status.name);
    });
  });

  it('is shown as cancelled at once, even while others of its group wait', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf('T', { delayInSeconds: '3000' }), udf('T', { delayInSeconds: '3000' })]);
    await company.steer(chainId, 'cancel', 0);
    const chain = await company.action(chainId, 0, 'cancelled');
    assert.equal(chain.actions[1]?.state, 'scheduled');
    await company.steer(chainId, 'cancel');
    await company.ended(chainId);
  });

  it('that fails last in its group is reported, even if its rule says continue', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const { chainId } = await company.start([send('404404', { groupId: '501', delayInSeconds: '1' })]);
    assert.deepEqual(states(await company.ended(chainId)), ['failed']);
    const [notice] = await stack.mails(company.admin, 1);
    assert.match(notice?.Subject ?? '', /Failed/);
  });

  it('whose workflow is terminated is reported at once, whatever else the chain waits for', async () => {
    const company = await stack.company();
    const { chainId, workflowId } = await company.start([
      send('404404', { groupId: '501' }),
      udf('T', { delayInSeconds: '3000' }),
      udf('T', { delayInSeconds: '4000' }),
    ]);
    const child = stack.client.workflow.getHandle(`${workflowId}:2`);
    await eventually('the child', () => child.describe().catch(() => new Unmet('none')));
    await company.action(chainId, 0, 'needs-attention');
    await child.terminate('by hand');
    const chain = await company.action(chainId, 2, 'failed');
    assert.deepEqual(states(chain), ['needs-attention', 'scheduled', 'failed']);
    await eventually('the notice', async () => {
      const subjects = (await stack.inbox(company.admin)).map(({ Subject }) => Subject);
      return subjects.some((subject) => subject.includes('Failed')) ? true : new Unmet(subjects);
    });
    await company.steer(chainId, 'cancel');
    await company.ended(chainId);
  });
});

describe('a chain', () => {
  it('ignores a report that a person sent as a signal', async () => {
    const company = await stack.company();
    const { chainId, workflowId } = await company.start([send('404404', { groupId: '501' })]);
    await company.action(chainId, 0, 'needs-attention');
    const handle = stack.client.workflow.getHandle(workflowId);
    const done = { index: 0, state: 'done' };
    for (const typed of [
      null,
      1,
      {},
      { actions: 3 },
      { actions: [null] },
      { actions: [done] },
      { actions: [{ ...done, index: 9 }] },
    ])
      await handle.signal('report', typed);
    await handle.signal('report', { actions: [], notice: { kind: 'failed', index: 9 } });
    assert.deepEqual(states(await company.read(chainId)), ['needs-attention']);
    await company.steer(chainId, 'skip', 0);
    assert.deepEqual(states(await company.ended(chainId)), ['skipped']);
  });

  it('with slow actions is cancelled quickly, although each try runs within the workflow task', async () => {
    const company = await stack.company();
    const ticket = `T-${company.companyId}`;
    await stack.breakPlatform({ delayMs: 1000, path: 'tickets' });
    const { chainId } = await company.start(Array.from({ length: 20 }, () => udf(ticket)));
    await eventually('the first', async () => ((await stack.calls(ticket)).length > 0 ? true : new Unmet(0)));
    assert.equal((await company.steer(chainId, 'cancel')).status, 202);
    const chain = await company.ended(chainId);
    await stack.heal();
    assert.equal(chain.status, 'cancelled');
    assert(states(chain).filter((state) => state === 'done').length < 8, states(chain).join());
  });
});
