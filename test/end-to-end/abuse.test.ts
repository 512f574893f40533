/** One company goes to each bound and beyond; the other's chains are all accepted and run. `npm run test:abuse` tells how fast. */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { twoCompanies } from '../hostile/abuse.js';
import { startStack } from './stack.js';

const both = await twoCompanies(await startStack({ rateLimitPerMinute: 100 }), 40);
after(() => both.close());

describe("a company's chains are all accepted and run beside another company's", () => {
  for (const abuse of both.abuses) it(abuse.name, async () => assert.equal((await both.beside(abuse, 10, 20)).took.length, 10));
});
