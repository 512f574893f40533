import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { Shares } from '../../../src/service/shares.js';

describe('shares', () => {
  let now = 5000;
  before(() => mock.method(performance, 'now', () => now));
  after(() => mock.restoreAll());

  it('are taken at once, refill steadily, and never exceed their maximum', () => {
    const shares = new Shares(3, 100);
    const taken = () => Array.from({ length: 5 }, () => shares.take('a')).filter(Boolean).length;
    assert.equal(taken(), 3);
    assert.equal(shares.wait('a'), 100);
    assert.equal(shares.wait('b'), 0);
    now += 250;
    assert.equal(taken(), 2);
    now += 100_000;
    assert.equal(taken(), 3);
  });

  it('may be taken in advance, up to the given limit', () => {
    const shares = new Shares(1, 100);
    assert.deepEqual(
      Array.from({ length: 4 }, () => shares.take('a', 200)),
      [true, true, true, false],
    );
    assert.equal(shares.wait('a'), 300);
  });

  it('are forgotten if there are too many keys, the least recently used first', () => {
    const shares = new Shares(1, 100, 2);
    for (const key of ['a', 'b']) assert(shares.take(key));
    assert(shares.take('a', 1000));
    assert(shares.take('c'));
    assert.deepEqual(
      ['a', 'c', 'b'].map((key) => shares.take(key)),
      [false, false, true],
    );
  });
});
