import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCredential } from '../../../src/contract/credential.js';
import { proposalOf } from '../../../src/door/proposal.js';
import { tokensIn } from '../../../src/door/tokens.js';

const made = makeCredential('rlt_');
const taken = 'a token, "taken" over';
const simple = 'taken-over-from-elsewhere';

describe('a token is found and cut out, anywhere in the text', () => {
  const cases: [what: string, text: string, token: string, masked: string][] = [
    ['in its field', `{"relayAccessToken":"${made}","a":1}`, made, '{"relayAccessToken":"***","a":1}'],
    [
      'twice',
      `{"relayAccessToken":"${simple}","body":"I paste ${simple}"}`,
      simple,
      '{"relayAccessToken":"***","body":"I paste ***"}',
    ],
    ['in an unclosed string', `{"relayAccessToken":"${simple},"a":1}`, simple, '{"relayAccessToken":"***,"a":1}'],
    ['at the end of a truncated body', `[{"relayAccessToken":"${made}`, made, '[{"relayAccessToken":"***'],
    ['in another text', `{"body":"use ${made}!"}`, made, '{"body":"use ***!"}'],
    [
      'with quotation marks and commas in it',
      `{"relayAccessToken":${JSON.stringify(taken)},"a":1}`,
      taken,
      '{"relayAccessToken":"***","a":1}',
    ],
    ['between single quotation marks', `{'relayAccessToken':'${simple}'}`, simple, "{'relayAccessToken':'***'}"],
    ['escaped twice', `"[{\\"relayAccessToken\\":\\"${simple}\\"}]"`, simple, '"[{\\"relayAccessToken\\":\\"***\\"}]"'],
    ['percent-encoded', `p=%7B%22relayAccessToken%22%3A%22${simple}%22%7D`, simple, 'p=%7B%22relayAccessToken%22%3A%22***%22%7D'],
    ['without quotation marks', `relayAccessToken: ${simple}\nx`, simple, 'relayAccessToken: ***\nx'],
    ['under a misspelt name', `{"relay_acces_token":"${simple}"}`, simple, '{"relay_acces_token":"***"}'],
  ];
  for (const [what, text, token, masked] of cases) {
    it(what, () => {
      const found = tokensIn(text);
      assert(found.candidates.includes(token), JSON.stringify(found.candidates));
      assert.equal(found.masked.replaceAll(/\*+/g, '***'), masked);
      assert.equal(found.masked.length, text.length); // so that every place in the text stays the same
    });
  }

  it('and all other text stays at its position', () => {
    const text = `{"relayAccessToken":"${made}","body":"${made} x "blue" ${made}"}`;
    const { masked } = tokensIn(text);
    assert.equal(masked.slice(text.indexOf('blue')), `blue" ${'*'.repeat(made.length)}"}`);
  });

  it('but a short or common value only in its own field', () => {
    assert.equal(tokensIn('{"relayAccessToken":"a","body":"a banana"}').masked, '{"relayAccessToken":"*","body":"a banana"}');
  });

  it('even from a very large text', () => {
    for (const text of [
      `${made},`.repeat(6000),
      '"relayAccessToken":"'.repeat(12_000),
      'relayAccessToken '.repeat(15_000),
      `relayAccessToken${' '.repeat(250_000)}`,
    ]) {
      const { candidates, masked } = tokensIn(text);
      assert(candidates.length <= 100);
      assert(!masked.includes(made));
    }
  });
});

describe('a proposal', () => {
  const cases: [text: string, proposed: unknown][] = [
    ['[{"a":"he said "hi" and left"}]', [{ a: 'he said "hi" and left' }]],
    ["{'a':1}", [{ a: 1 }]],
    ['{"actions":[{"a":1},2]', [{ a: 1 }]],
    ['[{"a":1,"a":2}]', [{ a: 2 }]],
    ['[{"a":1},{"b":', [{ a: 1 }, { b: null }]],
    ['', undefined],
    ['5', undefined],
    ['['.repeat(32 * 1024), undefined],
    ['x'.repeat(64 * 1024), undefined],
  ];
  for (const [text, proposed] of cases) it(JSON.stringify(text.slice(0, 40)), () => assert.deepEqual(proposalOf(text), proposed));
});
