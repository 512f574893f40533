/** Effects that are not tried for the relay's own reasons wait, and cost nobody an attempt, a budget or a notice. */

import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { eventually, send, startStack, udf } from './stack.js';

// On a busy machine a call may take longer than it may: it is tried again.
const stack = await startStack({ retryBudgetSeconds: 120 });

describe('a company with more calls under way than it may have', () => {
  it('waits with the others, while its neighbour is served; all are done in the end, and nobody is called', async () => {
    const [slow, neighbour] = [await stack.company(), await stack.company()];
    const assignment = await stack.assignment();
    await stack.breakPlatform({ delayMs: 4000, path: 'send' });
    const chains = await Promise.all(Array.from({ length: 130 }, () => slow.start([send(assignment, { groupId: '501' })])));
    await eventually('a chain that waits for its turn', async () => {
      const shown = await Promise.all(chains.slice(-40).map(({ chainId }) => slow.read(chainId)));
      return shown.some(
        ({ actions: [action] }) => action?.state === 'pending' && /as many as may be at once/.test(action.reason ?? ''),
      );
    });
    const { chainId } = await neighbour.start([udf(`T-${neighbour.companyId}`, { cfValue: 'v' })]);
    assert.equal((await neighbour.ended(chainId)).status, 'completed');
    await stack.heal();
    for (const { chainId } of chains) assert.equal((await slow.ended(chainId)).status, 'completed');
    assert.deepEqual(await stack.inbox(slow.admin), []);
  });
});

describe('settings that cannot be read', () => {
  it('an effect waits until they can, and then has made one attempt', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf(`T-${company.companyId}`, { cfValue: 'v', delayInSeconds: '1' })]);
    const away = mock.method(stack.store.settings, 'of', () => Promise.reject(new Error('the database is down')));
    const waiting = await company.action(chainId, 0, 'pending');
    assert.match(waiting.actions[0]?.reason ?? '', /database does not answer/);
    away.mock.restore();
    const { status, actions } = await company.ended(chainId);
    assert.deepEqual([status, actions[0]?.attempts, actions[0]?.error], ['completed', 1, undefined]);
    assert.deepEqual(await stack.inbox(company.admin), []);
  });

  it('a chain that goes on after a failure does so as soon as its rule can be read, and nobody has to decide', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const away = mock.method(stack.store.rules, 'get', () => Promise.reject(new Error('the database is down')));
    const { chainId } = await company.start([
      send('404404', { groupId: '501' }),
      udf(`T-${company.companyId}`, { cfValue: 'v' }),
    ]);
    const waiting = await company.action(chainId, 0, 'pending');
    assert.match(waiting.actions[0]?.reason ?? '', /cannot read whether its rule holds/);
    away.mock.restore();
    const { status, actions } = await company.ended(chainId);
    assert.deepEqual([status, ...actions.map(({ state }) => state)], ['failed', 'failed', 'done']);
    assert.equal(actions[0]?.nextAttemptAt, undefined);
  });
});
