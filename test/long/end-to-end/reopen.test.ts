/** A failed action can be retried, even after its chain has closed. Nothing that succeeded is repeated. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainResource } from '../../../src/contract/chain-resource.js';
import { email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

// The retry budget leaves time to repeat a call that times out on a busy machine.
const stack = await startStack({ attentionWindowSeconds: 2, retryBudgetSeconds: 120 });
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);
const unknownAssignment = () => String(Math.floor(Math.random() * 1e12));

// Each test has its own company, and waits for the end of at least one attention window.
describe('a chain that failed without a decision', { concurrency: true }, () => {
  it('is reopened by a retry, and continues where it stopped', async () => {
    const company = await stack.company();
    const assignment = unknownAssignment();
    const ticket = `t-${company.companyId}`;
    const { chainId } = await company.start([
      udf(ticket),
      send(assignment, { groupId: '501', comment: 'to the night shift' }),
      email([`x@${company.companyId}.example`]),
      udf(ticket, { delayInSeconds: '1' }),
    ]);
    const failed = await company.ended(chainId);
    assert.equal(failed.status, 'failed');
    assert.deepEqual(states(failed), ['done', 'failed', 'not-run', 'done']);
    assert.match(failed.actions[1]?.reason ?? '', /nobody decided/);
    await stack.assignment({ id: assignment });

    assert.equal((await company.steer(chainId, 'skip', 1)).status, 409);
    assert.equal((await company.steer(chainId, 'retry', 2)).status, 409);
    const response = await company.steer(chainId, 'retry', 1);
    assert.equal(response.status, 202);
    assert.deepEqual(await response.json(), { chainId, index: 1, accepted: 'retry', reopened: true });
    const chain = await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
    assert.deepEqual(states(chain), ['done', 'done', 'done', 'done']);
    assert.deepEqual(
      chain.actions[1]?.steered?.map(({ by, verb }) => [by, verb]),
      [['admin', 'retry']],
    );
    assert.equal(await stack.effects(ticket), 2);
    assert.equal((await stack.inbox(`x@${company.companyId}.example`)).length, 1);
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
    const details = { chainId, assignmentId: chain.actions[1]?.assignmentId, index: 1, reopened: true };
    assert.deepEqual([items[0]?.action, items[0]?.details], ['chain.retry', details]);
  });

  it('starts a new window when the retry fails, and can be reopened once more', async () => {
    const company = await stack.company();
    const assignment = unknownAssignment();
    const { chainId } = await company.start([send(assignment, { groupId: '501' }), udf('T')]);
    const first = await company.ended(chainId);
    await company.steer(chainId, 'retry', 0);
    // On a busy machine the window can end before the test has seen the hold, and a try can be repeated.
    const isSecond = ({ closedAt, actions: [action] }: ChainResource) => closedAt !== undefined && (action?.attempts ?? 0) >= 2;
    const second = await company.until(chainId, isSecond, 'its second end');
    assert.deepEqual([second.status, ...states(second)], ['failed', 'failed', 'not-run']);
    const [ended, before] = [second.actions[0]?.endedAt, first.closedAt].map((at = '') => Date.parse(at));
    assert(Number(ended) - Number(before) >= 2000, `${before}, ${ended}`);
    await stack.assignment({ id: assignment });
    await company.steer(chainId, 'retry', 0);
    assert.deepEqual(states(await company.until(chainId, ({ status }) => status === 'completed', 'the end')), ['done', 'done']);
  });

  it('is reopened for a delayed action too', async () => {
    const company = await stack.company();
    const assignment = unknownAssignment();
    const ticket = `t-${company.companyId}`;
    const { chainId } = await company.start([
      udf(ticket),
      send(assignment, { groupId: '501', delayInSeconds: '1' }),
      udf(ticket, { delayInSeconds: '1' }),
      udf(ticket, { delayInSeconds: '2' }),
    ]);
    const failed = await company.ended(chainId);
    assert.deepEqual(states(failed), ['done', 'failed', 'not-run', 'done']);
    await stack.assignment({ id: assignment });
    assert.equal((await company.steer(chainId, 'retry', 1)).status, 202);
    const chain = await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
    assert.deepEqual(states(chain), ['done', 'done', 'done', 'done']);
    assert.equal(await stack.effects(ticket), 3);
  });
});

describe('an action that failed while its chain is open', { concurrency: true }, () => {
  it('succeeds after a retry, and then the actions after it run', async () => {
    const company = await stack.company();
    const assignment = unknownAssignment();
    const { chainId } = await company.start([
      send(assignment, { groupId: '501', delayInSeconds: '1' }),
      udf('T', { delayInSeconds: '1' }),
      udf('T', { delayInSeconds: '3000' }),
    ]);
    await company.action(chainId, 0, 'failed');
    await stack.assignment({ id: assignment });
    assert.equal((await company.steer(chainId, 'retry', 0)).status, 202);
    await company.action(chainId, 1, 'done');
    await company.steer(chainId, 'runNow', 2);
    const chain = await company.ended(chainId);
    assert.deepEqual([chain.status, ...states(chain)], ['completed', 'done', 'done', 'done']);
  });

  it('of a rule that continues after failures succeeds after a retry of the closed chain', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const [one, two] = [unknownAssignment(), unknownAssignment()];
    const { chainId } = await company.start([send(one, { groupId: '501' }), send(two, { groupId: '501' }), udf('T')]);
    assert.deepEqual(states(await company.ended(chainId)), ['failed', 'failed', 'done']);
    await stack.assignment({ id: one });
    await stack.assignment({ id: two });
    assert.equal((await company.steer(chainId, 'retry', 1)).status, 202);
    await company.until(
      chainId,
      ({ closedAt, actions }) => actions[1]?.state === 'done' && closedAt !== undefined,
      'the second to be done',
    );
    // The chain no longer waits for signals, so this retry reopens it.
    assert.equal((await company.steer(chainId, 'retry', 0)).status, 202);
    assert.deepEqual(states(await company.until(chainId, ({ status }) => status === 'completed', 'the end')), [
      'done',
      'done',
      'done',
    ]);
  });

  it('succeeds together with another action that is retried at the same moment', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const ids = [unknownAssignment(), unknownAssignment(), unknownAssignment()];
    const { chainId } = await company.start(ids.map((id) => send(id, { groupId: '501' })));
    assert.deepEqual(states(await company.ended(chainId)), ['failed', 'failed', 'failed']);
    for (const id of ids) await stack.assignment({ id });
    const answers = await Promise.all(ids.map((_, index) => company.steer(chainId, 'retry', index)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 202, 202],
    );
    const chain = await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
    assert.deepEqual(states(chain), ['done', 'done', 'done']);
  });
});

describe('a failed action of a cancelled chain', () => {
  it('stays failed, because a reopened chain would cancel it again', async () => {
    const company = await stack.company({ onFailure: 'continue', onUnknown: 'hold' });
    const assignment = unknownAssignment();
    await stack.breakPlatform({ delayMs: 15_000, path: 'tickets' });
    const { chainId, workflowId } = await company.start([send(assignment, { groupId: '501' }), udf('T')]);
    await eventually('the second effect to be in flight', async () => {
      const { pendingActivities } = (await stack.client.workflow.getHandle(workflowId).describe()).raw;
      const isInFlight = pendingActivities?.some(
        ({ activityType, lastStartedTime }) => activityType?.name === 'updateUdf' && lastStartedTime,
      );
      return isInFlight ? true : new Unmet(pendingActivities);
    });
    // A cancellation does not stop the call that is in flight: the chain waits for its outcome.
    assert.equal((await company.steer(chainId, 'cancel')).status, 202);
    assert.equal((await company.ended(chainId)).status, 'failed');
    await stack.heal();
    await stack.assignment({ id: assignment });
    assert.equal((await company.steer(chainId, 'retry', 0)).status, 409);
    assert.deepEqual(states(await company.read(chainId)), ['failed', 'done']);
  });
});

describe('a retry near the end of an attention window', () => {
  it('is refused, or succeeds with the actions after it', async () => {
    const company = await stack.company();
    await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const assignment = unknownAssignment();
        const { chainId } = await company.start([
          send(assignment, { groupId: '501', delayInSeconds: '1' }),
          udf('T', { delayInSeconds: '1' }),
        ]);
        // On a busy machine the window can end before the test has seen the hold, and a try can be repeated.
        const isNoticed = ({ actions: [first] }: ChainResource) =>
          first?.state === 'needs-attention' || first?.state === 'failed';
        const [noticed] = (await company.until(chainId, isNoticed, 'action 0 to be held')).actions;
        await stack.assignment({ id: assignment });
        // This wait is fixed, because it spreads the moments of the tries.
        const windowEnd = Date.parse(noticed?.heldUntil ?? noticed?.endedAt ?? '');
        await sleep(Math.max(0, windowEnd - Date.now() + n * 150));
        const { status } = await company.steer(chainId, 'retry', 0);
        if (status !== 202) assert.equal((await company.steer(chainId, 'retry', 0)).status, 202);
        const chain = await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
        assert.deepEqual(states(chain), ['done', 'done']);
      }),
    );
  });
});
