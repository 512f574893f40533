/**
 * One company exceeds each limit. All chains of the other company are accepted, and run. `npm run test:abuse` measures how fast
 * they run.
 */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { startStack } from '../../end-to-end/stack.js';
import { extent } from '../../extent.js';
import { twoCompanies } from '../../hostile/abuse.js';

const both = await twoCompanies(await startStack({ rateLimitPerMinute: 60, uses: {} }), extent(20, 40), extent(1000, 100));
after(() => both.close());
const chains = extent(4, 10);

describe('all chains of a company are accepted and run beside an abusive company', () => {
  for (const abuse of both.abuses)
    it(abuse.name, async () => assert.equal((await both.beside(abuse, chains, 20)).took.length, chains));
});
