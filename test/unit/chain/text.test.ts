import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { blankness, cutShort, fitBytes, jsonBytes, oneLine, unsubstituted } from '../../../src/chain/text.js';

describe('cutShort', () => {
  const cases: [text: string, length: number, cut: string][] = [
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['', 3, ''],
    ['ab😀', 4, 'ab😀'],
    ['ab😀c', 4, 'ab…'],
    ['abc😀d', 4, 'abc…'],
    ['a😀bc', 4, 'a😀…'],
  ];
  for (const [text, length, cut] of cases) {
    it(`${JSON.stringify(text)} to ${length} is ${JSON.stringify(cut)}`, () => assert.equal(cutShort(text, length), cut));
  }
  it('keeps 200 characters by default', () => assert.equal(cutShort('x'.repeat(201)).length, 200));
});

describe('fitBytes', () => {
  const cases: [text: string, bytes: number, fits: string][] = [
    ['abc', 5, 'abc'],
    ['abcd', 5, '…'],
    ['abcdef', 7, 'ab…'],
    ['äöü', 8, 'äöü'],
    ['äöüä', 8, 'ä…'],
    ['割割', 8, '割割'],
    ['割割割', 8, '割…'],
    ['😀😀', 10, '😀😀'],
    ['😀😀😀', 10, '😀…'],
    ['""""', 10, '""""'],
    ['"""""', 10, '""…'],
  ];
  for (const [text, bytes, fits] of cases) {
    it(`${JSON.stringify(text)} in ${bytes} bytes is ${JSON.stringify(fits)}`, () => assert.equal(fitBytes(text, bytes), fits));
  }

  it('respects the byte limit and splits no character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 5, max: 100 }), (text, bytes) => {
        const fits = fitBytes(text, bytes);
        assert.ok(Buffer.byteLength(JSON.stringify(fits)) <= bytes);
        assert.equal(jsonBytes(fits), Buffer.byteLength(JSON.stringify(fits)));
        if (fits !== text) assert.ok(text.startsWith(fits.slice(0, -1)) && !/\p{Cs}/u.test(fits));
      }),
    );
  });
});

describe('oneLine', () => {
  for (const [text, line] of [
    ['a\r\nBcc: b', 'a Bcc: b'],
    [' a \u2028 b\u2029c\u0085d\u0000e\t', 'a b c d e'],
    ['\n', ''],
    ['\u202egnp.exe\u2066 \u200fx', 'gnp.exe x'],
    ['ä 割 👩‍💻', 'ä 割 👩‍💻'],
  ] as const) {
    it(`turns ${JSON.stringify(text)} into ${JSON.stringify(line)}`, () => assert.equal(oneLine(text), line));
  }
});

describe('an unfilled variable', () => {
  const cases: [text: string, blank: boolean, left: string | undefined, words?: string][] = [
    ['', true, undefined, 'is blank'],
    [' \t\u00a0\n', true, undefined, 'is blank'],
    ['a', false, undefined],
    ['0', false, undefined],
    ['$5', false, undefined],
    ['{a}', false, undefined],
    ['${', false, undefined],
    ['$ {a}', false, undefined],
    ['${a}', true, '${a}', 'has no value: the webhook did not fill in "${a}"'],
    [' ${a} ', true, '${a}', 'has no value: the webhook did not fill in "${a}"'],
    ['${}', true, '${}', 'has no value: the webhook did not fill in "${}"'],
    ['${custom_field_7}', true, '${custom_field_7}', 'has no value: the webhook did not fill in "${custom_field_7}"'],
    ['501,${a},${b}', true, '${a}', 'has no value: the webhook did not fill in "501,${a},${b}"'],
  ];
  for (const [text, blank, left, words] of cases) {
    it(`${JSON.stringify(text)}: ${blank ? 'blank' : 'not blank'}, left ${left}`, () => {
      assert.equal(unsubstituted(text), left);
      assert.equal(blankness(text) !== undefined, blank);
      assert.equal(blankness(text), words);
    });
  }
});
