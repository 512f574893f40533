import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pauseWords } from '../../../src/console/when.js';
import { actionOfCause, causeFailure, progressWords, stateWords, toneOf } from '../../../src/console/words.js';

describe('the badge of an action', () => {
  for (const [state, result, words, tone] of [
    ['done', undefined, 'done', 'good'],
    ['done', { recipients: 3 }, 'done', 'good'],
    ['done', { recipients: 0 }, 'nobody found', 'wait'],
    ['needs-attention', { recipients: 0 }, 'needs attention', 'wait'],
  ] as const)
    it(`is ${words} (${tone}) if it is ${state} and reached ${result?.recipients ?? 'an unknown number'}`, () => {
      assert.equal(stateWords(state, result), words);
      assert.equal(toneOf(state, result), tone);
    });
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
    [{ outcomes: { done: 2, 'needs-attention': 1 } }, '3 of 3 chains handled. 3 steps retried: 1 failed again, 2 done.'],
    [{ outcomes: { done: 3 }, nobodyFound: 1 }, '3 of 3 chains handled. 3 steps retried: 2 done, 1 found nobody.'],
    [{}, '3 of 3 chains handled. 3 steps retried.'],
    [
      { unchanged: 1, refused: 2 },
      '3 of 3 chains handled. 3 steps retried. 1 chain did not change. The relay refused to change 2 steps.',
    ],
    [{ failed: 1 }, '3 of 3 chains handled. 3 steps retried. The relay could not change 1 chain.'],
  ] as const)
    it(words, () => assert.equal(progressWords({ count: 3, verb: 'retry', progress: { ...progress, ...more } }), words));

  it('has only the number of chains if no worker answers', () =>
    assert.equal(progressWords({ count: 1, verb: 'retry' }), '1 chain.'));
});

describe('the title of a cause', () => {
  const missing = { reason: 'PlatformError', message: 'answered 404', title: 'Assignment 1 does not exist at WorkMarket' };
  for (const [cause, title] of [
    [{ ...missing, assignments: 3 }, '3 assignments do not exist at WorkMarket'],
    [{ ...missing, assignments: 1, assignmentId: '2' }, 'Assignment 2 does not exist at WorkMarket'],
    [{ ...missing, assignments: 0 }, 'The assignment does not exist at WorkMarket'],
    [{ ...missing, title: 'WorkMarket refused assignment 1', assignments: 4 }, 'WorkMarket refused 4 assignments'],
    [{ ...missing, title: 'Jira refused the change of ticket AB-7', assignments: 4 }, 'Jira refused the change of the ticket'],
    [{ ...missing, title: 'Issue AB-7 does not exist at Jira', assignments: 0 }, 'The issue does not exist at Jira'],
    [{ ...missing, title: undefined, assignments: 2 }, '2 assignments do not exist'],
    [{ ...missing, title: 'WorkMarket is too slow', assignments: 2 }, 'WorkMarket is too slow'],
  ] as const)
    it(title, () => assert.equal(causeFailure(cause).title, title));
});

describe('the other words of a cause', () => {
  const message = 'POST http://x/assignments/1/send answered 409: assignment 1 is closed';
  const cause = { reason: 'PlatformError', message, title: 'The platform refused assignment 1' };
  const remedy = 'Fix the cause (see the details), then retry';
  for (const [more, text, at] of [
    [{ assignments: 3 }, '3 assignments are closed', '…'],
    [{ assignments: 1, assignmentId: '2' }, 'assignment 2 is closed', '2'],
    [{}, 'the assignment is closed', '…'],
  ] as const)
    it(`say that ${text}`, () => {
      const failure = causeFailure({ ...cause, remedy, ...more });
      assert.equal(failure.message, `POST http://x/assignments/${at}/send answered 409: ${text}`);
      assert.equal(failure.remedy, `The reason: “${text}”. Fix this problem, then retry`);
    });
});

describe('the example of a cause', () => {
  const held = (message: string) => ({ error: { message } });
  const [send, read] = [held('POST /assignments/2001/send answered 404'), held('GET /assignments/2003 answered 404')];

  it('is an action with the same message, whatever ids are in the message', () => {
    assert.equal(actionOfCause({ message: 'GET /assignments/77 answered 404' }, [send, read]), read);
    assert.equal(actionOfCause({ message: 'POST /assignments/1/send answered 404' }, [send, read]), send);
    assert.equal(actionOfCause({ message: 'no answer' }, [send]), send);
    assert.equal(actionOfCause({ message: 'no answer' }, []), undefined);
  });
});
