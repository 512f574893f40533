import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionError } from '../../../src/chain/action-status.js';
import { attemptsLeft, outcomeOf, retryWait } from '../../../src/chain/attempt.js';

const how = { own: false, made: 0, waits: 0 };
const failure: ActionError = { type: 'PlatformError', message: 'm', retryable: true };
const permanent: ActionError = { ...failure, retryable: false };
const notTried: ActionError = { ...failure, type: 'NotTried' };

describe('the attempts left', () => {
  it('are the attempts of the budget minus the attempts made', () => {
    assert.equal(attemptsLeft(10, how), 4);
    assert.equal(attemptsLeft(10, { ...how, made: 3 }), 1);
  });
  it('are at least one, and exactly one if the relay retries without a decision', () => {
    assert.equal(attemptsLeft(10, { ...how, made: 9 }), 1);
    assert.equal(attemptsLeft(10, { ...how, own: true }), 1);
  });
});

describe('the wait before the second attempt', () => {
  for (const [title, error, made, seconds] of [
    ['is the back-off', failure, 0, 1],
    ['counts the attempts made before', failure, 3, 8],
    ['is a longer Retry-After', { ...failure, retryAfterSeconds: 30 }, 0, 30],
    ['is none after a permanent failure', permanent, 0, undefined],
    ['is none if nothing was tried', notTried, 0, undefined],
    ['is none if Retry-After uses up the budget', { ...failure, retryAfterSeconds: 61 }, 0, undefined],
  ] as const)
    it(title, () => assert.equal(retryWait(error, 60, { ...how, made }), seconds));
});

describe('the outcome of several parts', () => {
  const parts = (...failures: (ActionError | undefined)[]) =>
    failures.map((failure, place) => ({ attempts: place + 1, ...(failure && { failure }) }));

  it('is a success if no part failed, with the number of attempts of the slowest part', () =>
    assert.deepEqual(outcomeOf(parts(undefined, undefined), 2), { attempts: 2, skipped: undefined, recipients: 2 }));
  it('is skipped if one part was skipped', () =>
    assert.equal(outcomeOf([{ attempts: 1 }, { attempts: 1, skipped: 'disabled' }], 2).skipped, 'disabled'));
  it('is the failure of an untried part; if there is none, a retryable failure; otherwise another failure', () => {
    assert.equal(outcomeOf(parts(permanent, failure, notTried), 3).failure, notTried);
    assert.equal(outcomeOf(parts(permanent, failure), 2).failure, failure);
    assert.equal(outcomeOf(parts(undefined, permanent), 2).failure, permanent);
  });
});
