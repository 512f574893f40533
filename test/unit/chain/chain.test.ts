import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Chain,
  type ChainAction,
  chainWorkflowId,
  delayedWorkflowId,
  dueAgain,
  dueAt,
  idempotencyKey,
  initialStatus,
  planChain,
  receivedOn,
  toRedo,
} from '../../../src/chain/chain.js';
import type { ActionState } from '../../../src/chain/outcome.js';

const action = (index: number, more: Partial<Omit<ChainAction, 'action'>> = {}): ChainAction => ({
  action: 'platform_sendAssignment',
  index,
  relayId: '7',
  ...more,
});
const delayed = (...delays: (number | undefined)[]) =>
  delays.map((delaySeconds, index) => action(index, delaySeconds === undefined ? {} : { delaySeconds }));
const chainOf = (actions: ChainAction[]): Chain => ({
  companyId: 'acme',
  chainId: 'c-1',
  receivedAt: '2024-03-05T16:07:09.500Z',
  actions,
  retryBudgetSeconds: 600,
  attentionWindowSeconds: 259_200,
});

describe('ids', () => {
  const chain = { companyId: 'acme', chainId: 'c-1' };
  it('of the chain', () => assert.equal(chainWorkflowId(chain), 'relay:acme:c-1'));
  it('of delayed actions', () => assert.equal(delayedWorkflowId(chain, 3), 'relay:acme:c-1:3'));
  it('of an effect', () => assert.equal(idempotencyKey(chain, 12), 'relay:acme:c-1/12'));
});

describe('receivedOn', () => {
  const chain = chainOf([]);
  const apart = (milliseconds: number) => receivedOn(new Date(Date.parse(chain.receivedAt) + milliseconds), chain);
  for (const milliseconds of [0, 12, -900, 60_000, -60_000])
    it(`trusts a clock that is ${milliseconds} ms off`, () => assert.equal(apart(milliseconds), chain));
  it("uses the start of the chain if the API's clock is wrong", () => {
    assert.deepEqual(apart(-3_600_000), { ...chain, receivedAt: '2024-03-05T15:07:09.500Z' });
    assert.deepEqual(apart(60_001), { ...chain, receivedAt: '2024-03-05T16:08:09.501Z' });
  });
});

describe('planChain', () => {
  const cases: [delays: (number | undefined)[], immediate: number[], groups: number[][]][] = [
    [[undefined], [0], []],
    [[undefined, 0, undefined], [0, 1, 2], []],
    [[60], [], [[0]]],
    [[undefined, 1800], [0], [[1]]],
    [[1800, undefined], [1], [[0]]],
    [
      [60, 120, 60, undefined, 120, 0],
      [3, 5],
      [
        [0, 2],
        [1, 4],
      ],
    ],
    [[120, 60], [], [[0], [1]]],
  ];
  for (const [delays, immediate, groups] of cases) {
    it(`${JSON.stringify(delays)}: ${JSON.stringify(immediate)} now, ${JSON.stringify(groups)} later`, () => {
      const plan = planChain(delayed(...delays));
      const indexes = (actions: ChainAction[]) => actions.map(({ index }) => index);
      assert.deepEqual(indexes(plan.immediate), immediate);
      assert.deepEqual(plan.delayed.map(indexes), groups);
    });
  }

  it('has every action once, in array order, with one delay for each group', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(undefined, 0, 1, 2, 3)), (delays) => {
        const actions = delayed(...delays);
        const plan = planChain(actions);
        const groups = [plan.immediate, ...plan.delayed];
        for (const group of groups) {
          assert.deepEqual(
            group,
            group.toSorted((a, b) => a.index - b.index),
          );
          assert.ok(new Set(group.map(({ delaySeconds = 0 }) => delaySeconds)).size <= 1);
        }
        assert.deepEqual(
          groups.flat().toSorted((a, b) => a.index - b.index),
          actions,
        );
        assert.equal(new Set(plan.delayed.map(([first]) => first?.delaySeconds)).size, plan.delayed.length);
      }),
    );
  });
});

describe('dueAt', () => {
  for (const [delaySeconds, due] of [
    [undefined, '2024-03-05T16:07:09.500Z'],
    [0, '2024-03-05T16:07:09.500Z'],
    [1800, '2024-03-05T16:37:09.500Z'],
    [366 * 86_400, '2025-03-06T16:07:09.500Z'],
  ] as const) {
    it(`after ${delaySeconds} seconds: ${due}`, () => {
      const at = dueAt(chainOf([]), delaySeconds === undefined ? {} : { delaySeconds });
      assert.equal(new Date(at).toISOString(), due);
    });
  }
});

describe('initialStatus', () => {
  const common = { action: 'platform_sendAssignment', relayId: '7' };
  const now = '2024-03-05T16:07:09.500Z';
  const later = '2024-03-05T16:08:09.500Z';
  const chain = chainOf([
    action(0),
    action(1, { delaySeconds: 0, comment: 'note', assignmentId: '1001', invalidData: 'x' }),
    action(2, { delaySeconds: 60 }),
    action(3, { delaySeconds: 60, comment: '' }),
  ]);
  const expected = [
    { ...common, index: 0, state: 'pending', runAt: now },
    { ...common, index: 1, comment: 'note', assignmentId: '1001', state: 'pending', runAt: now },
    { ...common, index: 2, state: 'scheduled', workflowId: 'relay:acme:c-1:2', runAt: later },
    { ...common, index: 3, comment: '', state: 'scheduled', workflowId: 'relay:acme:c-1:2', runAt: later },
  ];
  for (const [index, one] of chain.actions.entries()) {
    it(`of action ${index}`, () => assert.deepEqual(JSON.parse(JSON.stringify(initialStatus(chain, one))), expected[index]));
  }
});

describe('toRedo', () => {
  const later = { delaySeconds: 60 };
  const actions = [action(0), action(1), action(2, later), action(3), action(4, later), action(5)];
  const cases: [what: string, states: ActionState[], index: number, redone: number[]][] = [
    [
      'the action that stopped its sequence, and the actions that did not run',
      ['done', 'failed', 'done', 'not-run', 'done', 'not-run'],
      1,
      [1, 3, 5],
    ],
    ['no actions that another failed action stopped', ['failed', 'done', 'done', 'failed', 'done', 'not-run'], 0, [0]],
    ['no actions that ended in another way', ['failed', 'cancelled', 'done', 'not-run', 'done', 'done'], 0, [0, 3]],
    ['delayed actions of the same delay only', ['failed', 'not-run', 'failed', 'not-run', 'not-run', 'not-run'], 2, [2, 4]],
    ['an e-mail that missed a recipient', ['done', 'partly-failed', 'done', 'done', 'done', 'done'], 1, [1]],
    ['no action outside the chain', ['done', 'done', 'done', 'done', 'done', 'done'], 9, []],
  ];
  for (const [what, states, index, redone] of cases) {
    it(what, () => {
      const statuses = states.map((state, index) => ({ index, state }));
      assert.deepEqual(
        toRedo(actions, statuses, index).map((one) => one.index),
        redone,
      );
    });
  }
});

describe('an action that waited for a pause', () => {
  const received = '2026-07-01T12:00:00.000Z';
  const action = { index: 0, action: 'sendEmails', relayId: '7', delaySeconds: 60 } as ChainAction;
  const chain: Chain = {
    companyId: 'acme',
    chainId: 'c',
    receivedAt: received,
    retryBudgetSeconds: 1,
    attentionWindowSeconds: 1,
    actions: [action],
    dueTimes: [{ at: Date.parse(received) + 30_000, needs: ['mail'] }],
  };
  const status = initialStatus(chain, action);
  const pause = { what: 'mail', since: received, until: '2026-07-01T13:00:00.000Z' } as const;

  it('keeps its interval to the first action that waited', () =>
    assert.equal(dueAgain(chain, action, status, pause), Date.parse('2026-07-01T13:00:30Z')));
  it('is due now if a person set its time, or if the chain has no delays', () => {
    const steered = [{ at: received, by: 'ada', verb: 'runNow' as const }];
    assert.equal(dueAgain(chain, action, { ...status, steered }, pause), 0);
    assert.equal(dueAgain({ ...chain, dueTimes: undefined }, action, status, pause), 0);
  });
});
