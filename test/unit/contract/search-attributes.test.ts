import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ChainAction } from '../../../src/chain/chain.js';
import { searchAttributeKeys, searchAttributesOf } from '../../../src/contract/search-attributes.js';

const chain = { companyId: 'acme', chainId: 'c-1' };

/** Actions for these assignments; all have the rule `7`. */
const actionsFor = (ids: (string | undefined)[]) =>
  ids.map(
    (assignmentId, index): ChainAction => ({
      action: 'platform_sendAssignment',
      index,
      relayId: '7',
      ...(assignmentId !== undefined && { assignmentId }),
    }),
  );

const valuesOf = (actions: ChainAction[]): Record<string, unknown> =>
  Object.fromEntries(searchAttributesOf(chain, actions).map(({ key, value }) => [key.name, value]));
const assignmentIdsOf = (ids: (string | undefined)[]) => valuesOf(actionsFor(ids)).RelayAssignmentIds;

describe('search attributes', () => {
  it('have the documented names and types', () => {
    assert.deepEqual(
      searchAttributeKeys.map(({ name, type }) => [name, type]),
      [
        ['RelayCompanyId', 'KEYWORD'],
        ['RelayChainId', 'KEYWORD'],
        ['RelayNeedsAttention', 'BOOL'],
        ['RelayAssignmentIds', 'KEYWORD_LIST'],
        ['RelayRuleIds', 'KEYWORD_LIST'],
        ['RelayFailureTypes', 'KEYWORD_LIST'],
        ['RelayPaused', 'BOOL'],
        ['RelayAttentionSince', 'DATETIME'],
      ],
    );
  });

  it('have the company, the chain, its assignments and rules, each once', () => {
    const [first, second, third] = actionsFor(['1002', '1001', '1002']);
    assert.ok(first && second && third);
    assert.deepEqual(valuesOf([first, { ...second, relayId: '8' }, third, ...actionsFor([undefined])]), {
      RelayCompanyId: 'acme',
      RelayChainId: 'c-1',
      RelayNeedsAttention: false,
      RelayAssignmentIds: ['1002', '1001'],
      RelayRuleIds: ['7', '8'],
    });
  });

  it('may have no assignments', () => assert.deepEqual(assignmentIdsOf([undefined]), []));

  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  const cases: [what: string, id: (n: number) => string, fit: number][] = [
    ['plain', (n) => `${n}`.padStart(17, '0'), 100],
    ['long', (n) => `${n}`.padStart(256, 'x'), 7],
    ['not Latin', (n) => `${10 + n}`.padEnd(102, '割'), 6],
    ['full of quotes', (n) => `${10 + n}`.padEnd(100, '"'), 10],
    ['full of control characters', (n) => `${10 + n}`.padEnd(102, '\u0001'), 3],
  ];
  for (const [what, id, fit] of cases) {
    it(`hold ${fit} of 100 ids that are ${what}`, () => {
      const ids = Array.from({ length: 100 }, (_, n) => id(n));
      const kept = assignmentIdsOf(ids);
      assert.deepEqual(kept, ids.slice(0, fit));
      assert.ok(bytesOf(kept) <= 2048);
    });
  }

  it('skip an id that does not fit, and have a shorter id after it', () => {
    const ids = [...Array.from({ length: 7 }, (_, n) => `${n}`.padStart(256, 'x')), 'y'.repeat(256), 'z'];
    assert.deepEqual(assignmentIdsOf(ids), ids.toSpliced(7, 1));
  });

  it('never exceed 2,048 bytes', () => {
    const ids = fc.array(fc.string({ unit: 'binary', maxLength: 256 }), { maxLength: 40 });
    fc.assert(
      fc.property(ids, (ids) => assert.ok(bytesOf(assignmentIdsOf(ids)) <= 2048)),
      { numRuns: 50 },
    );
  });
});
