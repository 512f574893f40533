import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attemptsWithin, automaticRetrySeconds, backoffSeconds, retryPolicy, waitsTooLong } from '../../../src/chain/backoff.js';

describe('attemptsWithin', () => {
  // The retries start after 1, 3, 7, 15, 31, 63, 123, … seconds of back-off.
  for (const [budgetSeconds, attempts] of [
    [0, 1],
    [0.5, 1],
    [1, 2],
    [2, 2],
    [3, 3],
    [6, 3],
    [7, 4],
    [10, 4],
    [62, 6],
    [63, 7],
    [122, 7],
    [123, 8],
    [600, 15],
    [603, 16],
  ] as const) {
    it(`${budgetSeconds} seconds: ${attempts}`, () => assert.equal(attemptsWithin(budgetSeconds), attempts));
  }
});

describe('backoffSeconds', () => {
  it('doubles up to a minute', () => {
    assert.deepEqual([1, 2, 3, 4, 5, 6, 7, 8, 2000].map(backoffSeconds), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });
});

describe('retryPolicy', () => {
  for (const skip of [0, 1, 2, 5, 6, 7, 30]) {
    it(`waits for backoffSeconds after ${skip} retries`, () => {
      const { initialInterval, backoffCoefficient, maximumInterval, maximumAttempts } = retryPolicy(15, skip);
      const waits = Array.from(
        { length: 10 },
        (_, n) => Math.min(initialInterval * backoffCoefficient ** n, maximumInterval) / 1000,
      );
      assert.deepEqual(
        waits,
        waits.map((_, n) => backoffSeconds(skip + n + 1)),
      );
      assert.equal(maximumAttempts, 15);
    });
  }
});

describe('automaticRetrySeconds', () => {
  it('grows from 30 seconds to 30 minutes', () => {
    assert.deepEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 144, 5000].map(automaticRetrySeconds),
      [30, 60, 120, 240, 480, 960, 1800, 1800, 1800, 1800],
    );
  });
});

describe('waitsTooLong', () => {
  for (const [retryAfter, budget, tooLong] of [
    [0, 600, false],
    [600, 600, false],
    [601, 600, true],
    [60, 0, false],
    [61, 0, true],
  ] as const) {
    it(`${retryAfter} seconds with a budget of ${budget}: ${tooLong}`, () =>
      assert.equal(waitsTooLong(retryAfter, budget), tooLong));
  }
});
