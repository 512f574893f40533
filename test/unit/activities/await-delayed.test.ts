import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Client, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, RetryState, TerminatedFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { awaitDelayed } from '../../../src/activities/await-delayed.js';

/** One attempt to await a workflow. @param result - the result of a closed workflow; absent if it still runs. */
function attempt(result?: () => Promise<unknown>, attempt = 1): Promise<unknown> {
  const handle = {
    describe: async () => (result ? { closeTime: new Date() } : {}),
    result: result ?? (() => new Promise(() => {})),
  };
  const client = { workflow: { getHandle: () => handle } } as unknown as Client;
  return new MockActivityEnvironment({ attempt }).run(() => awaitDelayed({ client })({ workflowId: 'relay:acme:c:1' }));
}

const closedWith = (cause: Error) => () =>
  Promise.reject(new WorkflowFailedError('failed', cause, RetryState.NON_RETRYABLE_FAILURE));

async function failure(...of: Parameters<typeof attempt>): Promise<ApplicationFailure> {
  const error = await attempt(...of).catch((error: unknown) => error);
  assert(error instanceof ApplicationFailure);
  return error;
}

describe('awaiting a delayed action that was started before a reset', () => {
  it('returns the outcomes of its actions', async () => {
    const done = [{ index: 1, state: 'done' }];
    assert.deepEqual(await attempt(async () => done), done);
  });

  it('holds no worker slot while the workflow runs: the attempt fails and is repeated at growing intervals', async () => {
    for (const [number, delay] of [
      [1, 1000],
      [4, 8000],
      [500, 600_000],
    ]) {
      const { type, nonRetryable, nextRetryDelay } = await failure(undefined, number);
      assert.deepEqual([type, nonRetryable, nextRetryDelay], ['DelayedActionRunning', false, delay]);
    }
  });

  it('fails as the workflow failed, with the outcomes of its actions', async () => {
    const actions = [{ index: 1, state: 'failed' }];
    const { type, nonRetryable, details } = await failure(
      closedWith(ApplicationFailure.nonRetryable('1 of 1', 'ActionsFailed', actions)),
    );
    assert.deepEqual([type, nonRetryable, details], ['ActionsFailed', true, [actions]]);
  });

  it('says that the workflow was cancelled or ended in another way', async () => {
    for (const [cause, expected] of [
      [new CancelledFailure('cancelled'), 'DelayedActionCancelled'],
      [new TerminatedFailure('terminated'), 'DelayedActionEnded'],
    ] as const) {
      const { type, nonRetryable } = await failure(closedWith(cause));
      assert.deepEqual([type, nonRetryable], [expected, true]);
    }
  });
});
