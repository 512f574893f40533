/** How the worker is set up, where the SDK's own setting would do harm. */

import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { Worker } from '@temporalio/worker';
import { startStack } from './stack.js';

const create = mock.method(Worker, 'create');
await startStack();

it('a workflow task may take a minute: the SDK by itself ends the process after 5 seconds', async () => {
  const worker = await create.mock.calls[0]?.result;
  assert.equal(worker?.options.isolateExecutionTimeoutMs, 60_000);
});
