import assert from 'node:assert/strict';
import { it } from 'node:test';
import { timesIn } from '../../../../src/chain/timestamp/local.js';

const cases: [iso: string, timeZone: string, shown: string][] = [
  ['2026-07-01T12:00:00.000Z', 'UTC', '2026-07-01 12:00:00 UTC'],
  ['2026-07-01T12:00:00.000Z', 'America/Chicago', '2026-07-01 07:00:00 CDT'],
  ['2026-01-01T05:30:00.500Z', 'America/Chicago', '2025-12-31 23:30:00 CST'],
  ['2026-01-01T12:00:00.000Z', '+05:30', '2026-01-01 17:30:00 +05:30'],
  ['soon', 'Europe/Berlin', 'soon'],
];
for (const [iso, timeZone, shown] of cases) it(`${iso} in ${timeZone}`, () => assert.equal(timesIn(timeZone)(iso), shown));
