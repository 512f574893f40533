import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChainAction } from '../../../src/chain/chain.js';
import { type Facts, type Forecast, forecastChain } from '../../../src/chain/forecast.js';

const hold = { enabled: true, onFailure: 'hold' } as const;
const goOn = { enabled: true, onFailure: 'continue' } as const;

function action(more: Partial<ChainAction> = {}): ChainAction {
  return { action: 'platform_sendAssignment', index: 0, relayId: '4711', assignmentId: '1001', ...more } as ChainAction;
}

describe('forecastChain: one action', () => {
  const rows: [what: string, ChainAction, Facts, Forecast][] = [
    ['no obstacle', action(), { rule: hold }, { outcome: 'runs' }],
    [
      'its condition holds',
      action(),
      { rule: hold, condition: { holds: true, reason: 'status was "draft"' } },
      { outcome: 'runs' },
    ],
    [
      'its condition is not true',
      action(),
      { rule: hold, condition: { holds: false, reason: 'status was "sent"' } },
      { outcome: 'skipped', reason: 'status was "sent"' },
    ],
    [
      'its condition is not true, and the value stays hidden',
      action(),
      { rule: hold, condition: { holds: false } },
      { outcome: 'skipped', reason: 'its condition is not true' },
    ],
    [
      'a condition that is not true hides a mistake',
      action({ invalidData: 'sendRadius is blank' }),
      { rule: hold, condition: { holds: false, reason: 'status was "sent"' } },
      { outcome: 'skipped', reason: 'status was "sent"' },
    ],
    [
      'a mistake',
      action({ invalidData: 'sendRadius is blank' }),
      { rule: hold, condition: { holds: true } },
      { outcome: 'needs-attention', reason: 'sendRadius is blank' },
    ],
    [
      'cannotSchedule comes before the condition',
      action({ cannotSchedule: 'delayInSeconds is blank' }),
      { rule: hold, condition: { holds: false } },
      { outcome: 'needs-attention', reason: 'delayInSeconds is blank' },
    ],
    [
      'a mistake under onFailure: continue',
      action({ invalidData: 'sendRadius is blank' }),
      { rule: goOn },
      { outcome: 'failed', reason: 'sendRadius is blank' },
    ],
    [
      'the platform does not answer',
      action(),
      { rule: hold, condition: { error: 'no answer', retryable: true } },
      { outcome: 'unknown', reason: 'no answer' },
    ],
    [
      'the platform refuses',
      action(),
      { rule: hold, condition: { error: 'answered 404', retryable: false } },
      { outcome: 'needs-attention', reason: 'answered 404' },
    ],
    ['a disabled rule', action(), { rule: { ...hold, enabled: false } }, { outcome: 'skipped', reason: 'rule 4711 is disabled' }],
    [
      'a disabled rule with wrong data',
      action({ invalidData: 'is blank' }),
      { rule: { ...hold, enabled: false } },
      { outcome: 'skipped', reason: 'rule 4711 is disabled' },
    ],
    ['a deleted rule', action(), { rule: undefined }, { outcome: 'skipped', reason: 'rule 4711 is gone' }],
    [
      'an obstacle',
      action(),
      { rule: hold, obstacle: 'there is no ticket system' },
      { outcome: 'needs-attention', reason: 'there is no ticket system' },
    ],
  ];
  for (const [what, one, facts, expected] of rows) {
    it(what, () => assert.deepEqual(forecastChain([one], [facts]), [expected]));
  }
});

describe('forecastChain: after an action that needs attention', () => {
  const outcomes = (actions: ChainAction[], rule: Facts['rule']) =>
    forecastChain(
      actions,
      actions.map(() => ({ rule })),
    ).map(({ outcome }) => outcome);
  const actions = [
    action({ index: 0 }),
    action({ index: 1, invalidData: 'x' }),
    action({ index: 2, delaySeconds: 60 }),
    action({ index: 3 }),
    action({ index: 4, delaySeconds: 120, invalidData: 'x' }),
    action({ index: 5, delaySeconds: 60 }),
    action({ index: 6, delaySeconds: 120 }),
    action({ index: 7, delaySeconds: 0 }),
  ];

  it('a later action is held only if it is due at the same time', () =>
    assert.deepEqual(outcomes(actions, hold), [
      'runs',
      'needs-attention',
      'runs',
      'held',
      'needs-attention',
      'runs',
      'held',
      'held',
    ]));
  it('a held action names the action that it waits for', () =>
    assert.equal(
      forecastChain(
        actions,
        actions.map(() => ({ rule: hold })),
      )[6]?.reason,
      'the earlier action 4 needs attention',
    ));
  it('the chain goes on under onFailure: continue', () =>
    assert.deepEqual(outcomes(actions, goOn), ['runs', 'failed', 'runs', 'runs', 'failed', 'runs', 'runs', 'runs']));
});
