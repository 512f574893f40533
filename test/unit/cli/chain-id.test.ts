import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chainIdOf } from '../../../src/cli/commands/chains.js';

describe('a chain', () => {
  for (const [given, chainId] of [
    ['c-1', 'c-1'],
    ['relay:acme:c-1', 'c-1'],
    ['relay:acme:c-1:2', 'c-1'],
    ['relay:acme:', 'relay:acme:'],
    ['relay:acme:c-1:x', 'relay:acme:c-1:x'],
    ['relay:acme:c-1:2:3', 'relay:acme:c-1:2:3'],
    ['relay:other:c-1', 'relay:other:c-1'],
    ['relay-bulk:acme:c-1', 'relay-bulk:acme:c-1'],
  ] as const)
    it(`named ${given} is ${chainId}`, () => assert.equal(chainIdOf('acme', given), chainId));
});
