import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromNow, localTimes, sinceTime, startOfDay, timeText, wholeTimeText } from '../../../src/console/when.js';

const now = Date.parse('2026-11-22T14:00:00Z');

describe('a time', () => {
  const cases: [iso: string, zone: string, text: string][] = [
    ['2026-11-22T13:03:22Z', 'UTC', '13:03:22'],
    ['2026-11-22T13:03:22Z', 'Europe/Berlin', '14:03:22'],
    ['2026-11-22T13:03:22.999Z', '+05:30', '18:33:22'],
    ['2026-11-22T13:03:22Z', '-03:30', '09:33:22'],
    ['2026-11-22T00:00:00Z', 'UTC', '00:00:00'],
    ['2026-11-22T05:00:00Z', 'America/Chicago', '21 Nov, 23:00:00'],
    ['2026-11-21T23:00:00Z', 'Europe/Berlin', '00:00:00'],
    ['2026-11-23T01:00:00Z', 'UTC', '23 Nov, 01:00:00'],
    ['2025-11-22T13:00:00Z', 'UTC', '22 Nov 2025, 13:00:00'],
  ];
  for (const [iso, zone, text] of cases) it(`${iso} in ${zone} is ${text}`, () => assert.equal(timeText(iso, zone, now), text));

  it('has its day and its zone if there is room', () =>
    assert.equal(wholeTimeText('2026-11-22T13:03:22Z', 'Europe/Berlin'), '22 Nov 2026, 14:03:22 (Europe/Berlin)'));
});

describe('a sentence of the API', () => {
  const cases: [text: string, zone: string, local: string][] = [
    [
      'paused: the platform, since 2026-11-22T13:30:00.000Z until 2026-11-23T15:00:00Z. Reason: new version',
      'America/Chicago',
      'paused: the platform, since 07:30:00 until 23 Nov, 09:00:00. Reason: new version',
    ],
    ['It fails at 2026-11-25 13:00:00 UTC.', 'Europe/Berlin', 'It fails at 25 Nov, 14:00:00.'],
    ['due was "2026-11-22T13:30:00.000Z"', 'America/Chicago', 'due was "2026-11-22T13:30:00.000Z"'],
    ['answered 404', 'America/Chicago', 'answered 404'],
  ];
  for (const [text, zone, local] of cases)
    it(`${text} in ${zone} is ${local}`, () => assert.equal(localTimes(text, zone, now), local));
});

describe('a distance from now', () => {
  const cases: [seconds: number, text: string][] = [
    [0, 'less than a minute ago'],
    [-9, 'less than a minute ago'],
    [-30, 'less than a minute ago'],
    [30, 'in less than a minute'],
    [-60, '1 minute ago'],
    [119, 'in 2 minutes'],
    [7140, 'in 2 hours'],
    [7200, 'in 2 hours'],
    [-86_399, '24 hours ago'],
    [-172_800, '2 days ago'],
  ];
  for (const [seconds, text] of cases)
    it(`${seconds} seconds is ${text}`, () => assert.equal(fromNow(new Date(now + seconds * 1000).toISOString(), now), text));
});

it('a filter "since" in the address is a duration, a time, or invalid', () => {
  assert.equal(sinceTime('24h', now), '2026-11-21T14:00:00.000Z');
  assert.equal(sinceTime('2026-07-01T12:00:00+02:00', now), '2026-07-01T10:00:00.000Z');
  assert.equal(sinceTime('lately', now), undefined);
});

it('the day begins at midnight in the time zone', () => {
  assert.equal(startOfDay('America/Chicago', Date.parse('2026-11-22T14:00:05.250Z')), '2026-11-22T06:00:00.000Z');
  assert.equal(startOfDay('+05:30', Date.parse('2026-11-22T20:00:00Z')), '2026-11-22T18:30:00.000Z');
});
