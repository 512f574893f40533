import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Correction, correct } from '../../../src/chain/correct.js';
import type { Fields } from '../../../src/chain/fields.js';

describe('correct', () => {
  const cases: [title: string, fields: Fields, correction: Correction, becomes: Fields][] = [
    ['replaces every occurrence', { a: 'x-x' }, { field: 'a', replace: { from: 'x', to: 'y' } }, { a: 'y-y' }],
    ['uses the new text literally', { a: 'x' }, { field: 'a', replace: { from: 'x', to: '$&$1' } }, { a: '$&$1' }],
    ['trims', { a: ' x ' }, { field: 'a', trim: true }, { a: 'x' }],
    ['replaces a blank value', { a: ' ' }, { field: 'a', default: 'd' }, { a: 'd' }],
    ['replaces an unsubstituted value', { a: '${a}' }, { field: 'a', default: 'd' }, { a: 'd' }],
    ['adds a missing value', {}, { field: 'a', default: 'd' }, { a: 'd' }],
    [
      'does all three, in this order',
      { a: ' x ' },
      { field: 'a', replace: { from: 'x', to: '' }, trim: true, default: 'd' },
      { a: 'd' },
    ],
    [
      'corrects each text of a list',
      { a: ['u@exampel.com', 'v@x.org'] },
      { field: 'a', replace: { from: 'exampel', to: 'example' } },
      { a: ['u@example.com', 'v@x.org'] },
    ],
    ['leaves a correct value', { a: 'x', b: 'y' }, { field: 'a', replace: { from: 'y', to: 'z' }, trim: true, default: 'd' }, {}],
    ['leaves a missing value', {}, { field: 'a', trim: true }, {}],
    ['leaves a correct list', { a: ['x'] }, { field: 'a', trim: true }, {}],
  ];
  for (const [title, fields, correction, becomes] of cases)
    it(title, () => assert.deepEqual(correct(fields, correction), { ok: true, changes: becomes }));

  const grow = (to: number) => ({ field: 'a', replace: { from: 'x', to: 'y'.repeat(to) } });
  const tooLong: [title: string, fields: Fields, correction: Correction][] = [
    ['a text', { a: 'x'.repeat(200_000) }, grow(1000)],
    ['a list', { a: Array(1000).fill('x'.repeat(200)) }, grow(1000)],
    ['a list of blank values', { a: Array(50_000).fill('') }, { field: 'a', default: 'd'.repeat(10_000) }],
  ];
  for (const [title, fields, correction] of tooLong)
    it(`refuses a result that would be too long: ${title}`, () => {
      const resident = process.memoryUsage().rss;
      assert.deepEqual(correct(fields, correction), {
        ok: false,
        error: 'a can have at most 256 KiB: shorten the new text',
      });
      assert.ok(process.memoryUsage().rss - resident < 50e6);
    });

  it('allows a text of exactly the maximum length', () => {
    const { changes } = correct({ a: 'x'.repeat(1024) }, grow(256));
    assert.equal(String(changes?.a).length, 256 * 1024);
    assert.equal(correct({ a: `${'x'.repeat(1024)}z` }, grow(256)).ok, false);
  });
});
