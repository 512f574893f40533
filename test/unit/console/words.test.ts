import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pauseWords } from '../../../src/console/when.js';
import {
  actionOfCause,
  bestVerb,
  failureTitle,
  isFutile,
  progressWords,
  remedyWords,
  stateWords,
  toneOf,
} from '../../../src/console/words.js';

describe('the badge of an action', () => {
  for (const [state, result, words, tone] of [
    ['done', undefined, 'done', 'good'],
    ['done', { recipients: 3 }, 'done', 'good'],
    ['done', { recipients: 0 }, 'done, reached nobody', 'wait'],
    ['needs-attention', { recipients: 0 }, 'needs attention', 'wait'],
  ] as const)
    it(`is ${words} (${tone}) if it is ${state} and reached ${result?.recipients ?? 'an unknown number'}`, () => {
      assert.equal(stateWords(state, result), words);
      assert.equal(toneOf(state, result), tone);
    });
});

describe('the title of a failure', () => {
  const missing = 'POST http://platform.example/assignments/2001/send answered 404: no assignment 2001';
  for (const [type, message, assignmentId, title, remedy] of [
    ['PlatformError', missing, '2001', 'Assignment 2001 does not exist', /^Fix the assignment number first/],
    ['PlatformError', missing, undefined, 'The assignment does not exist', /^Fix the assignment number first/],
    [
      'PlatformError',
      'answered 422: bad',
      '2001',
      'The assignment platform refused the request or did not answer',
      /^Fix the cause first/,
    ],
    ['TicketingError', 'answered 404', '2001', 'The ticket system refused the request or did not answer', /^Fix the cause first/],
    ['Other', 'x', undefined, 'Other', /^Fix the cause first/],
  ] as const)
    it(`${type} with "${message}" is ${title}`, () => {
      assert.equal(failureTitle({ type, message, assignmentId }), title);
      assert.match(remedyWords({ type, message }), remedy);
    });

  it('is the title of the connector, if there is one', () =>
    assert.equal(failureTitle({ type: 'PlatformError', message: missing, title: 'WorkMarket has no 7' }), 'WorkMarket has no 7'));

  it('a retry alone is futile after a permanent error, not after an unknown outcome', () => {
    assert.equal(isFutile({ retryable: false }), true);
    assert.equal(isFutile({ retryable: true }), false);
    assert.equal(isFutile({ retryable: false, unknown: true }), false);
  });
});

describe('the main button of a failure', () => {
  for (const [verb, retryable, remedy, unknown] of [
    ['retry', true, undefined, false],
    ['retry', true, 'Wait; the relay retries', false],
    ['retry', false, "Enter new credentials in the company's ticketing settings, then retry", false],
    ['mend', false, undefined, false],
    ['mend', false, 'Change the number, then retry', false],
    [undefined, false, 'Tell the operator of the relay', false],
    [undefined, false, undefined, true],
  ] as const)
    it(`is ${verb} if ${retryable ? 'a retry can help' : 'a retry alone fails'}: ${remedy ?? 'no remedy'}${unknown ? ', unknown' : ''}`, () =>
      assert.equal(bestVerb({ type: 'TicketingError', message: 'answered 500', retryable, remedy, unknown }), verb));

  it('is retry without a failure', () => assert.equal(bestVerb(undefined), 'retry'));
});

describe('the pause of a listed chain', () => {
  const now = Date.parse('2026-11-22T14:00:00Z');
  const one = { until: '2026-11-22T15:30:00Z' };
  for (const [pauses, words] of [
    [[one], 'Paused until 09:30:00'],
    [[{}], 'Paused'],
    [[one, { until: '2026-11-22T16:00:00Z' }], 'Paused'],
    [[], 'Paused'],
  ] as const)
    it(`is "${words}" with ${pauses.length} pauses`, () => assert.equal(pauseWords(pauses, 'America/Chicago', now), words));
});

describe('the progress of a bulk order', () => {
  const progress = { done: 3, steered: 3, actions: 3, unchanged: 0, failed: 0, refused: 0, failures: [] };
  for (const [more, words] of [
    [{ outcomes: { done: 2, 'needs-attention': 1 } }, '3 of 3 chains done. 3 actions retried: 1 failed again, 2 done.'],
    [{}, '3 of 3 chains done. 3 actions retried.'],
    [
      { unchanged: 1, refused: 2 },
      '3 of 3 chains done. 3 actions retried. There was nothing to do in 1 chain. The relay refused to change 2 actions.',
    ],
    [{ failed: 1 }, '3 of 3 chains done. 3 actions retried. 1 chain did not answer.'],
  ] as const)
    it(words, () => assert.equal(progressWords({ count: 3, verb: 'retry', progress: { ...progress, ...more } }), words));

  it('has only the number of chains if no worker answers', () =>
    assert.equal(progressWords({ count: 1, verb: 'retry' }), '1 chain.'));
});

describe('the example of a cause', () => {
  const held = (message: string) => ({ error: { message } });
  const [send, read] = [held('POST /assignments/2001/send answered 404'), held('GET /assignments/2003 answered 404')];

  it('is the action that failed for it, with any ids', () => {
    assert.equal(actionOfCause({ message: 'GET /assignments/77 answered 404' }, [send, read]), read);
    assert.equal(actionOfCause({ message: 'POST /assignments/1/send answered 404' }, [send, read]), send);
    assert.equal(actionOfCause({ message: 'no answer' }, [send]), send);
    assert.equal(actionOfCause({ message: 'no answer' }, []), undefined);
  });
});
