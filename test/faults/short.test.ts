/** The short form of `npm run test:faults`: 100 chains, and each fault once. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { programsDirectory } from '../postgresql.js';
import { faultsOf } from './faults.js';
import { storm } from './storm.js';
import { startWorld } from './world.js';

describe('while every fault strikes', { skip: programsDirectory() === undefined && 'PostgreSQL is not installed' }, () => {
  it('every accepted chain completes in order, with one key for each effect, and has no other effect', async (t) => {
    const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
    const say = (line: string) => t.diagnostic(line);
    const world = await startWorld({ fullServer: false, say });
    const run = { world, chains: 100, perSecond: 1.25, seed, faults: faultsOf(world), faultSeconds: 1, say };
    const wrong = await storm(run).finally(() => world.close());
    assert.deepEqual(wrong, [], `FAULTS_SEED=${seed}`);
  });
});
