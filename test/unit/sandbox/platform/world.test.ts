import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlatformState } from '../../../../src/sandbox/platform/state.js';
import { milesBetween, workersReached } from '../../../../src/sandbox/platform/world.js';

describe('distance', () => {
  for (const [from, to, miles] of [
    [{ latitude: 44.9778, longitude: -93.265 }, { latitude: 44.9778, longitude: -93.265 }, 0],
    // One degree of latitude, and then one degree of longitude at 60 degrees of latitude, where it is half as long as at the
    // equator.
    [{ latitude: 0, longitude: 0 }, { latitude: 1, longitude: 0 }, 69.1],
    [{ latitude: 60, longitude: 179.5 }, { latitude: 60, longitude: -179.5 }, 34.5],
    // From London to Paris.
    [{ latitude: 51.5074, longitude: -0.1278 }, { latitude: 48.8566, longitude: 2.3522 }, 213.5],
  ] as const) {
    it(`is ${miles} miles`, () => assert.ok(Math.abs(milesBetween(from, to) - miles) < 0.1, `${milesBetween(from, to)}`));
  }
});

describe('the contacts that a send reaches', () => {
  const cases: [assignment: string, groupIds: string[], radiusMiles: number | undefined, reached: string[]][] = [
    ['1001', ['501'], 5, []],
    ['1001', ['502'], 5, []],
    ['1001', [], 5, []],
    ['1001', ['501'], 25, ['w1', 'w2']],
    ['1001', ['502'], 25, ['w3', 'w4']],
    ['1001', ['502', '501', '502'], 10, ['w3', 'w1', 'w2']],
    ['1001', ['503'], undefined, ['w5', 'w6', 'w7']],
    ['1001', [], undefined, ['w3', 'w1', 'w2', 'w4', 'w5', 'w6', 'w7']],
    ['1001', ['504'], undefined, []],
    ['1001', ['no such group'], undefined, []],
    ['1002', [], 500, []],
    ['1003', ['502'], 5, ['w3']],
    ['1001', ['501'], 0, []],
  ];
  for (const [id, groupIds, radiusMiles, reached] of cases) {
    it(`${id} to ${groupIds.join(', ') || 'all groups'} within ${radiusMiles ?? 'any'} miles: ${reached.join(', ') || 'nobody'}`, () => {
      const place = new PlatformState().assignments.get(id)?.location;
      assert(place);
      const workers = workersReached(place, { groupIds, radiusMiles });
      assert.deepEqual(
        workers.map((worker) => worker.id),
        reached,
      );
    });
  }
});
