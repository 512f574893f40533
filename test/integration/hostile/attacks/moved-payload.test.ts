/** A writer to Temporal's database moves one company's payload into another company's workflow. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Payload } from '@temporalio/common';
import { eventually, startStack, Unmet, udf } from '../../../end-to-end/stack.js';

const stack = await startStack();

/** Every encrypted payload in the history. */
function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  const { metadata } = value as Payload;
  if (String(metadata?.encoding) === 'binary/encrypted') return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}

it('each payload of a chain is encrypted for its company', async () => {
  const company = await stack.company();
  const { chainId, workflowId } = await company.start([
    udf('T'),
    udf('T', { delayInSeconds: '1' }),
    udf('T', { comment: 'last' }),
  ]);
  await company.ended(chainId);
  const handle = stack.client.workflow.getHandle(workflowId);
  const payloads = payloadsIn([await handle.fetchHistory(), (await handle.describe()).raw]);
  assert(payloads.length > 5);
  for (const { metadata } of payloads) assert.equal(String(metadata?.['encryption-company']), company.companyId);
});

it("a chain's input runs nothing after a move into another company's workflow", async () => {
  const [victim, thief] = [await stack.company(), await stack.company()];
  const ticket = `T-${randomUUID()}`;
  const { chainId, workflowId } = await victim.start([udf(ticket)]);
  await victim.ended(chainId);
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input ?? assert.fail();
  const moved = `relay:${thief.companyId}:${randomUUID()}`;
  await stack.client.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId: moved,
    workflowType: { name: 'RuleChain' },
    taskQueue: { name: stack.taskQueue },
    requestId: randomUUID(),
    input,
  });
  const handle = stack.client.workflow.getHandle(moved);
  try {
    const says = new RegExp(
      `payload belongs to company ${victim.companyId}, but the workflow belongs to company ${thief.companyId}`,
    );
    await eventually('the worker to refuse it', async () => says.test(stack.logged()) || new Unmet('not in the log'));
    const { status } = await fetch(`${stack.links.api}/co/${thief.companyId}/chains/${moved.split(':').at(-1)}`, {
      headers: { authorization: 'Bearer admin-token-of-the-tests' },
    });
    assert.equal(status, 503);
    assert.equal((await stack.calls(ticket)).length, 1, 'the chain of the victim alone');
  } finally {
    // Otherwise the stack would wait for a replay that cannot succeed.
    await stack.client.workflowService.deleteWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: moved },
    });
    await eventually('it to be deleted', () =>
      handle.describe().then(
        () => new Unmet('still there'),
        () => true,
      ),
    );
  }
});
