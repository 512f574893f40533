import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { actionStates } from '../../src/chain/outcome.js';
import { actionsFor, verbsFor } from '../../src/console/verbs.js';

const open = { status: 'needs-attention' } as const;
const closed = (status: 'completed' | 'failed' | 'cancelled' | 'terminated') => ({ status, closedAt: '2026-07-01T12:00:00Z' });

describe('the verbs beside an action', () => {
  it('are those that have an effect on it', () => {
    assert.deepEqual(verbsFor(open, 'needs-attention'), ['retry', 'mend', 'skip', 'cancel']);
    assert.deepEqual(verbsFor(open, 'scheduled'), ['runNow', 'reschedule', 'cancel']);
    assert.deepEqual(verbsFor(open, 'pending'), ['cancel']);
    assert.deepEqual(verbsFor(open, 'failed'), ['retry', 'mend']);
    for (const state of ['done', 'skipped', 'cancelled', 'not-run'] as const) assert.deepEqual(verbsFor(open, state), []);
  });

  it('are, once the chain has ended, to retry or mend what failed, unless somebody ended it', () => {
    assert.deepEqual(verbsFor(closed('failed'), 'failed'), ['retry', 'mend']);
    assert.deepEqual(verbsFor(closed('completed'), 'partly-failed'), ['retry', 'mend']);
    for (const status of ['cancelled', 'terminated'] as const)
      for (const state of actionStates) assert.deepEqual(verbsFor(closed(status), state), []);
  });

  it('are neither retry, mend nor move where the history is full', () => {
    assert.deepEqual(verbsFor({ ...open, historyFull: true }, 'needs-attention'), ['skip', 'cancel']);
    assert.deepEqual(verbsFor({ ...open, historyFull: true }, 'scheduled'), ['runNow', 'cancel']);
  });
});

it('of a chosen chain, what is held is retried, and what has failed once the whole has', () => {
  const action = (index: number, state: (typeof actionStates)[number]) => ({ index, state, action: 'sendEmails', relayId: '1' });
  const actions = [action(0, 'failed'), action(1, 'needs-attention'), action(2, 'scheduled'), action(3, 'done')];
  const indexes = (verb: 'retry' | 'skip' | 'cancel', chain: Parameters<typeof actionsFor>[1]) =>
    actionsFor(verb, chain).map(({ index }) => index);
  assert.deepEqual(indexes('retry', { ...open, actions }), [1]);
  assert.deepEqual(indexes('skip', { ...open, actions }), [1]);
  assert.deepEqual(indexes('cancel', { ...open, actions }), [1, 2]);
  assert.deepEqual(indexes('retry', { ...closed('failed'), actions: actions.slice(0, 1) }), [0]);
  assert.deepEqual(indexes('skip', { ...closed('failed'), actions }), []);
});
