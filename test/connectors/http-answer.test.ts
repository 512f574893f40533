import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJson } from '../../src/connectors/http-answer.js';

describe('parseJson', () => {
  for (const text of ['{"a":[1,"x",null]}', '"[[["', String.raw`"\"[{"`, '0', 'true']) {
    it(`reads ${text}`, () => assert.deepEqual(parseJson(text), JSON.parse(text)));
  }
  for (const text of ['', '{', 'nope', '{"a":1}x', '<html>'])
    it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => parseJson(text), SyntaxError));

  it('reads 100 levels and refuses 101, and a hundred thousand', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    assert.doesNotThrow(() => parseJson(nested(100)));
    for (const levels of [101, 100_000]) assert.throws(() => parseJson(nested(levels)), /deeper than 100/);
  });

  for (const key of ['__proto__', String.raw`\u005f_proto__`, String.raw`__p\u0072oto__`]) {
    it(`leaves out ${key}`, () => {
      const value = parseJson(`{"a":{"${key}":{"status":"sent"},"b":1}}`);
      assert.equal(JSON.stringify(value), '{"a":{"b":1}}');
    });
  }
});
