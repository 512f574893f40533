import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bulkVerbs,
  bulkVerbsFor,
  cancelRefusal,
  editsEarly,
  effectOf,
  isReopened,
  refusalOf,
  type SteeringVerb,
  steeringVerbs,
  verbsFor,
} from '../../../src/chain/allowed-verbs.js';
import { type ActionState, actionStates, chainStatuses } from '../../../src/chain/outcome.js';

const closedAt = '2026-07-01T12:00:00Z';
const again: SteeringVerb[] = ['retry', 'mend'];
const none: SteeringVerb[] = [];

/**
 * The verbs allowed for an action in an open chain, in a chain with a full history, and in a chain that ended by itself. No verb
 * is allowed after a cancellation or termination.
 */
const table: Record<ActionState, [open: SteeringVerb[], full: SteeringVerb[], closed: SteeringVerb[]]> = {
  pending: [['cancel'], ['cancel'], none],
  scheduled: [['mend', 'runNow', 'reschedule', 'cancel'], ['runNow', 'cancel'], none],
  running: [['cancel'], ['cancel'], none],
  retrying: [['cancel'], ['cancel'], none],
  'needs-attention': [['retry', 'mend', 'skip', 'cancel'], ['skip', 'cancel'], none],
  done: [none, none, none],
  skipped: [none, none, none],
  failed: [again, none, again],
  'partly-failed': [again, none, again],
  'not-run': [none, none, none],
  cancelled: [none, none, none],
};

describe('the verbs allowed', () => {
  for (const state of actionStates)
    it(`for an action that is ${state}`, () => {
      const [open, full, closed] = table[state];
      const action = { index: 1, state };
      for (const status of chainStatuses) {
        assert.deepEqual(verbsFor({ status }, action), open);
        assert.deepEqual(verbsFor({ status, historyFull: true }, action), full);
        const hasEndedByItself = status === 'completed' || status === 'failed';
        assert.deepEqual(verbsFor({ status, closedAt }, action), hasEndedByItself ? closed : none);
        assert.deepEqual(verbsFor({ status, closedAt, historyFull: true }, action), none);
        for (const verb of steeringVerbs) {
          const isOffered = verbsFor({ status }, action).includes(verb);
          assert.equal(refusalOf(verb, { status }, action) === undefined, isOffered);
          assert.equal(refusalOf(verb, { status, partial: true }, action), undefined, 'nobody knows its state');
          assert.equal(isReopened(verb, { status }, state), false);
        }
      }
    });
});

it('a status filter offers the verbs that fit all of its chains', () => {
  assert.deepEqual(bulkVerbsFor('failed'), ['retry', 'mend']);
  assert.deepEqual(bulkVerbsFor('running'), ['cancel', 'runNow']);
  for (const status of ['needs-attention', undefined]) assert.deepEqual(bulkVerbsFor(status), [...bulkVerbs]);
});

describe('the sentence that refuses', () => {
  const open = { chainId: 'c', status: 'running' } as const;
  const cases: [SteeringVerb, ActionState, Parameters<typeof refusalOf>[1], slug: string, detail: RegExp][] = [
    ['skip', 'done', open, 'already-ended', /^This has no effect any more: action 1 is done\.$/],
    [
      'runNow',
      'running',
      open,
      'not-steerable',
      /^At the moment, action 1 is running, but runNow needs the state scheduled\. Possible now: cancel\.$/,
    ],
    [
      'retry',
      'pending',
      open,
      'not-steerable',
      /needs the state needs-attention or failed or partly-failed\. Possible now: cancel\.$/,
    ],
    ['retry', 'scheduled', { ...open, historyFull: true }, 'not-steerable', /Possible now: runNow, cancel\.$/],
    [
      'retry',
      'needs-attention',
      { ...open, historyFull: true },
      'not-steerable',
      /history of this chain is full, .* skip or cancel, or/,
    ],
    [
      'retry',
      'cancelled',
      { ...open, status: 'cancelled', closedAt },
      'already-ended',
      /chain c is cancelled, .* send the request again\.$/,
    ],
    ['skip', 'failed', { ...open, status: 'failed', closedAt }, 'already-ended', /chain c is failed, action 1 is failed\.$/],
  ];
  for (const [verb, state, chain, slug, detail] of cases)
    it(`${verb} ${state}${chain.closedAt ? ', closed' : ''}${chain.historyFull ? ', full' : ''}`, () => {
      const refusal = refusalOf(verb, chain, { index: 1, state });
      assert.equal(refusal?.slug, slug);
      assert.match(refusal?.detail ?? '', detail);
    });

  it('a cancellation of a chain that has ended', () => {
    assert.equal(cancelRefusal(open), undefined);
    const detail = 'This has no effect any more: chain c is failed.';
    assert.deepEqual(cancelRefusal({ ...open, status: 'failed', closedAt }), { slug: 'already-ended', detail });
  });
});

describe('the effect of a verb', () => {
  const effects = { retry: 'redo', mend: 'redo', skip: 'decide', runNow: 'move', reschedule: 'move', cancel: 'cancel' };
  for (const verb of steeringVerbs)
    it(`${verb}: in the states of the table, and in no others`, () => {
      for (const state of actionStates) {
        const expected = state === 'needs-attention' && verb !== 'cancel' ? 'decide' : effects[verb];
        assert.equal(
          effectOf(verb, state),
          table[state][0].includes(verb) && !editsEarly(verb, state) ? expected : undefined,
          state,
        );
      }
    });

  it('an edit or a skip that waits for its action has an effect before the action is held, but not after its end', () => {
    for (const verb of ['mend', 'skip'] as const) {
      assert.equal(effectOf(verb, 'scheduled', true), 'decide');
      assert.equal(effectOf(verb, 'done', true), undefined);
    }
    assert.equal(effectOf('mend', 'failed', true), 'redo');
    assert.equal(effectOf('retry', 'scheduled', true), undefined);
  });
});
