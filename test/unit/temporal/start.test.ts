import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '@temporalio/client';
import fc from 'fast-check';
import { pino } from 'pino';
import type { ChainAction } from '../../../src/chain/chain.js';
import { hashRequest, keyedChainId, startChain } from '../../../src/temporal/start.js';

describe('the chain of an idempotency key', () => {
  const idOf = (relayIds: string[], { companyId = 'acme', key = 'k' } = {}) =>
    keyedChainId({ companyId, actions: relayIds.map((relayId) => ({ relayId }) as ChainAction) }, key);

  it('depends on company, key and the set of its rules, in any order and with repeats', () => {
    assert.match(idOf(['7']), /^[0-9a-f]{32}$/);
    for (const same of [
      ['7', '8'],
      ['8', '7'],
      ['7', '8', '7'],
    ])
      assert.equal(idOf(same), idOf(['7', '8']));
  });

  it('differs for every other set of rules, company and key, even if their texts join to the same text', () => {
    const ids = [
      idOf(['7']),
      idOf(['8']),
      idOf(['07']),
      idOf(['7', '8']),
      idOf(['78']),
      idOf(['7,8']),
      idOf(['7'], { companyId: 'acme2' }),
      idOf(['7'], { key: '8' }),
      idOf(['7'], { key: '8\nk' }),
      idOf(['7', '8'], { key: '8","k' }),
      idOf([]),
    ];
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe('the tokens that started a chain', () => {
  const told: [what: string, tokenIds: string[] | undefined, inMemo: string[] | undefined][] = [
    ['are in its memo', ['t1', 't2'], ['t1', 't2']],
    ['are the first 20 of many', numbered(1000), numbered(20)],
    ['are none if a person resent the request', undefined, undefined],
  ];
  for (const [what, tokenIds, inMemo] of told)
    it(what, async () => {
      const memos: Record<string, unknown>[] = [];
      const start = async (_type: string, { memo }: { memo: Record<string, unknown> }) => void memos.push(memo);
      const client = { withDeadline: (_: number, work: () => unknown) => work(), workflow: { start } } as unknown as Client;
      const rows: { chainId: string }[] = [];
      const store = { chains: { add: (row: { chainId: string }) => void rows.push(row) } };
      const options = { client, store, taskQueue: 'q', eager: false, log: pino({ level: 'silent' }) };
      const times = { retryBudgetSeconds: 1, attentionWindowSeconds: 1 };
      await startChain({ ...options, ...times }, { companyId: 'acme', actions: [], hash: 'h', tokenIds });
      assert.deepEqual([memos.length, memos[0]?.tokenIds, rows.length], [1, inMemo, 1]);
    });
});

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `t${n}`);
}

describe('hashRequest', () => {
  const base = [
    { action: 'sendEmails', relayId: '7', relayAccessToken: 'a', emails: ['a@x.org', 'b@x.org'], extra: { a: 1, b: [2] } },
  ];
  const parse = (text: string): Record<string, unknown>[] => JSON.parse(text);

  const same: [what: string, elements: Record<string, unknown>[]][] = [
    ['another token', [{ ...base[0], relayAccessToken: 'b' }]],
    ['no token', parse(JSON.stringify(base).replace('"relayAccessToken":"a",', ''))],
    ['fields in another order', [Object.fromEntries(Object.entries(base[0] ?? {}).reverse())]],
    ['inner fields in another order', [{ ...base[0], extra: { b: [2], a: 1 } }]],
    ['other white space', parse(JSON.stringify(base, null, 4))],
  ];
  for (const [what, elements] of same)
    it(`is the same with ${what}`, () => assert.equal(hashRequest(elements), hashRequest(base)));

  const other: [what: string, elements: Record<string, unknown>[]][] = [
    ['another value', [{ ...base[0], relayId: '8' }]],
    ['an extra field', [{ ...base[0], comment: '' }]],
    ['a list in another order', [{ ...base[0], emails: ['b@x.org', 'a@x.org'] }]],
    ['the action twice', [...base, ...base]],
    ['no action', []],
    ['a number for a text', [{ ...base[0], relayId: 7 }]],
    [
      'a list of pairs for an object',
      [
        {
          ...base[0],
          extra: [
            ['a', 1],
            ['b', [2]],
          ],
        },
      ],
    ],
    ['another field name', [{ ...base[0], extra: { a: 1, c: [2] } }]],
  ];
  for (const [what, elements] of other)
    it(`differs with ${what}`, () => assert.notEqual(hashRequest(elements), hashRequest(base)));

  it('differs for reordered actions', () => {
    const [one, two] = [{ action: 'a' }, { action: 'b' }];
    assert.notEqual(hashRequest([one, two]), hashRequest([two, one]));
  });

  it('depends on the request only', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .map(([name, inner]) => [name, shuffled(inner)])
          .reverse(),
      );
    };
    const element = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
    fc.assert(
      fc.property(fc.array(element, { maxLength: 3 }), fc.string(), (elements, token) => {
        const again = elements.map((one) => ({ ...Object(shuffled(one)), relayAccessToken: token }));
        assert.equal(hashRequest(again), hashRequest(elements));
        assert.match(hashRequest(elements), /^[0-9a-f]{64}$/);
      }),
    );
  });
});
