import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blankness, isBlank, unsubstituted } from '../../src/chain/substitution.js';

describe('what the substitution leaves behind', () => {
  const cases: [text: string, blank: boolean, left: string | undefined, words?: string][] = [
    ['', true, undefined, 'is blank'],
    [' \t\u00a0\n', true, undefined, 'is blank'],
    ['a', false, undefined],
    ['0', false, undefined],
    ['$5', false, undefined],
    ['{a}', false, undefined],
    ['${', false, undefined],
    ['$ {a}', false, undefined],
    ['${a}', true, '${a}', 'is "${a}", not substituted'],
    [' ${a} ', true, '${a}', 'is "${a}", not substituted'],
    ['${}', true, '${}', 'is "${}", not substituted'],
    ['${custom_field_7}', true, '${custom_field_7}', 'is "${custom_field_7}", not substituted'],
    ['501,${a},${b}', true, '${a}', 'is "501,${a},${b}", not substituted'],
  ];
  for (const [text, blank, left, words] of cases) {
    it(`${JSON.stringify(text)}: ${blank ? 'blank' : 'not blank'}, left ${left}`, () => {
      assert.equal(isBlank(text), blank);
      assert.equal(unsubstituted(text), left);
      if (words !== undefined) assert.equal(blankness(text), words);
    });
  }
});
