import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTimeZone, offsetSeconds, oldZoneAt, zoneAt } from '../../../../src/chain/timestamp/zone.js';

describe('time zones', () => {
  for (const zone of [
    'UTC',
    'Europe/Berlin',
    'America/Argentina/Buenos_Aires',
    'Asia/Calcutta',
    'EST',
    'America/Coyhaique',
    '+05:30',
    '-00:00',
    '+18:00',
  ])
    it(`${zone} exists`, () => assert.equal(isTimeZone(zone), true));

  for (const zone of [
    '',
    'Z',
    'PST',
    'europe/berlin',
    'Europe/Berlinn',
    '+5:30',
    '+0530',
    '+18:01',
    '+05:60',
    'GMT+5',
    'Eastern Standard Time',
    'constructor',
  ])
    it(`"${zone}" does not exist`, () => assert.equal(isTimeZone(zone), false));

  const offsets: [zone: string, at: string, seconds: number][] = [
    ['America/New_York', '2024-03-10T06:59:59Z', -5 * 3600],
    ['America/New_York', '2024-03-10T07:00:00Z', -4 * 3600],
    ['Asia/Kathmandu', '2024-01-01T00:00:00Z', 20_700],
    ['Africa/Monrovia', '1960-01-01T00:00:00Z', -2670],
    ['-03:30', '1800-01-01T00:00:00Z', -12_600],
    ['+00:00', '2024-01-01T00:00:00Z', 0],
  ];
  for (const [zone, at, seconds] of offsets)
    it(`${zone} has an offset of ${seconds} seconds at ${at}`, () => assert.equal(offsetSeconds(zone, Date.parse(at)), seconds));

  const names: [zone: string, at: string, short: string, long: string][] = [
    ['Europe/London', '2024-07-01T00:00:00Z', 'BST', 'British Summer Time'],
    // British Standard Time, one hour ahead, was standard time, not daylight saving time.
    ['Europe/London', '1970-07-01T00:00:00Z', 'GMT', 'Greenwich Mean Time'],
    ['Europe/Dublin', '2024-07-01T00:00:00Z', 'IST', 'Irish Standard Time'],
    ['Europe/Moscow', '2012-07-01T00:00:00Z', 'MSK', 'Moscow Standard Time'],
    ['Africa/Casablanca', '2024-01-01T00:00:00Z', 'WEST', 'Western European Summer Time'],
    ['Africa/Casablanca', '2024-03-20T00:00:00Z', 'WET', 'Western European Time'],
    ['Australia/Lord_Howe', '2024-01-01T00:00:00Z', 'LHDT', 'Lord Howe Daylight Time'],
  ];
  for (const [zone, at, short, long] of names)
    it(`${zone} is called ${short} at ${at}`, () => {
      const { short: foundShort, long: foundLong } = zoneAt(zone, Date.parse(at));
      assert.deepEqual([foundShort, foundLong], [short, long]);
    });

  it('have no local mean time before 1900, as in java.util.TimeZone', () => {
    const at = Date.UTC(1850, 0, 1);
    assert.deepEqual([oldZoneAt('America/New_York', at).offset, zoneAt('America/New_York', at).offset], [-18_000, -17_762]);
  });

  it('have names for fixed offsets as in java.util.TimeZone and in java.time', () => {
    const both = ['+05:30', '+00:00'].map((zone) => [oldZoneAt(zone, 0).long, zoneAt(zone, 0).long]);
    assert.deepEqual(both, [
      ['GMT+05:30', '+05:30'],
      ['Coordinated Universal Time', 'Z'],
    ]);
  });
});
