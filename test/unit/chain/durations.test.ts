import assert from 'node:assert/strict';
import { it } from 'node:test';
import { delaySeconds, delayText, miles, readDuration, storedDelay, wholeDuration } from '../../../src/chain/durations.js';
import { durationText, withinText } from '../../../src/console/when.js';

it('a duration is read as people write it', () => {
  for (const [text, seconds] of [
    ['30 minutes', 1800],
    ['30min', 1800],
    ['30 m', 1800],
    ['1 h', 3600],
    ['1.5 hours', 5400],
    ['1,5 h', 5400],
    ['1 hour 30 minutes', 5400],
    ['1 hour and 30 min.', 5400],
    ['2 Days', 172_800],
    ['90 secs', 90],
    ['30', 1800],
    ['', 0],
    ['immediately', 0],
    ['0', 0],
  ] as const)
    assert.equal(readDuration(text).seconds, seconds, text);
});

it('a duration with other words is refused', () => {
  for (const text of ['soon', '1 fortnight', '1 h soon', '-5 minutes', '${delay}']) assert.ok(readDuration(text).error, text);
});

it('a shown duration is read as the same seconds', () => {
  for (const seconds of [0, 1, 59, 60, 1800, 3600, 5400, 90_061])
    assert.equal(readDuration(wholeDuration(seconds)).seconds, seconds);
  assert.equal(wholeDuration(90_061), '1 day 1 hour 1 minute 1 second');
});

it('a delay is a number of seconds, or a text', () => {
  assert.deepEqual([undefined, '', '1800', 90, '${x}', 'soon'].map(delaySeconds), [0, 0, 1800, 90, undefined, undefined]);
});

it('a field shows a stored delay in words, and keeps a text that is no duration', () => {
  for (const stored of ['', '1800', '5400', '${x}', 'soon']) assert.equal(storedDelay(delayText(stored)), stored);
  assert.deepEqual(['now', '30 minutes'].map(storedDelay), ['', '1800']);
});

it('a radius can have its unit', () => {
  assert.deepEqual(['5 miles', ' 2.5 mi', '1 mile.', '25', '5 km', '${x}'].map(miles), ['5', '2.5', '1', '25', '5 km', '${x}']);
});

it('a duration is shown in its two largest units', () => {
  const texts = [0, 1, 59, 60, 3900, 90_061].map(durationText);
  assert.deepEqual(texts, ['0 seconds', '1 second', '59 seconds', '1 minute', '1 hour 5 minutes', '1 day 1 hour']);
  assert.deepEqual([0, 0.3, 59.2].map(withinText), ['1 second', '1 second', '1 minute']);
});
