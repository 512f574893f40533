import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Correction, correct } from '../../src/chain/correct.js';
import type { Fields } from '../../src/chain/fields.js';

describe('correct', () => {
  const cases: [title: string, fields: Fields, correction: Correction, becomes: Fields][] = [
    ['replaces every occurrence', { a: 'x-x' }, { field: 'a', replace: { from: 'x', to: 'y' } }, { a: 'y-y' }],
    ['takes the new text as it is', { a: 'x' }, { field: 'a', replace: { from: 'x', to: '$&$1' } }, { a: '$&$1' }],
    ['trims', { a: ' x ' }, { field: 'a', trim: true }, { a: 'x' }],
    ['replaces what is blank', { a: ' ' }, { field: 'a', default: 'd' }, { a: 'd' }],
    ['replaces what was not substituted', { a: '${a}' }, { field: 'a', default: 'd' }, { a: 'd' }],
    ['gives what is missing', {}, { field: 'a', default: 'd' }, { a: 'd' }],
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
    ['leaves what is right', { a: 'x', b: 'y' }, { field: 'a', replace: { from: 'y', to: 'z' }, trim: true, default: 'd' }, {}],
    ['leaves what is missing', {}, { field: 'a', trim: true }, {}],
    ['leaves a list that is right', { a: ['x'] }, { field: 'a', trim: true }, {}],
  ];
  for (const [title, fields, correction, becomes] of cases)
    it(title, () => assert.deepEqual(correct(fields, correction), becomes));
});
