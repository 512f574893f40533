import assert from 'node:assert/strict';
import { it } from 'node:test';
import { weekOf } from '../../../src/notices/quiet.js';

const cases: [what: string, zone: string, now: string, name: string, since: string, until: string][] = [
  ['on Monday at 7:00', 'UTC', '2026-07-06T07:00:00Z', '2026-07-06', '2026-06-29T00:00:00.000Z', '2026-07-06T00:00:00.000Z'],
  ['before', 'UTC', '2026-07-06T06:59:59Z', '2026-06-29', '2026-06-22T00:00:00.000Z', '2026-06-29T00:00:00.000Z'],
  ['on Sunday', 'UTC', '2026-07-12T23:00:00Z', '2026-07-06', '2026-06-29T00:00:00.000Z', '2026-07-06T00:00:00.000Z'],
  [
    'in another zone',
    'America/Chicago',
    '2026-07-06T11:59:59Z',
    '2026-06-29',
    '2026-06-22T05:00:00.000Z',
    '2026-06-29T05:00:00.000Z',
  ],
  [
    'with the end of summer time',
    'Europe/Berlin',
    '2026-10-26T06:00:00Z',
    '2026-10-26',
    '2026-10-18T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ],
];
for (const [what, zone, now, name, since, until] of cases)
  it(`the week of the digest ${what}`, () => assert.deepEqual(weekOf(zone, Date.parse(now)), { name, since, until }));
