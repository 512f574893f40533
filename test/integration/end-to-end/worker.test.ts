/** The worker's settings that differ from the SDK's defaults, because a default would do harm. */

import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { Worker } from '@temporalio/worker';
import { startStack } from '../../end-to-end/stack.js';

const create = mock.method(Worker, 'create');
await startStack();

it("a workflow task may take a minute: with the SDK's default the process ends after 5 seconds", async () => {
  const worker = await create.mock.calls[0]?.result;
  assert.equal(worker?.options.isolateExecutionTimeoutMs, 60_000);
});
