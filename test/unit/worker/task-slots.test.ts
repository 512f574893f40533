import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { WorkflowTaskSlots } from '../../../src/worker/task-slots.js';

const atOnce = 24;
const endless = new AbortController().signal;

/** Requests this number of slots. @returns the number of slots given so far. */
function reserve(slots: WorkflowTaskSlots, count: number, signal = endless) {
  let given = 0;
  for (let n = 0; n < count; n += 1)
    slots.reserveSlot(undefined, signal).then(
      () => (given += 1),
      () => {},
    );
  return async () => {
    await setImmediate();
    return given;
  };
}

/** Runs an activity until the test releases it. */
function runActivity({ interceptor }: WorkflowTaskSlots, isLocal: boolean): () => Promise<unknown> {
  const context = { info: { isLocal } } as Parameters<ActivityInterceptorsFactory>[0];
  const { inbound } = interceptor(context);
  let end = () => {};
  const ran = inbound?.execute?.({ args: [], headers: {} }, () => new Promise<void>((resolve) => (end = resolve)));
  return async () => {
    end();
    await ran;
  };
}

describe('the slots for workflow tasks', () => {
  it('are limited to a few at once; the next slot is given when a task has ended', async () => {
    const slots = new WorkflowTaskSlots();
    const given = reserve(slots, atOnce + 2);
    assert.equal(await given(), atOnce);
    assert.equal(slots.tryReserveSlot(), null);
    slots.releaseSlot();
    assert.equal(await given(), atOnce + 1);
  });

  it('exclude tasks that wait for a local activity', async () => {
    const slots = new WorkflowTaskSlots();
    const given = reserve(slots, 2 * atOnce);
    const ends = [true, true, false].map((isLocal) => runActivity(slots, isLocal));
    assert.equal(await given(), atOnce + 2);
    for (const end of ends) await end();
    slots.releaseSlot();
    assert.equal(await given(), atOnce + 2);
  });

  it('are 400 at most', async () => {
    const slots = new WorkflowTaskSlots();
    for (let n = 0; n < 500; n += 1) runActivity(slots, true);
    assert.equal(await reserve(slots, 500)(), 400);
  });

  it('are not kept for a cancelled request', async () => {
    const slots = new WorkflowTaskSlots();
    const first = reserve(slots, atOnce);
    const leaving = new AbortController();
    const left = reserve(slots, 1, leaving.signal);
    const next = reserve(slots, 1);
    leaving.abort();
    slots.releaseSlot();
    assert.deepEqual([await first(), await left(), await next()], [atOnce, 0, 1]);
    await assert.rejects(slots.reserveSlot(undefined, leaving.signal), { name: 'AbortError' });
  });
});
