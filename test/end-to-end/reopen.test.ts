/** An action that failed is done after all, also when its chain has closed: nothing that was done is done again. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainResource } from '../../src/contract/chain-resource.js';
import { email, eventually, send, startStack, Unmet, udf } from './stack.js';

const stack = await startStack({ attentionWindowSeconds: 2 });
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);
const unknownAssignment = () => String(Math.floor(Math.random() * 1e12));

describe('a chain that failed because nobody decided in time', () => {
  it('is opened again by a retry, and goes on where it stopped', async () => {
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
    assert.equal((await stack.calls(ticket)).length, 2);
    assert.equal((await stack.inbox(`x@${company.companyId}.example`)).length, 1);
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
    assert.deepEqual([items[0]?.action, items[0]?.details], ['chain.retry', { chainId, index: 1, reopened: true }]);
  });

  it('begins a new window when the retry fails, and can be opened once more', async () => {
    const company = await stack.company();
    const assignment = unknownAssignment();
    const { chainId } = await company.start([send(assignment, { groupId: '501' }), udf('T')]);
    const first = await company.ended(chainId);
    await company.steer(chainId, 'retry', 0);
    // On a busy machine the window can end before anybody has seen the hold.
    const isSecond = ({ closedAt, actions: [action] }: ChainResource) => closedAt !== undefined && action?.attempts === 2;
    const second = await company.until(chainId, isSecond, 'its second end');
    assert.deepEqual([second.status, ...states(second)], ['failed', 'failed', 'not-run']);
    const [ended, before] = [second.actions[0]?.endedAt, first.closedAt].map((at = '') => Date.parse(at));
    assert(Number(ended) - Number(before) >= 2000, `${before}, ${ended}`);
    await stack.assignment({ id: assignment });
    await company.steer(chainId, 'retry', 0);
    assert.deepEqual(states(await company.until(chainId, ({ status }) => status === 'completed', 'the end')), ['done', 'done']);
  });

  it('is opened again for a delayed action too', async () => {
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
    assert.equal((await stack.calls(ticket)).length, 3);
  });
});

describe('an action that failed while its chain is open', () => {
  it('is done after all, with what stood behind it', async () => {
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

  it('under a rule that continues is done after all when the chain has closed', async () => {
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
    // Its wait for further signals is over: it is opened once more.
    assert.equal((await company.steer(chainId, 'retry', 0)).status, 202);
    assert.deepEqual(states(await company.until(chainId, ({ status }) => status === 'completed', 'the end')), [
      'done',
      'done',
      'done',
    ]);
  });

  it('is done after all with another one that is retried at the same moment', async () => {
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

  it('stays so where the chain was cancelled: opened again, it would cancel what is to be done', async () => {
    const company = await stack.company({ onFailure: 'continue', onUnknown: 'hold' });
    const assignment = unknownAssignment();
    await stack.breakPlatform({ delayMs: 6000, path: 'tickets' });
    const { chainId, workflowId } = await company.start([send(assignment, { groupId: '501' }), udf('T')]);
    await eventually('the second effect to be in flight', async () => {
      const { pendingActivities } = (await stack.client.workflow.getHandle(workflowId).describe()).raw;
      const isInFlight = pendingActivities?.some(
        ({ activityType, lastStartedTime }) => activityType?.name === 'updateUdf' && lastStartedTime,
      );
      return isInFlight ? true : new Unmet(pendingActivities);
    });
    // It is waited for, and its outcome counts.
    assert.equal((await company.steer(chainId, 'cancel')).status, 202);
    assert.equal((await company.ended(chainId)).status, 'failed');
    await stack.heal();
    await stack.assignment({ id: assignment });
    assert.equal((await company.steer(chainId, 'retry', 0)).status, 409);
    assert.deepEqual(states(await company.read(chainId)), ['failed', 'done']);
  });
});

describe('a retry about the end of an attention window', () => {
  it('is refused or done, with what stood behind the action', async () => {
    const company = await stack.company();
    await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const assignment = unknownAssignment();
        const { chainId } = await company.start([
          send(assignment, { groupId: '501', delayInSeconds: '1' }),
          udf('T', { delayInSeconds: '1' }),
        ]);
        // On a busy machine the window can end before anybody has seen the hold.
        const isNoticed = ({ actions: [first] }: ChainResource) =>
          first?.state === 'needs-attention' || first?.state === 'failed';
        const [noticed] = (await company.until(chainId, isNoticed, 'action 0 to be held')).actions;
        await stack.assignment({ id: assignment });
        // Not a wait for something to have happened: the moments to try are spread.
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
