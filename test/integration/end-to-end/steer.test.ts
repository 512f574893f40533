/** Steering a chain through the API, and through signals as `tctl` and `temporal` send them. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decided, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);

async function searchAttribute(workflowId: string, name: string): Promise<unknown> {
  const { typedSearchAttributes } = await stack.client.workflow.getHandle(workflowId).describe();
  return typedSearchAttributes.getAll().find(({ key }) => key.name === name)?.value;
}

// Each test has its own company.
describe('steering through the API', { concurrency: true }, () => {
  it('runNow affects one action only', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf('T', { delayInSeconds: '3000' }), udf('T', { delayInSeconds: '3000' })]);
    assert.equal((await company.steer(chainId, 'runNow', 1)).status, 202);
    const chain = await company.action(chainId, 1, 'done');
    assert.equal(chain.actions[0]?.state, 'scheduled');
    await company.steer(chainId, 'cancel', 0);
    assert.deepEqual(states(await company.ended(chainId)), ['cancelled', 'done']);
  });

  it('reschedule moves one action only, more than once', async () => {
    const company = await stack.company();
    const { chainId, receivedAt } = await company.start([
      udf('T', { delayInSeconds: '3000' }),
      udf('T', { delayInSeconds: '3000' }),
    ]);
    await company.steer(chainId, 'reschedule', 0, { seconds: 500 });
    const later = await company.until(
      chainId,
      ({ actions }) => Date.parse(actions[0]?.runAt ?? '') - Date.parse(receivedAt) < 600_000,
      'the new time',
    );
    assert.equal(Date.parse(later.actions[1]?.runAt ?? '') - Date.parse(receivedAt), 3_000_000);
    await company.steer(chainId, 'reschedule', 0, { seconds: 0 });
    await company.action(chainId, 0, 'done');
    await company.steer(chainId, 'runNow', 1);
    assert.equal((await company.ended(chainId)).status, 'completed');
  });

  it('answers 409 if it would have no effect, 404 for an unknown target, 400 if it is malformed', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([
      udf('T'),
      send('404404', { groupId: '501' }),
      udf('T'),
      udf('T', { delayInSeconds: '3000' }),
    ]);
    await company.action(chainId, 1, 'needs-attention');
    for (const [verb, index, status] of [
      ['retry', 0, 409],
      ['cancel', 0, 409],
      ['runNow', 2, 409],
      ['skip', 2, 409],
      ['retry', 3, 409],
      ['retry', 9, 404],
      ['reschedule', 3, 400],
      ['explode', 1, 404],
    ] as const) {
      const response = await company.steer(chainId, verb, index);
      assert.equal(response.status, status, `${verb} ${index}`);
      assert.equal(response.headers.get('content-type'), 'application/problem+json');
    }
    await company.steer(chainId, 'cancel');
    await company.ended(chainId);
    assert.equal((await company.steer(chainId, 'cancel')).status, 409);
  });

  it('cancelling a chain cancels what has not run, delayed actions included, and notifies nobody', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([
      udf(`T-${company.companyId}`),
      udf('T', { delayInSeconds: '3000' }),
      udf('T', { delayInSeconds: '4000' }),
      send('404404', { groupId: '501' }),
      udf('T'),
    ]);
    await company.action(chainId, 3, 'needs-attention');
    await stack.mails(company.admin, 1);
    await company.steer(chainId, 'cancel');
    const chain = await company.ended(chainId);
    assert.equal(chain.status, 'cancelled');
    assert.deepEqual(states(chain), ['done', 'cancelled', 'cancelled', 'cancelled', 'cancelled']);
    const { status } = await stack.client.workflow.getHandle(`${chain.workflowId}:1`).describe();
    assert.equal(status.name, 'CANCELLED');
    assert.equal((await stack.inbox(company.admin)).length, 1);
  });

  it('cancelling waits for an effect in progress and records its outcome', async () => {
    const company = await stack.company();
    const to = `slow@${company.companyId}.example`;
    await stack.breakMail({ code: 451, to, times: 1 });
    const { chainId } = await company.start([email([to]), udf('T')]);
    await eventually('the first attempt', async () => {
      const [action] = (await company.read(chainId)).actions;
      return action?.state === 'retrying' || action?.state === 'done' ? true : new Unmet(action);
    });
    await company.steer(chainId, 'cancel');
    const chain = await company.ended(chainId);
    const sent = (await stack.inbox(to)).length;
    assert.equal(chain.actions[0]?.state, sent === 1 ? 'done' : 'cancelled');
    await stack.healMail();
  });
});

describe('steering through signals', { concurrency: true }, () => {
  it('accepts an index, [index] and texts, and ignores invalid values', async () => {
    const company = await stack.company();
    const { chainId, workflowId } = await company.start([
      send('404404', { groupId: '501' }),
      udf('T', { delayInSeconds: '3000' }),
      udf('T', { delayInSeconds: '3000' }),
    ]);
    await company.action(chainId, 0, 'needs-attention');
    const handle = stack.client.workflow.getHandle(workflowId);
    for (const nonsense of ['x', -1, 1.5, null, {}, [], [99], [0, 1, 2, 3], { index: '0; drop' }])
      await handle.signal('skip', nonsense);
    for (const [encoding, data] of [
      ['json/plain', '[0'],
      ['of/nobody', '0'],
    ] as const) {
      const payload = { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) };
      const signal = {
        namespace: 'default',
        workflowExecution: { workflowId },
        signalName: 'skip',
        input: { payloads: [payload] },
      };
      await stack.client.workflowService.signalWorkflowExecution(signal);
    }
    await handle.signal('rety', [0]);
    await company.until(
      chainId,
      ({ ignored }) => ignored?.at(-1)?.includes('rety: there is no such signal') === true,
      'the typing error',
    );
    await handle.signal('retry');
    await handle.signal('reschedule', [1]);
    const { ignored } = await company.until(
      chainId,
      ({ ignored }) => ignored?.at(-1)?.includes('reschedule') === true,
      'the last',
    );
    assert.match(ignored?.at(-1) ?? '', / UTC, reschedule \[1\]: its input must be \[index, seconds from now\]$/);
    await handle.signal('retry', [1]);
    await company.until(
      chainId,
      ({ ignored }) => ignored?.at(-1)?.endsWith('retry [1]: action 1 is scheduled') === true,
      'the delayed action to say that it is scheduled',
    );
    await handle.signal('runNow', [1]);
    await company.action(chainId, 1, 'done');
    await handle.signal('reschedule', [2, 0]);
    await company.action(chainId, 2, 'done');
    await handle.signal('skip', 0);
    assert.deepEqual(states(await company.ended(chainId)), ['skipped', 'done', 'done']);
  });

  it('a search attribute shows that the chain needs attention, for a delayed action as well', async () => {
    const company = await stack.company();
    const { chainId, workflowId } = await company.start([send('404404', { groupId: '501', delayInSeconds: '1' }), udf('T')]);
    await company.action(chainId, 0, 'needs-attention');
    for (const id of [workflowId, `${workflowId}:0`]) {
      await eventually(
        `${id} to need attention`,
        async () => (await searchAttribute(id, 'RelayNeedsAttention')) || new Unmet(false),
      );
    }
    assert.deepEqual(await searchAttribute(workflowId, 'RelayAssignmentIds'), ['404404']);
    assert.deepEqual(await searchAttribute(workflowId, 'RelayRuleIds'), [company.relayId]);
    assert.equal(await searchAttribute(workflowId, 'RelayCompanyId'), company.companyId);
    const [notice] = await stack.mails(company.admin, 1);
    assert(notice);
    assert.match((await stack.text(notice)).Text, /Steps already done:\n {2}Update a ticket field/);
    await stack.client.workflow.getHandle(workflowId).signal('skip', [0]);
    await company.ended(chainId);
    assert.equal(await searchAttribute(workflowId, 'RelayNeedsAttention'), false);
  });

  it('a held delayed action is retried through the chain', async () => {
    const company = await stack.company();
    const assignment = String(Math.floor(Math.random() * 1e12));
    const { chainId } = await company.start([
      send(assignment, { groupId: '501', delayInSeconds: '1' }),
      udf('T', { delayInSeconds: '1' }),
    ]);
    await company.action(chainId, 0, 'needs-attention');
    await stack.assignment({ id: assignment });
    await company.steer(chainId, 'retry', 0);
    assert.deepEqual(states(await company.ended(chainId)), ['done', 'done']);
  });
});

describe('an operator in the Web UI', () => {
  it('terminating a delayed action fails its actions, and people are notified', async () => {
    const company = await stack.company();
    const { chainId, workflowId } = await company.start([udf('T', { delayInSeconds: '3000' })]);
    const child = stack.client.workflow.getHandle(`${workflowId}:0`);
    await eventually('the child', () => child.describe().catch(() => new Unmet('none')));
    await child.terminate('by hand');
    const chain = await company.ended(chainId);
    assert.equal(chain.status, 'failed');
    assert.match(chain.actions[0]?.reason ?? '', /terminated/i);
    await stack.mails(company.admin, 1);
  });

  it('terminating a chain shows as terminated', async () => {
    const company = await stack.company();
    const { chainId, workflowId } = await company.start([udf('T', { delayInSeconds: '3000' })]);
    await eventually('the child', () =>
      stack.client.workflow
        .getHandle(`${workflowId}:0`)
        .describe()
        .catch(() => new Unmet('none')),
    );
    await stack.client.workflow.getHandle(workflowId).terminate('by hand');
    const chain = await company.ended(chainId);
    assert.equal(chain.status, 'terminated');
    await eventually('the child to be cancelled', async () => {
      const { status } = await stack.client.workflow.getHandle(`${workflowId}:0`).describe();
      return status.name === 'CANCELLED' ? true : new Unmet(status.name);
    });
  });
});

describe('without workers', () => {
  it('a closed chain shows everything; an open chain shows what the server knows, and says so', async () => {
    const company = await stack.company();
    const closed = await company.start([udf('T')]);
    await company.ended(closed.chainId);
    const open = await company.start([udf('T', { delayInSeconds: '3000', comment: 'later' })]);
    await stack.stopWorker();
    assert.deepEqual(states(await company.read(closed.chainId)), ['done']);
    const chain = await company.read(open.chainId, { partial: true });
    assert.equal(chain.status, 'running');
    assert.deepEqual([chain.actions[0]?.state, chain.actions[0]?.comment], ['scheduled', 'later']);
    await stack.restartWorker();
    await company.steer(open.chainId, 'cancel');
    await company.ended(open.chainId);
  });

  it('a held action accepts a decision, although no worker can say that it is held', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([send('404404', { groupId: '501' })]);
    await company.action(chainId, 0, 'needs-attention');
    await stack.stopWorker();
    assert.equal((await decided(() => company.steer(chainId, 'skip', 0))).status, 202);
    await stack.restartWorker();
    assert.deepEqual(states(await company.ended(chainId)), ['skipped']);
  });
});
