import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recipientsOfTry } from '../../../src/chain/emails.js';

const [a, b, c] = ['a@x.example', 'b@x.example', 'c@x.example'];
const deliveries = [
  { recipient: a, sent: true },
  { recipient: b, sent: false },
];

describe('the recipients of a try', () => {
  it('are all recipients in the first try', () =>
    assert.deepEqual(recipientsOfTry([a, b], {}), { shown: [a, b], others: [a, b] }));
  it('are the recipients without a copy in a later try', () =>
    assert.deepEqual(recipientsOfTry([a, b, c], { deliveries }), { shown: [a, b, c], others: [b, c] }));
  it('recognise a copy in another spelling, and show first the recipients that an edit removed', () =>
    assert.deepEqual(recipientsOfTry(['Ada <A@x.example>', c], { deliveries }), {
      shown: [a, b, 'Ada <A@x.example>', c],
      others: [c],
    }));
  it('begin with another recipient in each try', () => {
    assert.deepEqual(recipientsOfTry([a, b, c], {}, 0), { shown: [a, b, c], first: a, others: [b, c] });
    assert.deepEqual(recipientsOfTry([a, b, c], {}, 4), { shown: [a, b, c], first: b, others: [a, c] });
  });
});
