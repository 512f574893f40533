import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cutShort, fitBytes, jsonBytes, oneLine } from '../../src/chain/text.js';

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
  it('leaves 200 characters unless told otherwise', () => assert.equal(cutShort('x'.repeat(201)).length, 200));
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

  it('keeps to the bytes and cuts no character in two', () => {
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
    ['ä 割 👩‍💻', 'ä 割 👩‍💻'],
  ] as const) {
    it(`makes ${JSON.stringify(text)} ${JSON.stringify(line)}`, () => assert.equal(oneLine(text), line));
  }
});
