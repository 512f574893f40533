/** Effects that the relay itself delays: they wait, and cost no attempt, no budget and no notice. */

import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

// The budget leaves time to repeat a call that times out on a busy machine.
const stack = await startStack({ retryBudgetSeconds: 120 });

/** Waits until action 0 shows this reason for its wait. */
function waits(company: Awaited<ReturnType<typeof stack.company>>, chainId: string, why: RegExp) {
  return company.until(chainId, ({ actions: [action] }) => why.test(action?.reason ?? ''), `action 0 to say ${why}`);
}

describe('a company with more calls in progress than allowed', () => {
  it('waits while another company is served; all effects succeed in the end, without a notice', async () => {
    const [slow, neighbour] = [await stack.company(), await stack.company()];
    const assignment = await stack.assignment();
    // On a busy machine it takes seconds to start all chains. The first calls must not end before that.
    await stack.breakPlatform({ delayMs: 15_000, path: 'send' });
    const chains = await Promise.all(Array.from({ length: 110 }, () => slow.start([send(assignment, { groupId: '501' })])));
    await eventually('a chain that waits for its turn', async () => {
      const seen = [];
      // The chains are read one after another, because each read is a query for the worker that starts the calls.
      for (const { chainId } of chains.toReversed()) {
        const [action] = (await slow.read(chainId)).actions;
        if (action?.state === 'pending' && /has reached its limit of \d+ calls to systems/.test(action.reason ?? '')) return true;
        seen.push(action?.state);
      }
      return new Unmet(seen);
    });
    const { chainId } = await neighbour.start([udf(`T-${neighbour.companyId}`, { cfValue: 'v' })]);
    assert.equal((await neighbour.ended(chainId)).status, 'completed');
    await stack.heal();
    for (const { chainId } of chains) assert.equal((await slow.ended(chainId)).status, 'completed');
    assert.deepEqual(await stack.inbox(slow.admin), []);
  });
});

describe('settings that cannot be read', () => {
  it('make an effect wait until they can be read; then the effect needs only one attempt', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf(`T-${company.companyId}`, { cfValue: 'v', delayInSeconds: '3000' })]);
    const away = mock.method(stack.store.settings, 'of', () => Promise.reject(new Error('the database is down')));
    assert.equal((await company.steer(chainId, 'runNow', 0)).status, 202);
    await waits(company, chainId, /database does not answer/);
    away.mock.restore();
    const { status, actions } = await company.ended(chainId);
    assert.deepEqual([status, actions[0]?.attempts, actions[0]?.error], ['completed', 1, undefined]);
    assert.deepEqual(await stack.inbox(company.admin), []);
  });

  it('do not stop a chain that continues after failures: it goes on once its rule can be read, without a decision', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const away = mock.method(stack.store.rules, 'get', () => Promise.reject(new Error('the database is down')));
    const { chainId } = await company.start([
      send('404404', { groupId: '501' }),
      udf(`T-${company.companyId}`, { cfValue: 'v' }),
    ]);
    await waits(company, chainId, /cannot read whether the rule says hold or continue/);
    away.mock.restore();
    const { status, actions } = await company.ended(chainId);
    assert.deepEqual([status, ...actions.map(({ state }) => state)], ['failed', 'failed', 'done']);
    assert.equal(actions[0]?.nextAttemptAt, undefined);
  });
});
