import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { steerChains } from '../../../src/activities/steer-chains.js';
import type { BulkProgress } from '../../../src/contract/chain-resource.js';

const store = {
  usage: {
    of: () => assert.fail('nothing is counted'),
    add: () => assert.fail('nothing is counted'),
    settle: () => assert.fail('nothing is counted'),
  },
  settings: { of: () => assert.fail('nothing is mended') },
  causes: { heldFor: () => assert.fail('no cause is named') },
  chains: { steered: async () => {} },
};
const order = { bulkId: 'b', verb: 'skip', actions: {}, by: 'admin' } as const;

it('a second attempt counts the chains that the first attempt steered, and does not steer them again', async () => {
  const held = new Set(['one', 'two']);
  let answers = false;
  const handleOf = (workflowId: string) => ({
    describe: async () => ({ status: { name: 'RUNNING' }, raw: {} }),
    async query() {
      if (workflowId === 'two' && !answers) throw new Error('no answer');
      return { actions: [{ index: 0, state: held.has(workflowId) ? 'needs-attention' : 'skipped' }] };
    },
    signal: async () => held.delete(workflowId),
  });
  const client = {
    workflow: { getHandle: handleOf },
    withDeadline: (_deadline: number, run: () => unknown) => run(),
  } as unknown as Client;
  const steer = steerChains({ client, store, log: pino({ level: 'silent' }) });

  const first = new MockActivityEnvironment({ attempt: 1 });
  let heartbeatDetails: unknown;
  first.on('heartbeat', (details: unknown) => {
    heartbeatDetails = details;
  });
  await assert.rejects(
    first.run(() => steer({ order, workflowIds: ['one', 'two'] })),
    /no answer/,
  );
  answers = true;
  const second = new MockActivityEnvironment({ attempt: 2, heartbeatDetails });
  const progress: BulkProgress = await second.run(() => steer({ order, workflowIds: ['one', 'two'] }));
  assert.deepEqual([progress.done, progress.steered, progress.unchanged], [2, 2, 0]);
});

it('a new worker counts the chains that the lost worker steered', async () => {
  const steered = [{ at: '2026-07-01T12:00:00.000Z', by: 'admin (bulk b)', verb: 'skip' }];
  const closed = new Date(Date.now() + 1000);
  const chains: Record<string, [status: string, action: object]> = {
    open: ['RUNNING', { index: 0, state: 'skipped', steered }],
    closed: ['COMPLETED', { index: 0, state: 'skipped', steered }],
    another: ['COMPLETED', { index: 0, state: 'skipped' }],
  };
  const handleOf = (workflowId: string) => ({
    describe: async () => ({ status: { name: chains[workflowId]?.[0] }, closeTime: closed, raw: {} }),
    query: async () => ({ actions: [chains[workflowId]?.[1]] }),
  });
  const client = {
    workflow: { getHandle: handleOf },
    withDeadline: (_deadline: number, run: () => unknown) => run(),
  } as unknown as Client;
  const steer = steerChains({ client, store, log: pino({ level: 'silent' }) });
  const again = new MockActivityEnvironment({ attempt: 2 });
  const progress: BulkProgress = await again.run(() => steer({ order, workflowIds: Object.keys(chains) }));
  assert.deepEqual([progress.steered, progress.actions, progress.unchanged], [2, 2, 1]);
});

it("a chain that cannot be steered is logged with the bulk's id, without the requester", async () => {
  const lines: string[] = [];
  const getHandle = () => ({ describe: () => Promise.reject(new Error('no answer')) });
  const client = {
    workflow: { getHandle },
    withDeadline: (_deadline: number, run: () => unknown) => run(),
  } as unknown as Client;
  const steer = steerChains({ client, store, log: pino({}, { write: (line) => lines.push(line) }) });
  const last = new MockActivityEnvironment({ attempt: 5 });
  const by = { ...order, by: 'admin dana', actions: { assignmentId: 'A-1' } };
  const progress: BulkProgress = await last.run(() => steer({ order: by, workflowIds: ['one'] }));
  assert.equal(progress.failed, 1);
  assert.match(lines[0] ?? '', /"workflowId":"one","bulkId":"b","verb":"skip"/);
  assert.doesNotMatch(lines[0] ?? '', /dana|A-1/);
});
