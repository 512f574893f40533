import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Client } from '@temporalio/client';
import { noProgress } from '../../../src/contract/bulk.js';
import { readBulk } from '../../../src/temporal/bulk.js';

it('a finished bulk order is not queried, since a query fails without a worker', async () => {
  const handle = {
    describe: async () => ({
      memo: { verb: 'skip', filter: {}, count: 1, by: 'admin' },
      workflowId: 'relay-bulk:b',
      status: { name: 'COMPLETED' },
      startTime: new Date(0),
      closeTime: new Date(1),
    }),
    result: async () => ({ ...noProgress, done: 1 }),
    query: async () => assert.fail('it was queried'),
  };
  const client = {
    workflow: { getHandle: () => handle },
    withDeadline: (_deadline: number, run: () => unknown) => run(),
  } as unknown as Client;
  const bulk = await readBulk({ client, links: { api: 'http://api', webUi: 'http://ui' } }, 'b');
  assert.deepEqual([bulk?.status, bulk?.progress?.done], ['completed', 1]);
});
