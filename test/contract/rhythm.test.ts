import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nextPauseMs } from '../../src/contract/rhythm.js';

const rhythm = { shortestMs: 1000, longestMs: 8000 };

it('one asks again soon after a change, and ever less often without one', () => {
  assert.equal(nextPauseMs(rhythm, 8000, { changed: true }), 1000);
  assert.equal(nextPauseMs(rhythm, 1000, { changed: false }), 1300);
  assert.equal(nextPauseMs(rhythm, 7900, { changed: false }), 8000);
});

it('one asks less and less where the API is in trouble, but goes on', () => {
  let pauseMs = 1000;
  for (let n = 0; n < 10; n += 1) pauseMs = nextPauseMs(rhythm, pauseMs, { changed: false, failed: true });
  assert.equal(pauseMs, 60_000);
});

it('one asks when it was told to', () => {
  assert.equal(nextPauseMs(rhythm, 1000, { changed: false, failed: true, retryAfterSeconds: 37 }), 37_000);
  assert.equal(nextPauseMs(rhythm, 1000, { changed: false, failed: true, retryAfterSeconds: 0 }), 1000);
});
