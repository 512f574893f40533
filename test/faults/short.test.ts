/** The short form of `npm run test:faults`: 100 chains, and everything breaks once. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { programsDirectory } from '../postgresql.js';
import { faultsOf } from './faults.js';
import { storm } from './storm.js';
import { startWorld } from './world.js';

describe('while everything breaks', { skip: programsDirectory() === undefined && 'PostgreSQL is not installed' }, () => {
  it('every chain that was accepted is done, in order, under one key for each effect, and nothing else', async (t) => {
    const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
    const say = (line: string) => t.diagnostic(line);
    const world = await startWorld({ fullServer: false, say });
    const run = { world, chains: 100, perSecond: 1, seed, faults: faultsOf(world), faultSeconds: 1, say };
    const wrong = await storm(run).finally(() => world.close());
    assert.deepEqual(wrong, [], `FAULTS_SEED=${seed}`);
  });
});
