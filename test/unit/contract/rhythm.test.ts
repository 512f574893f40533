import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nextPauseMs } from '../../../src/contract/rhythm.js';

const rhythm = { shortestMs: 1000, longestMs: 8000 };

it('a client polls soon after a change, and less and less often without one', () => {
  assert.equal(nextPauseMs(rhythm, 8000, { changed: true }), 1000);
  assert.equal(nextPauseMs(rhythm, 1000, { changed: false }), 1300);
  assert.equal(nextPauseMs(rhythm, 7900, { changed: false }), 8000);
});

it('a client polls less and less often during an outage, but never stops', () => {
  let pauseMs = 1000;
  for (let n = 0; n < 10; n += 1) pauseMs = nextPauseMs(rhythm, pauseMs, { changed: false, failed: true });
  assert.equal(pauseMs, 60_000);
});

it('a client polls when the API asks for it', () => {
  assert.equal(nextPauseMs(rhythm, 1000, { changed: false, failed: true, retryAfterSeconds: 37 }), 37_000);
  assert.equal(nextPauseMs(rhythm, 1000, { changed: false, failed: true, retryAfterSeconds: 0 }), 1000);
});
