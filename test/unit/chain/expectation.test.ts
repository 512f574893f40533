import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Expectation,
  type Hours,
  isWithin,
  proposedExpectation,
  silentSeconds,
  usualEvery,
} from '../../../src/chain/expectation.js';

const ms = (iso: string) => Date.parse(iso);
const hour = 3600;
const berlin: Hours = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00', timeZone: 'Europe/Berlin' };

describe('how long a silence has lasted', () => {
  // 2026-07-03 is a Friday. Berlin is two hours ahead of UTC.
  const cases: [what: string, hours: Hours, since: string, until: string, hours: number][] = [
    ['at any time', {}, '2026-07-03T00:00:00Z', '2026-07-04T00:00:00Z', 24],
    ['within the hours', berlin, '2026-07-03T07:00:00Z', '2026-07-03T09:30:00Z', 2.5],
    ['before and after the hours', berlin, '2026-07-03T00:00:00Z', '2026-07-03T22:00:00Z', 10],
    ['over a weekend', berlin, '2026-07-03T15:00:00Z', '2026-07-06T07:00:00Z', 2],
    ['outside the hours', berlin, '2026-07-03T17:00:00Z', '2026-07-06T05:00:00Z', 0],
    ['over a night', { from: '22:00', to: '06:00' }, '2026-07-03T23:00:00Z', '2026-07-04T23:00:00Z', 8],
    [
      'a night that begins on a Friday',
      { ...berlin, from: '22:00', to: '06:00' },
      '2026-07-04T00:00:00Z',
      '2026-07-05T12:00:00Z',
      4,
    ],
    [
      'in a zone with a fixed offset',
      { from: '00:00', to: '12:00', timeZone: '-03:30' },
      '2026-07-03T00:00:00Z',
      '2026-07-04T00:00:00Z',
      12,
    ],
    [
      'a day that is an hour longer',
      { days: ['sun'], timeZone: 'Europe/Berlin' },
      '2026-10-24T00:00:00Z',
      '2026-10-27T00:00:00Z',
      25,
    ],
    ['over a year', {}, '2025-07-03T00:00:00Z', '2026-07-03T00:00:00Z', 62 * 24],
  ];
  for (const [what, hours, since, until, expected] of cases)
    it(what, () => assert.equal(silentSeconds(hours, ms(since), ms(until)), expected * hour));

  it('without pauses and outages', () => {
    const excused = [
      { since: '2026-07-03T02:00:00.000Z', until: '2026-07-03T07:00:00.000Z' }, // only one hour is within the expected hours
      { since: '2026-07-03T06:30:00.000Z', until: '2026-07-03T08:00:00.000Z' },
      { since: '2026-07-03T15:00:00.000Z' }, // this outage is not over yet
    ];
    assert.equal(silentSeconds(berlin, ms('2026-07-03T00:00:00Z'), ms('2026-07-03T22:00:00Z'), excused), 7 * hour);
  });
  it('knows whether the hours include a time', () => {
    assert(isWithin(berlin, ms('2026-07-03T15:59:59Z')));
    assert(!isWithin(berlin, ms('2026-07-03T16:00:00Z')));
    assert(!isWithin(berlin, ms('2026-07-04T12:00:00Z')));
  });
});

/** The minutes of the events on this number of days, from Monday, 2026-06-01. @param times - the hours of events by weekday. */
function minutes(days: number, times: (weekday: number) => number[]): number[] {
  const start = ms('2026-06-01T00:00:00Z') / 60_000;
  return Array.from({ length: days }, (_, day) =>
    times(day % 7).map((time) => start + day * 1440 + Math.round(time * 60)),
  ).flat();
}
const every = (step: number, from = 0, to = 24) => Array.from({ length: (to - from) / step }, (_, place) => from + place * step);

describe('a proposed expectation', () => {
  const weekday = (times: number[]) => (day: number) => (day < 5 ? times : []);
  const cases: [what: string, minutes: number[], timeZone: string, proposed: Expectation | undefined][] = [
    ['none for too few events', minutes(28, () => []).concat(minutes(19, () => [9])), 'UTC', undefined],
    ['none for less than a week', minutes(6, () => every(0.5)), 'UTC', undefined],
    ['for events at any time', minutes(28, () => every(0.5)), 'UTC', { expectEvery: hour }],
    ['for one event a day', minutes(28, () => [9]), 'UTC', { expectEvery: 48 * hour }],
    [
      'for the hours of an office',
      minutes(28, weekday(every(1 / 3, 7, 16))),
      'Europe/Berlin',
      { expectEvery: hour, expectWithin: { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '18:00' } },
    ],
    [
      'although one day had a gap',
      minutes(28, () => every(0.1)).filter((_, place) => place < 1000 || place > 1100),
      'UTC',
      { expectEvery: 900 },
    ],
  ];
  for (const [what, times, timeZone, proposed] of cases)
    it(what, () => assert.deepEqual(proposedExpectation(times, timeZone), proposed));
  it('would not have reported the rule as quiet in the past', () => {
    const past = minutes(28, weekday(every(1 / 3, 7, 16)));
    const proposed = proposedExpectation(past, 'UTC');
    assert(proposed);
    const within = { ...proposed.expectWithin, timeZone: 'UTC' };
    const gaps = past.slice(1).map((minute, place) => silentSeconds(within, (past[place] ?? 0) * 60_000, minute * 60_000));
    assert(Math.max(...gaps) <= proposed.expectEvery);
  });
});

describe('the usual time between events at this time of the week', () => {
  it('is known from the same time of the last 4 weeks', () => {
    const past = minutes(28, (day) => (day === 0 ? every(1 / 3, 6, 18) : []));
    assert.equal(usualEvery(past, ms('2026-06-29T12:00:00Z')), 20 * 60);
    assert.equal(usualEvery(past, ms('2026-06-30T12:00:00Z')), undefined);
  });
});
