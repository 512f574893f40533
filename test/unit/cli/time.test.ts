import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { momentFromNow, momentText, readDuration, readMoment } from '../../../src/cli/text.js';

describe('times', () => {
  const zone = process.env.TZ;
  after(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });

  it("are shown in the terminal's zone", () => {
    for (const [tz, expected] of [
      ['UTC', '2026-07-01 12:00:05Z'],
      ['Europe/Berlin', '2026-07-01 14:00:05+02:00'],
      ['America/St_Johns', '2026-07-01 09:30:05-02:30'],
      ['Asia/Kolkata', '2026-07-01 17:30:05+05:30'],
    ] as const) {
      process.env.TZ = tz;
      assert.equal(momentText('2026-07-01T12:00:05.678Z'), expected);
    }
    assert.equal(momentText('at noon'), 'at noon');
    assert.equal(momentText('2026-07-01'), '2026-07-01');
  });

  it('are shown relative to now', () => {
    process.env.TZ = 'UTC';
    const now = Date.parse('2026-07-01T12:00:00Z');
    for (const [time, expected] of [
      ['2026-07-01T12:00:00Z', 'now'],
      ['2026-07-01T12:00:45Z', 'in 45 s'],
      ['2026-07-01T12:30:00Z', 'in 30 min'],
      ['2026-07-01T11:29:55Z', '30 min 5 s ago'],
      ['2026-07-04T16:05:09Z', 'in 3 d 4 h'],
    ] as const)
      assert.equal(momentFromNow(time, now), `${momentText(time)} (${expected})`);
    assert.equal(momentFromNow('soon', now), 'soon');
  });

  it('can be given as durations', () => {
    for (const [text, seconds] of [
      ['0', 0],
      ['3600', 3600],
      ['90s', 90],
      ['10m', 600],
      ['1h30m', 5400],
      ['2d', 172_800],
      ['1d1h1m1s', 90_061],
      ['', undefined],
      ['10 m', undefined],
      ['1.5h', undefined],
      ['-5', undefined],
      ['30m1h', undefined],
      ['10M', undefined],
    ] as const)
      assert.equal(readDuration(text), seconds, text);
  });

  it('can be given as dates', () => {
    const now = Date.parse('2026-07-01T12:00:00Z');
    assert.equal(readMoment('2h', 'ago', now), '2026-07-01T10:00:00.000Z');
    assert.equal(readMoment('90', 'ahead', now), '2026-07-01T12:01:30.000Z');
    assert.equal(readMoment('2026-07-01T12:00:00+02:00', 'ago', now), '2026-07-01T10:00:00.000Z');
    for (const text of ['', 'soon', '2026-07-01', '2026-07-01T12:00:00', '2026-13-01T12:00:00Z'])
      assert.throws(() => readMoment(text, 'ago', now), /is not a time/);
  });
});
