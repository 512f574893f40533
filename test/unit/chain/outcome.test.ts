import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ActionState, chainStatus, hasEnded, isUnknown, lastFoundNobody, retryHelps } from '../../../src/chain/outcome.js';

const open: ActionState[] = ['pending', 'scheduled', 'running', 'retrying', 'needs-attention'];
const ended: ActionState[] = ['done', 'skipped', 'failed', 'partly-failed', 'not-run', 'cancelled'];
const status = (states: readonly ActionState[]) => chainStatus(states.map((state) => ({ state })));

describe('hasEnded', () => {
  for (const state of open) it(`${state}: no`, () => assert.equal(hasEnded(state), false));
  for (const state of ended) it(`${state}: yes`, () => assert.equal(hasEnded(state), true));
});

describe('isUnknown', () => {
  const to = (sent: boolean, unknown?: boolean) => ({ deliveries: [{ sent, unknown }] });
  const cases: [status: Parameters<typeof isUnknown>[0], unknown: boolean][] = [
    [{}, false],
    [{ error: {} }, false],
    [{ error: { unknown: true } }, true],
    [{ error: {}, ...to(false) }, false],
    [{ error: {}, ...to(false, true) }, true],
    [{ error: {}, ...to(true, true) }, false],
  ];
  for (const [status, unknown] of cases) it(JSON.stringify(status), () => assert.equal(isUnknown(status), unknown));
});

describe('retryHelps', () => {
  for (const [error, helps] of [
    [undefined, true],
    [{ retryable: true }, true],
    [{ retryable: false }, false],
    [{ retryable: false, unknown: true }, true],
    [{ retryable: false, remedy: 'Change the number, then retry' }, true],
    [{ retryable: false, remedy: 'Retry' }, true],
    [{ retryable: false, remedy: 'Change cfName to another field' }, false],
    [{ retryable: false, remedy: 'Set retryable' }, false],
  ] as const)
    it(JSON.stringify(error ?? {}), () => assert.equal(retryHelps({ error }), helps));
});

describe('lastFoundNobody', () => {
  const action = 'platform_sendAssignment';
  const send = (recipients: number, assignmentId = '1') => ({ action, state: 'done', result: { recipients }, assignmentId });
  const mail = { action: 'sendEmails', state: 'done', result: { recipients: 1 }, assignmentId: '1' };
  const held = { action, state: 'needs-attention', assignmentId: '1' };
  const cases: [actions: Parameters<typeof lastFoundNobody>[0], isUnfound: boolean][] = [
    [[mail], false],
    [[send(0)], true],
    [[send(0), mail, held], true],
    [[send(0), send(4)], false],
    [[send(4), send(0)], true],
    [[send(0), send(4, '2')], true],
  ];
  for (const [actions, isUnfound] of cases)
    it(`${JSON.stringify(actions)}: ${isUnfound}`, () => assert.equal(lastFoundNobody(actions), isUnfound));
});

describe('chainStatus', () => {
  const cases: [states: ActionState[], status: string][] = [
    [[], 'completed'],
    [['done'], 'completed'],
    [['done', 'skipped'], 'completed'],
    [['partly-failed'], 'completed'],
    [['cancelled', 'done'], 'completed'],
    [['done', 'failed'], 'failed'],
    [['failed', 'not-run'], 'failed'],
    [['not-run'], 'failed'],
    [['failed', 'cancelled', 'partly-failed'], 'failed'],
    [['pending'], 'running'],
    [['done', 'scheduled'], 'running'],
    [['running', 'failed'], 'running'],
    [['retrying'], 'running'],
    [['needs-attention'], 'needs-attention'],
    [['running', 'needs-attention', 'failed', 'scheduled'], 'needs-attention'],
  ];
  for (const [states, expected] of cases) it(`${states.join(', ')}: ${expected}`, () => assert.equal(status(states), expected));

  it('depends only on the set of states, not on their order or number', () => {
    const states = fc.array(fc.constantFrom(...open, ...ended), { maxLength: 6 });
    fc.assert(
      fc.property(states, (states) => {
        assert.equal(status([...states].reverse()), status(states));
        assert.equal(status([...states, ...states]), status(states));
        const isOpen = states.some((state) => !hasEnded(state));
        assert.equal(['running', 'needs-attention'].includes(status(states)), isOpen);
      }),
    );
  });
});
