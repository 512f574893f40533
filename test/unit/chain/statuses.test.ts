import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Chain, ChainAction } from '../../../src/chain/chain.js';
import { reported, Statuses } from '../../../src/chain/statuses.js';

const now = '2026-07-01T12:00:30.000Z';
const action = { relayId: '7', action: 'ticket_updateUDF', ticketId: 'T', field: 'F', value: 'v' } as ChainAction;
const chain: Chain = {
  companyId: 'acme',
  chainId: 'c',
  receivedAt: '2026-07-01T12:00:00.000Z',
  retryBudgetSeconds: 1,
  attentionWindowSeconds: 3600,
  actions: [
    { ...action, index: 0 },
    { ...action, index: 1, delaySeconds: 60 },
  ],
};
const statuses = () => new Statuses(chain, () => now);

describe('statuses', () => {
  it('begin as pending or scheduled, as the chain says', () => {
    const { actions, open } = statuses();
    assert.deepEqual(
      actions.map(({ state, runAt }) => [state, runAt]),
      [
        ['pending', '2026-07-01T12:00:00.000Z'],
        ['scheduled', '2026-07-01T12:01:00.000Z'],
      ],
    );
    assert.deepEqual(
      open.map(({ index }) => index),
      [0, 1],
    );
  });

  it('lose the fields of a hold or a wait when the action ends, but keep the last error', () => {
    const all = statuses();
    const error = { type: 'E', message: 'm', retryable: false };
    all.update(0, { state: 'needs-attention', error, heldUntil: now, nextAttemptAt: now, pausedSince: now, reason: 'r' });
    all.end(0, { state: 'done' });
    const { heldUntil, nextAttemptAt, pausedSince, reason, endedAt } = all.of(0);
    assert.deepEqual([heldUntil, nextAttemptAt, pausedSince, reason], [undefined, undefined, undefined, undefined]);
    assert.deepEqual([endedAt, all.of(0).error, all.hasEnded(0)], [now, error, true]);
  });

  it('can end all open actions, and no other action', () => {
    const all = statuses();
    all.end(0, { state: 'done' });
    all.endRest({ state: 'cancelled' });
    assert.deepEqual(
      all.actions.map(({ state }) => state),
      ['done', 'cancelled'],
    );
    assert.deepEqual(all.open, []);
  });

  it('keep the last twenty decisions', () => {
    const all = statuses();
    for (let count = 0; count < 21; count += 1) all.steer(0, `p${count}`, 'retry');
    all.steer(0, 'ada', 'mend', ['value']);
    const { steered = [] } = all.of(0);
    assert.deepEqual([steered.length, steered[0]?.by], [20, 'p2']);
    assert.deepEqual(steered.at(-1), { at: now, by: 'ada', verb: 'mend', fields: ['value'] });
  });

  it('keep the last three signals without effect, and change with each', () => {
    const all = statuses();
    const before = all.version;
    for (const signal of ['a', 'b', 'c', 'd']) all.ignore(signal);
    assert.deepEqual(
      all.ignored,
      ['b', 'c', 'd'].map((signal) => `2026-07-01 12:00:30 UTC, ${signal}`),
    );
    assert.deepEqual([all.ignores, all.version], [4, before + 4]);
  });

  it('have no action that the chain does not have', () => {
    assert.equal(statuses().has(2), false);
    assert.throws(() => statuses().of(2), /no action 2/);
  });
});

it('a delayed action reports a hold, a pause, a new time, a cancellation, and a decision that is not about a hold', () => {
  const first = reported({ state: 'running', runAt: now });
  const steered = [{ at: now, by: 'ada', verb: 'retry' as const }];
  for (const change of [
    { state: 'needs-attention' },
    { pausedSince: now },
    { runAt: 'later' },
    { state: 'cancelled' },
    { steered },
  ] as const)
    assert.notEqual(reported({ state: 'running', runAt: now, ...change }), first, JSON.stringify(change));
  for (const state of ['retrying', 'done', 'failed'] as const) assert.equal(reported({ state, runAt: now }), first);
  const held = { state: 'needs-attention', runAt: now } as const;
  assert.equal(reported({ ...held, steered }), reported(held));
});
