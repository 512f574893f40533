import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionStatus } from '../../../src/chain/action-status.js';
import type { BulkVerb } from '../../../src/chain/allowed-verbs.js';
import type { ActionState } from '../../../src/chain/outcome.js';
import { type ActionFilter, actionsMeant, addProgress, noProgress } from '../../../src/contract/bulk.js';

const action = (index: number, state: ActionState, assignmentId: string, type?: string): ActionStatus => ({
  index,
  action: 'ticket_updateUDF',
  relayId: index % 2 === 0 ? '7' : '8',
  assignmentId,
  state,
  ...(type && { error: { type, message: '', retryable: false } }),
});
const actions = [
  action(0, 'done', 'A'),
  action(1, 'needs-attention', 'A', 'PlatformError'),
  action(2, 'needs-attention', 'B', 'MailError'),
  action(3, 'pending', 'A', 'PlatformError'),
  action(4, 'scheduled', 'B'),
  action(5, 'failed', 'A', 'PlatformError'),
];

const chain = { status: 'needs-attention', actions } as const;

describe('the selected actions', () => {
  const cases: [verb: BulkVerb, filter: ActionFilter, indexes: number[], whole?: true][] = [
    ['retry', {}, [1, 2]],
    ['skip', { assignmentId: 'A' }, [1]],
    ['retry', { reason: 'MailError' }, [2]],
    ['retry', { relayId: '8' }, [1]],
    ['retry', { relayId: '8', reason: 'MailError' }, []],
    ['retry', { failed: true }, [5]],
    ['mend', {}, [1, 2]],
    ['mend', { failed: true }, [5]],
    ['retry', { failed: true, reason: 'MailError' }, []],
    ['runNow', {}, [4]],
    ['runNow', { assignmentId: 'A' }, []],
    ['cancel', {}, [1, 2, 3, 4], true],
    ['cancel', { assignmentId: 'A' }, [1, 3]],
    ['cancel', { reason: 'PlatformError' }, [1]],
  ];
  for (const [verb, filter, indexes, whole = false] of cases)
    it(`${verb} ${JSON.stringify(filter)}`, () => assert.deepEqual(actionsMeant(verb, filter, chain), { indexes, whole }));

  it('are only the actions that are held for the selected cause', () => {
    assert.deepEqual(actionsMeant('retry', { causeId: 'c' }, chain, [2, 3]), { indexes: [2], whole: false });
    assert.deepEqual(actionsMeant('retry', { causeId: 'c' }, chain, []), { indexes: [], whole: false });
  });

  it('of chains given by id are the held actions of an open chain, and the failed actions of a closed chain', () => {
    const failed = { ...chain, status: 'failed', closedAt: '2026-07-01T12:00:00Z' } as const;
    for (const verb of ['retry', 'mend'] as const) {
      assert.deepEqual(actionsMeant(verb, { chosen: true }, chain).indexes, [1, 2]);
      assert.deepEqual(actionsMeant(verb, { chosen: true }, failed).indexes, [5]);
    }
  });

  it('for “run now” are the actions that are due next, because later actions may depend on their results', () => {
    const at = (runAt: string, index: number) => ({ ...action(index, 'scheduled', 'A'), runAt });
    const [soon, late] = ['2026-07-01T12:00:00.000Z', '2026-07-01T12:30:00.000Z'];
    const waiting = { status: 'running', actions: [at(late, 0), at(soon, 1), at(soon, 2)] } as const;
    assert.deepEqual(actionsMeant('runNow', {}, waiting).indexes, [1, 2]);
  });

  it('exclude actions for which the chain refuses the verb', () => {
    assert.deepEqual(actionsMeant('retry', {}, { ...chain, historyFull: true }).indexes, []);
    assert.deepEqual(actionsMeant('skip', {}, { ...chain, historyFull: true }).indexes, [1, 2]);
  });

  it('are none, and not the whole chain, if every action has ended', () =>
    assert.deepEqual(actionsMeant('cancel', {}, { ...chain, actions: [action(0, 'done', 'A')] }), { indexes: [], whole: false }));
});

it('progress adds up, with the first ten failures', () => {
  const failed = { ...noProgress, done: 1, failed: 1, failures: [{ workflowId: 'w', error: 'e' }] };
  const sum = Array.from({ length: 12 }, () => failed).reduce(addProgress, {
    ...noProgress,
    done: 2,
    steered: 1,
    actions: 3,
    unchanged: 1,
  });
  assert.deepEqual([sum.done, sum.steered, sum.actions, sum.unchanged, sum.failed, sum.failures.length], [14, 1, 3, 1, 12, 10]);
});
