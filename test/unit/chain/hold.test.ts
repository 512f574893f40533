import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionError } from '../../../src/chain/action-status.js';
import { Hold, isTriedAgain } from '../../../src/chain/hold.js';

const failure: ActionError = { type: 'PlatformError', message: 'm', retryable: true };
const hour = 3600;

describe('the relay retries a held action without a decision', () => {
  for (const [title, more, onUnknown, expected] of [
    ['a retryable failure', {}, 'hold', true],
    ['a permanent failure', { retryable: false }, 'resend', false],
    ['nothing was tried', { retryable: false, type: 'NotTried' }, 'hold', true],
    ['an unknown outcome', { unknown: true }, 'resend', true],
    ['an unknown outcome of a rule that holds', { unknown: true }, 'hold', false],
  ] as const)
    it(`${title}: ${expected}`, () => assert.equal(isTriedAgain({ ...failure, ...more }, onUnknown), expected));
});

describe('a hold', () => {
  it('waits longer before each try that the relay makes without a decision', () => {
    const hold = new Hold(0, 72 * hour);
    const waits = [0, 1, 2, 9].map((tries) => {
      hold.tries = tries;
      return hold.next(0, failure, true).wait / 1000;
    });
    assert.deepEqual(waits, [30, 60, 120, 1800]);
  });

  it('obeys a longer Retry-After', () =>
    assert.deepEqual(new Hold(0, hour).next(0, { ...failure, retryAfterSeconds: 500 }, true), { tries: true, wait: 500_000 }));

  it('waits for its end if the next try would be later, and at most six hours at once', () => {
    assert.deepEqual(new Hold(0, 20).next(5000, failure, true), { tries: false, wait: 15_000 });
    assert.deepEqual(new Hold(0, 72 * hour).next(0, failure, false), { tries: false, wait: 6 * hour * 1000 });
    assert.deepEqual(new Hold(0, 20).next(25_000, failure, false), { tries: false, wait: 0 });
  });

  it('is longer by time without workers and by pauses', () => {
    const hold = new Hold(1000, 20);
    hold.late(59_999);
    assert.equal(hold.until, 21_000);
    hold.late(60_000);
    assert.equal(hold.until, 81_000);
    hold.paused(5);
    assert.equal(hold.until, 86_000);
    hold.paused(5, 100_000);
    assert.equal(hold.until, 100_000);
  });
});
