/**
 * The server never ends a chain or a notifier because of its history, its signals or its pending work. This server has low
 * limits, except for the number of bytes.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import fc from 'fast-check';
import {
  newsSignal,
  overSignal,
  readSteering,
  reportSignal,
  resumeSignal,
  steeringSignals,
} from '../../../src/contract/messages.js';
import type { Cause, News } from '../../../src/contract/notices.js';
import { companyKey } from '../../../src/contract/search-attributes.js';
import { startTemporal } from '../../../src/sandbox/temporal.js';
import { email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const dynamicConfig = {
  'limit.numPendingSignals.error': 20,
  'limit.historyCount.suggestContinueAsNew': 100,
  'limit.historyCount.error': 600,
  'history.maximumSignalsPerExecution': 400,
};
const before = { ...process.env };
const dataDir = mkdtempSync(join(tmpdir(), 'relay-limits-'));
const at = { host: '127.0.0.1', port: 0, uiPort: 0, namespace: 'default' };
const server = await startTemporal({ ...at, dataDir, dynamicConfig, say: () => {} });
process.env.RELAY_TEST_TEMPORAL_ADDRESS = server.address;
process.env.RELAY_TEST_TEMPORAL_DIRECTORY = dataDir;
const stack = await startStack({ noticeDigestSeconds: 3 });
after(async () => {
  process.env.RELAY_TEST_TEMPORAL_ADDRESS = before.RELAY_TEST_TEMPORAL_ADDRESS;
  process.env.RELAY_TEST_TEMPORAL_DIRECTORY = before.RELAY_TEST_TEMPORAL_DIRECTORY;
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Runs `act` for twenty items at a time. */
async function each<Item>(items: Item[], act: (item: Item) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const next = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: 20 }, next));
}

it('a chain with a full history refuses a retry and says why; its delayed actions and decisions still work', async () => {
  const company = await stack.company();
  const { chainId, workflowId } = await company.start([
    send('404404', { groupId: '501' }),
    udf('T'),
    udf('T', { delayInSeconds: '3000', comment: 'safety net' }),
  ]);
  const handle = stack.client.workflow.getHandle(workflowId);
  const retried = (attempts: number) =>
    company.until(
      chainId,
      ({ actions: [held] }) => held?.state === 'needs-attention' && held.attempts === attempts,
      `attempt ${attempts}`,
    );
  await retried(1);
  await company.steer(chainId, 'retry', 0);
  await retried(2);
  // The server ends a chain at 50 MiB of history. The signals wait for each other, because a workflow task has only 10 seconds.
  for (let sent = 0; sent < 22; sent += 1) {
    await handle.signal(steeringSignals.skip, 'x'.repeat(1_950_000));
    await eventually('the signal to be dealt with', async () => {
      const { pendingWorkflowTask } = (await handle.describe()).raw;
      return !pendingWorkflowTask || new Unmet(pendingWorkflowTask);
    });
  }
  await company.until(chainId, ({ historyFull }) => historyFull === true, 'its history to be full');

  const refused = await company.steer(chainId, 'retry', 0);
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /history of this chain is full/);
  await handle.signal(steeringSignals.retry, 0);
  await company.until(chainId, ({ ignored = [] }) => ignored.some((one) => /retry \[0\].*full/.test(one)), 'the word');
  assert.equal((await company.steer(chainId, 'runNow', 2)).status, 202);
  await company.action(chainId, 2, 'done');
  assert.equal((await company.steer(chainId, 'skip', 0)).status, 202);
  const ended = await company.ended(chainId);
  assert.deepEqual([ended.status, ...ended.actions.map(({ state }) => state)], ['completed', 'skipped', 'done', 'done']);
});

it('the contents of a long e-mail to many recipients are in the history once', async () => {
  const company = await stack.company();
  const to = Array.from({ length: 50 }, (_, n) => `r${n}@${company.companyId}.example`);
  const body = `begin ${'x'.repeat(100_000)} end`;
  const { chainId, workflowId } = await company.start([
    email(to, { body }),
    email(to.slice(0, 2), { body, delayInSeconds: '1' }),
  ]);
  const { actions } = await company.ended(chainId);
  assert.deepEqual(
    actions.map(({ state }) => state),
    ['done', 'done'],
  );
  const { historySize = 0 } = await stack.client.workflow.getHandle(workflowId).describe();
  assert(historySize < 1_000_000, `${historySize} bytes`);
  const [first] = await stack.mails(to[0] ?? '', 2);
  assert(first);
  assert((await stack.text(first)).Text.trim().endsWith('xx end'));
});

it('a delayed action takes more signals than may be pending at once', async () => {
  const company = await stack.company();
  const { chainId, workflowId } = await company.start([udf('T', { delayInSeconds: '3000' })]);
  const handle = stack.client.workflow.getHandle(workflowId);
  await company.action(chainId, 0, 'scheduled');
  await stack.stopWorker();
  await each(
    Array.from({ length: 40 }, (_, n) => 4000 + n),
    (seconds) => handle.signal(steeringSignals.reschedule, [0, seconds]),
  );
  await handle.signal(steeringSignals.runNow, 0);
  await stack.restartWorker();
  assert.equal((await company.ended(chainId)).status, 'completed');
});

it('a notifier stays within its limits of history and signals, even while nobody can be reached; everybody is notified once', async () => {
  const company = await stack.company();
  const { companyId } = company;
  const chains = Array.from({ length: 300 }, () => randomUUID());
  const time = new Date().toISOString();
  const heldUntil = new Date(Date.now() + 3_600_000).toISOString();
  const reason = { type: 'PlatformError', message: 'no route' };
  const cause: Cause = { id: 'cause', companyId, relayId: company.relayId, kind: 'needs-attention', reason };
  const workflowId = `relay-notifier:${companyId}:cause`;
  const status = {
    index: 0,
    action: 'platform_sendAssignment',
    relayId: company.relayId,
    state: 'needs-attention',
    heldUntil,
  } as const;
  const newsOf = (chainId: string): News => {
    const action = { ...status, error: { ...reason, retryable: true } };
    const facts = { chainId, relayId: company.relayId, index: 0, at: time, receivedAt: time };
    return {
      notice: { ...facts, kind: 'needs-attention', companyId, actions: [action] },
      member: { ...facts, state: 'needs-attention', heldUntil, message: reason.message },
    };
  };
  await stack.breakMail({ code: 451, to: companyId });
  await each(chains, (chainId) =>
    stack.client.workflow.signalWithStart('Notifier', {
      workflowId,
      taskQueue: stack.taskQueue,
      args: [cause, 3],
      signal: newsSignal,
      signalArgs: [newsOf(chainId)],
      typedSearchAttributes: [{ key: companyKey, value: companyId }],
    }),
  );
  const handle = stack.client.workflow.getHandle(workflowId);
  // No signal with these values has an effect.
  const wild = fc.sample(fc.jsonValue(), { numRuns: 30, seed: 12 });
  await each(wild, (value) => handle.signal('news', value));
  await each(wild, (value) => handle.signal('over', value));
  await stack.healMail();
  // The number of notices depends on how fast failures arrive; the first is sent at once.
  const told = (kind: string, count: number) =>
    eventually(`${kind} of ${count}`, async () => {
      const subjects = (await stack.inbox(company.admin))
        .map(({ Subject }) => Subject)
        .filter((subject) => subject.includes(kind));
      const sum = subjects.reduce((sum, subject) => sum + Number(/(\d+) chains/.exec(subject)?.[1] ?? 1), 0);
      assert(sum <= count, subjects.join());
      return sum === count || new Unmet(subjects);
    });
  await told('Needs attention', 300);
  await each(chains, (chainId) => handle.signal(overSignal, { chainId, index: 0, state: 'done', at: new Date().toISOString() }));
  await told('Recovered', 300);
  const ends = new Map<string, number>();
  for await (const { status } of stack.client.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
    ends.set(status.name, (ends.get(status.name) ?? 0) + 1);
  assert((ends.get('CONTINUED_AS_NEW') ?? 0) >= 1, JSON.stringify([...ends]));
  assert(!ends.has('TERMINATED') && !ends.has('FAILED'));
});

it('no signal that a person types stops a chain or its delayed action', async () => {
  const company = await stack.company();
  const { chainId, workflowId } = await company.start([send('404404', { groupId: '501' }), udf('T', { delayInSeconds: '3000' })]);
  await company.action(chainId, 0, 'needs-attention');
  const names = [...Object.values(steeringSignals), reportSignal, resumeSignal].map(({ name }) => name);
  const { actions } = await company.read(chainId);
  const status = { ...actions[1], state: 'pending' };
  const close = [{ actions: [{ ...status, error: 1 }] }, { actions: [{ ...status, result: { recipients: { toString: 1 } } }] }];
  const values = [...fc.sample(fc.jsonValue(), { numRuns: 100, seed: 12 }), undefined, ...close];
  const sent = [workflowId, `${workflowId}:1`].flatMap((id) =>
    values.map((value, place) => ({ id, value, name: names[place % names.length] ?? 'retry' })),
  );
  const harmless = sent.filter(({ value }) => (readSteering(value)?.index ?? 2) > 1);
  await each(harmless, ({ id, name, value }) => stack.client.workflow.getHandle(id).signal(name, value));
  // This JSON is deeper than the stack of a recursive reader. It is written as bytes, because no client can produce it.
  const encoding = Buffer.from('json/plain');
  const data = Buffer.from(`${'['.repeat(150_000)}${']'.repeat(150_000)}`);
  for (const signalName of names)
    await stack.client.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId },
      signalName,
      input: { payloads: [{ metadata: { encoding }, data }] },
    });
  const handle = stack.client.workflow.getHandle(workflowId);
  await handle.signal('no such signal', 1);
  for (const value of values.slice(0, 10)) await handle.query('status', value);
  await company.steer(chainId, 'runNow', 1);
  await company.action(chainId, 1, 'done');
  await company.steer(chainId, 'skip', 0);
  assert.equal((await company.ended(chainId)).status, 'completed');
});
