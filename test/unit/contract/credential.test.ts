import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isMistyped, makeCredential } from '../../../src/contract/credential.js';

describe('credentials', () => {
  it('have a recognisable form, are different, and are valid when created', () => {
    const made = Array.from({ length: 200 }, (_, index) => makeCredential(index % 2 === 0 ? 'rle_' : 'rlk_'));
    assert.equal(new Set(made).size, 200);
    for (const credential of made) {
      assert.match(credential, /^rl[ek]_[0-9A-Za-z]{36}$/);
      assert.equal(isMistyped(credential), false);
    }
  });

  it('reveal a typing error in any place, and a truncated text', () => {
    const token = makeCredential('rlt_');
    for (let place = 4; place < token.length; place++) {
      const other = token[place] === 'x' ? 'y' : 'x';
      assert.equal(isMistyped(token.slice(0, place) + other + token.slice(place + 1)), true, `at ${place}`);
      assert.equal(isMistyped(token.slice(0, place)), true, `cut at ${place}`);
    }
    assert.equal(isMistyped(`${token}0`), true);
  });

  it('are not checked if they are tokens of other systems', () => {
    for (const token of ['', 'secret', 'rlx_1', 'RLT_abc']) assert.equal(isMistyped(token), false);
  });
});
