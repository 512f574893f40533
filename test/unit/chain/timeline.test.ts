import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scaleOf, width } from '../../../src/chain/timeline.js';

const minute = 60_000;
const span = (from: number, to: number) => ({ from: from * minute, to: to * minute });

describe('the scale of a timeline', () => {
  it('is linear in one chain', () => {
    const { place, breaks } = scaleOf([span(0, 60)]);
    assert.deepEqual(
      [0, 15, 30, 60].map((time) => place(time * minute)),
      [0, width / 4, width / 2, width],
    );
    assert.deepEqual(breaks, []);
  });

  it('keeps a gap between chains, if it is not longer than the chains', () => {
    const { place, breaks } = scaleOf([span(70, 100), span(0, 30), span(10, 20)]);
    assert.deepEqual(
      [0, 30, 70, 100].map((time) => Math.round(place(time * minute))),
      [0, 300, 700, 1000],
    );
    assert.deepEqual(breaks, []);
  });

  it('draws a long gap short, and says how long it is', () => {
    const { place, breaks } = scaleOf([span(0, 30), span(10_000, 10_030)]);
    const [only] = breaks;
    assert.equal(breaks.length, 1);
    assert.equal(only?.ms, 9_970 * minute);
    assert.ok(only && only.to - only.from < width / 10);
    assert.equal(Math.round(place(30 * minute)), Math.round(only.from));
    assert.ok(place(5_000 * minute) > only.from && place(5_000 * minute) < only.to);
    assert.equal(place(10_030 * minute), width);
  });

  it('places a time before or after the scale at its end, also without any chain', () => {
    const { place } = scaleOf([span(10, 20)]);
    assert.deepEqual(
      [0, 99].map((time) => place(time * minute)),
      [0, width],
    );
    assert.equal(scaleOf([]).place(1), 0);
    assert.equal(scaleOf([span(5, 5)]).place(5 * minute), 0);
  });
});
