import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { excerpt } from '../../../src/connectors/call.js';

describe('excerpt', () => {
  const cases: [name: string, text: string, secrets: string[], expected: string][] = [
    ['joins lines', ' a\r\n\tb\u0000c\u2028d\u202ee ', [], 'a b c d e'],
    ['replaces secrets', 'token s3cret, again s3cret', ['s3cret'], 'token ***, again ***'],
    ['replaces the longer of two secrets first', 'abcdef', ['abc', 'abcdef'], '***'],
    ['replaces percent-encoded secrets', 'p%2Fw%20d', ['p/w d'], '***'],
    ['replaces secrets inside JSON', String.raw`{"got":"a\"b\\c"}`, [String.raw`a"b\c`], '{"got":"***"}'],
    ['ignores an empty secret', 'abc', [''], 'abc'],
    ['keeps letters of any script', 'Zuweisung ungültig 割り当て 🙂', [], 'Zuweisung ungültig 割り当て 🙂'],
  ];
  for (const [name, text, secrets, expected] of cases) it(name, () => assert.equal(excerpt(text, secrets), expected));

  it('is at most 200 characters long', () => {
    assert.equal(excerpt('x'.repeat(200)).length, 200);
    assert.equal(excerpt('x'.repeat(201)), `${'x'.repeat(199)}…`);
  });

  it('hides a secret even if the cut would split it', () => {
    assert.doesNotMatch(excerpt(`${'x'.repeat(195)}s3cret`, ['s3cret']), /s3/);
  });
});
