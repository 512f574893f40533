/** Bulk steering: the API first counts the chains, a person confirms the count, and a workflow steers the chains. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { noProgress } from '../../../src/contract/bulk.js';
import { type BulkProgress, bulkPreviewSchema, bulkSchema } from '../../../src/contract/chain-resource.js';
import { dataConverterOf } from '../../../src/service/payloads.js';
import { bundlePath } from '../../../src/worker/bundle.js';
import type { BulkSteering } from '../../../src/workflows/bulk-steering.js';
import { adminToken, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack();

async function bulk(path: string, body: unknown, bearer = adminToken): Promise<Response> {
  return fetch(`${stack.links.api}${path}/chains/bulk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Waits until this number of chains is counted, then confirms, and waits for the end. */
async function confirmed(path: string, order: Record<string, unknown>, count: number, bearer?: string) {
  await eventually(`${count} chains to be counted`, async () => {
    const preview = bulkPreviewSchema.parse(await (await bulk(path, order, bearer)).json());
    // The count and the list are two queries, and visibility may change between them.
    return preview.count === count && preview.first.length === Math.min(count, 10) ? true : new Unmet(preview);
  });
  const response = await bulk(path, { ...order, confirm: count }, bearer);
  assert.equal(response.status, 202, await response.clone().text());
  const { bulkId } = bulkSchema.parse(await response.json());
  const shown = `${stack.links.api}${path}/chains/bulk/${bulkId}`;
  assert.equal(`${stack.links.api}${response.headers.get('location')}`, shown);
  return eventually('the bulk to end', async () => {
    const answer = await fetch(shown, { headers: { authorization: `Bearer ${bearer ?? adminToken}` } });
    const state = bulkSchema.parse(await answer.json());
    return state.status === 'running' ? new Unmet(state) : state;
  });
}

// Each test has its own companies.
describe('steering many chains', { concurrency: true }, () => {
  it('retries every held action of one reason, and records who did it', async () => {
    const company = await stack.company();
    const assignment = String(Math.floor(Math.random() * 1e12));
    const start = async () => (await company.start([send(assignment, { groupId: '501' }), udf('T')])).chainId;
    const chains = await Promise.all(Array.from({ length: 25 }, start));
    const mistaken = (await company.start([udf('')])).chainId;
    for (const chainId of [...chains, mistaken]) await company.action(chainId, 0, 'needs-attention');
    await stack.assignment({ id: assignment });

    const order = { verb: 'retry', filter: { reason: 'PlatformError' } };
    const state = await confirmed(`/co/${company.companyId}`, order, 25);
    const { outcomes, ...progress } = state.progress ?? assert.fail();
    assert.deepEqual(progress, { done: 25, steered: 25, actions: 25, unchanged: 0, failed: 0, refused: 0, failures: [] });
    // The order waits for each outcome for a limited time. A busy worker may need longer.
    const { done = 0, running = 0, pending = 0, ...others } = outcomes ?? {};
    assert.deepEqual([done + running + pending, others], [25, {}]);
    assert.deepEqual([state.verb, state.by, state.count], ['retry', 'admin', 25]);
    for (const chainId of chains) {
      const chain = await company.ended(chainId);
      assert.equal(chain.status, 'completed');
      const [steered] = chain.actions[0]?.steered ?? [];
      assert.deepEqual([steered?.verb, steered?.by], ['retry', `admin (bulk ${state.bulkId})`]);
    }
    assert.equal((await company.read(mistaken)).status, 'needs-attention');
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
    assert.deepEqual([items[0]?.action, items[0]?.details.count], ['chain.bulk', 25]);
  });

  it('says after a retry how many actions succeeded, and which failed again', async () => {
    const retried = async () => {
      const company = await stack.company();
      const ids = Array.from({ length: 3 }, () => String(Math.floor(Math.random() * 1e12)));
      for (const id of ids) {
        const { chainId } = await company.start([send(id, { groupId: '501' })]);
        await company.action(chainId, 0, 'needs-attention');
      }
      for (const id of ids.slice(1)) await stack.assignment({ id });
      return (await confirmed(`/co/${company.companyId}`, { verb: 'retry', filter: {} }, 3)).progress;
    };
    // The order waits for each outcome for a limited time. A busy worker may need longer.
    const progress = await eventually('an order that saw all outcomes', async () => {
      const progress = await retried();
      const { running, pending } = progress?.outcomes ?? {};
      return running || pending ? new Unmet(progress) : progress;
    });
    assert.deepEqual([progress?.actions, progress?.outcomes], [3, { done: 2, 'needs-attention': 1 }]);
    assert.equal(progress?.failures.length, 1);
    assert.match(progress.failures[0]?.error ?? '', /^action 0 failed again \(Assignment \d+ does not exist/);
  });

  it('opens failed chains again, and their actions succeed', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const [one, two] = [String(Math.floor(Math.random() * 1e12)), String(Math.floor(Math.random() * 1e12))];
    const chains: string[] = [];
    for (let n = 0; n < 3; n += 1)
      chains.push((await company.start([send(one, { groupId: '501' }), udf('T'), send(two, { groupId: '501' })])).chainId);
    for (const chainId of chains) assert.equal((await company.ended(chainId)).status, 'failed');
    await stack.assignment({ id: one });
    await stack.assignment({ id: two });
    const path = `/co/${company.companyId}`;
    assert.equal((await bulk(path, { verb: 'skip', filter: { status: 'failed' } })).status, 400);
    const filter = { status: 'failed', reason: 'PlatformError' };
    const state = await confirmed(path, { verb: 'retry', filter }, 3);
    assert.deepEqual([state.progress?.steered, state.progress?.actions, state.progress?.failed], [3, 6, 0]);
    for (const chainId of chains) await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
    assert.equal(bulkPreviewSchema.parse(await (await bulk(path, { verb: 'retry', filter })).json()).count, 0);
  });

  it('retries chains given by id, one held and one failed, and no other', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const { companyId, relayId } = company;
    const assignment = String(Math.floor(Math.random() * 1e12));
    const start = async () => (await company.start([send(assignment, { groupId: '501' })])).chainId;
    const failed = await start();
    assert.equal((await company.ended(failed)).status, 'failed');
    await stack.store.rules.update(companyId, relayId, (rule) => ({ ...rule, onFailure: 'hold' as const }), { kind: 'admin' });
    const [held, other] = [await start(), await start()];
    for (const chainId of [held, other]) await company.action(chainId, 0, 'needs-attention');
    await stack.assignment({ id: assignment });

    const chainIds = [held, failed, 'no-such-chain'];
    const state = await confirmed('', { verb: 'retry', filter: { companyId, chainIds } }, 2);
    assert.deepEqual([state.progress?.steered, state.progress?.actions, state.filter.chainIds], [2, 2, chainIds]);
    for (const chainId of [held, failed])
      await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
    assert.equal((await company.read(other)).status, 'needs-attention');
    assert.equal((await bulk('', { verb: 'retry', filter: { chainIds } })).status, 400, 'chains of which company?');
  });

  it('cancels all pending chains of an assignment, and nothing else', async () => {
    const company = await stack.company();
    const made = await stack.store.keys.create(company.companyId, 'desk', { kind: 'admin' });
    assert.ok(typeof made === 'object');
    const later = (assignment: string) => udf('T', { platformAssignmentId: assignment, delayInSeconds: '3000' });
    const whole = (await company.start([later('A'), later('A')])).chainId;
    const part = (await company.start([later('A'), later('B')])).chainId;
    const other = (await company.start([later('B')])).chainId;
    const order = { verb: 'cancel', filter: { assignmentId: 'A' } };
    const state = await confirmed(`/co/${company.companyId}`, order, 2, made.key);
    assert.deepEqual([state.progress?.steered, state.progress?.actions], [2, 3]);
    assert.equal((await company.ended(whole)).status, 'cancelled');
    const left = await company.action(part, 0, 'cancelled');
    assert.equal(left.actions[1]?.state, 'scheduled');
    assert.deepEqual(
      [left.actions[0]?.steered?.[0]?.verb, (await company.read(other)).actions[0]?.state],
      ['cancel', 'scheduled'],
    );

    await confirmed('', { verb: 'runNow', filter: { companyId: company.companyId } }, 2);
    assert.deepEqual(
      (await company.ended(part)).actions.map(({ state }) => state),
      ['cancelled', 'done'],
    );
    assert.equal((await company.ended(other)).status, 'completed');
  });

  it('runs only the next step of each chain now', async () => {
    const company = await stack.company();
    const later = (seconds: string) => udf('T', { delayInSeconds: seconds });
    const { chainId } = await company.start([later('1800'), later('3600')]);
    await company.action(chainId, 1, 'scheduled');
    const order = { verb: 'runNow', filter: { companyId: company.companyId } };
    const { progress } = await confirmed('', order, 1);
    assert.deepEqual([progress?.steered, progress?.actions], [1, 1]);
    const chain = await company.action(chainId, 0, 'done');
    assert.equal(chain.actions[1]?.state, 'scheduled');
    await company.steer(chainId, 'cancel');
  });

  it('does nothing with a wrong count, or for another company', async () => {
    const company = await stack.company();
    const other = await stack.company();
    const path = `/co/${company.companyId}`;
    const key = await stack.store.keys.create(other.companyId, 'k', { kind: 'admin' });
    assert.ok(typeof key === 'object');
    const { chainId } = await company.start([udf('T', { delayInSeconds: '3000' })]);
    const refused = await bulk(path, { verb: 'cancel', confirm: 7 });
    assert.equal(refused.status, 409);
    assert.match(await refused.text(), /count-changed/);
    for (const body of [
      { verb: 'explode' },
      {},
      { verb: 'retry', filter: { status: 'running' } },
      { verb: 'retry', filter: { status: 'completed' } },
      { verb: 'cancel', filter: { companyId: company.companyId } },
      { verb: 'cancel', confirm: '1' },
      { verb: 'cancel', filter: { assignment: 'x' } },
      { verb: 'cancel', filter: { chainIds: [] } },
      { verb: 'cancel', filter: { chainIds: ["a' OR 'a'='a"] } },
      { verb: 'cancel', filter: { chainIds: Array(1001).fill('c') } },
    ])
      assert.equal((await bulk(path, body)).status, 400, JSON.stringify(body));
    assert.equal((await bulk('', { verb: 'mend', filter: { companyId: '' }, confirm: 1 })).status, 400, 'no company has no id');
    const chainIds = Array.from({ length: 1000 }, () => randomUUID());
    const most = await bulk(path, { verb: 'retry', filter: { chainIds } });
    assert.equal(bulkPreviewSchema.parse(await most.json()).count, 0, 'as many as can be named');
    assert.equal((await bulk(path, { verb: 'cancel' }, key.key)).status, 401);
    assert.equal((await bulk('', { verb: 'cancel' }, key.key)).status, 401);
    await confirmed(path, { verb: 'cancel' }, 1);
    assert.equal((await company.ended(chainId)).status, 'cancelled');
  });

  it('skips a batch that no worker can finish, after some attempts, and continues with the next batch', async () => {
    const taskQueue = `bulk-${randomUUID()}`;
    const connection = await NativeConnection.connect({ address: stack.temporalAddress });
    const worker = await Worker.create({
      connection,
      taskQueue,
      workflowBundle: { codePath: bundlePath },
      dataConverter: dataConverterOf(stack.keyring),
      activities: {
        async steerChains({ workflowIds }: { workflowIds: string[] }): Promise<BulkProgress> {
          if (workflowIds.includes('chain-0')) throw ApplicationFailure.nonRetryable('the worker was lost');
          return { ...noProgress, done: workflowIds.length, unchanged: workflowIds.length };
        },
      },
    });
    const order = { bulkId: 'b', verb: 'skip', actions: {}, by: 'admin' } as const;
    const chains = Array.from({ length: 21 }, (_, n) => `chain-${n}`);
    const progress = await worker.runUntil(async () => {
      const options = { taskQueue, workflowId: `relay-bulk:${randomUUID()}`, args: [order, chains] as [typeof order, string[]] };
      const bulk = await stack.client.workflow.start<typeof BulkSteering>('BulkSteering', options);
      const result = await bulk.result();
      const { events = [] } = await bulk.fetchHistory();
      const policies = events?.flatMap((event) => event.activityTaskScheduledEventAttributes?.retryPolicy?.maximumAttempts ?? []);
      assert.deepEqual(policies, [5, 5]);
      return result;
    });
    await connection.close();
    const { failures, ...counts } = progress;
    assert.deepEqual(counts, { done: 21, steered: 0, actions: 0, unchanged: 1, failed: 20, refused: 0 });
    assert.equal(failures.length, 10);
    assert.match(failures[0]?.error ?? '', /the worker was lost/);
  });
});
