import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Mend, readMend, readSteering, type Steering, steeringSignals } from '../../src/contract/messages.js';

const longest = 366 * 24 * 3600;

describe('readSteering', () => {
  const cases: [argument: unknown, steering: Steering][] = [
    [0, { index: 0 }],
    [12, { index: 12 }],
    [[3], { index: 3 }],
    [{ index: 3 }, { index: 3 }],
    // tctl and shells make texts of numbers.
    ['3', { index: 3 }],
    [['3'], { index: 3 }],
    [['3', '60'], { index: 3, seconds: 60 }],
    [
      { index: '3', seconds: '60' },
      { index: 3, seconds: 60 },
    ],
    [[3, 60], { index: 3, seconds: 60 }],
    [[3, 0], { index: 3, seconds: 0 }],
    [[3, 1.5], { index: 3, seconds: 1.5 }],
    [[3, longest], { index: 3, seconds: longest }],
    [
      { index: 3, seconds: 60 },
      { index: 3, seconds: 60 },
    ],
    [
      { index: 3, by: 'ada' },
      { index: 3, by: 'ada' },
    ],
    [
      { index: 3, seconds: 60, by: 'ada' },
      { index: 3, seconds: 60, by: 'ada' },
    ],
    [{ index: 3, by: 7 }, { index: 3 }],
    [{ index: 3, other: true }, { index: 3 }],
  ];
  for (const [argument, steering] of cases) {
    it(`reads ${JSON.stringify(argument)}`, () => assert.deepEqual(readSteering(argument), steering));
  }

  const none: unknown[] = [
    undefined,
    null,
    true,
    '',
    ' ',
    'retry',
    -1,
    1.5,
    '-1',
    '1.5',
    '1e3',
    ' 1',
    2 ** 53,
    '9'.repeat(30),
    Number.NaN,
    [],
    [null],
    [[1]],
    [-1],
    ['a', 60],
    [1, -1],
    [1, null],
    [1, 'soon'],
    [1, longest + 1],
    [1, Number.POSITIVE_INFINITY],
    [1, [60]],
    {},
    { index: null },
    { index: [1] },
    { index: 1, seconds: -1 },
    { index: 1, seconds: 'soon' },
    { Index: 1 },
    { seconds: 60 },
    { length: 1, 0: 1 },
  ];
  for (const argument of none) {
    it(`refuses ${JSON.stringify(argument)}`, () => assert.equal(readSteering(argument), undefined));
  }

  it('never throws, and gives nothing but a whole index and seconds within reach', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (argument) => {
        const steering = readSteering(argument);
        if (!steering) return;
        assert.ok(Number.isSafeInteger(steering.index) && steering.index >= 0);
        assert.ok(steering.seconds === undefined || (steering.seconds >= 0 && steering.seconds <= longest));
      }),
    );
  });
});

describe('readMend', () => {
  const fields = { cfValue: 'v' };
  const cases: [argument: unknown, mend: Mend][] = [
    [[3, fields], { index: 3, fields }],
    [['3', fields], { index: 3, fields }],
    [[3, { emails: ['a@x.org'] }], { index: 3, fields: { emails: ['a@x.org'] } }],
    [[3, fields, {}], { index: 3, fields }],
    [[3, fields, { confirmUnknown: true, by: 'ada' }], { index: 3, fields, confirmUnknown: true, by: 'ada' }],
    [[3, fields, { index: 4, fields: {}, confirmUnknown: 'yes', by: 7 }], { index: 3, fields }],
    [
      { index: 3, fields, by: 'ada', number: 2 },
      { index: 3, fields, by: 'ada', number: 2 },
    ],
    [[3, {}], { index: 3, fields: {} }],
  ];
  for (const [argument, mend] of cases) it(`reads ${JSON.stringify(argument)}`, () => assert.deepEqual(readMend(argument), mend));

  const none: unknown[] = [
    undefined,
    3,
    [3],
    [3, null],
    [3, 'cfValue'],
    [3, [fields]],
    [-1, fields],
    [3, fields, {}, 1],
    { index: 3 },
    { fields },
    [3, { cfValue: [[['deep']]] }],
    [3, { cfValue: 'x'.repeat(300_000) }],
  ];
  for (const argument of none)
    it(`refuses ${JSON.stringify(argument)?.slice(0, 60)}`, () => assert.equal(readMend(argument), undefined));

  it('never throws, and gives nothing but a whole index and fields by their names', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.tuple(fc.nat(3), fc.jsonValue(), fc.jsonValue())), (argument) => {
        const mend = readMend(argument);
        if (mend) assert.ok(Number.isSafeInteger(mend.index) && mend.index >= 0 && !Array.isArray(mend.fields));
      }),
    );
  });
});

describe('steeringSignals', () => {
  it('are called as operators know them', () => {
    assert.deepEqual(
      Object.entries(steeringSignals).map(([name, signal]) => [name, signal.name]),
      ['retry', 'mend', 'skip', 'runNow', 'cancelAction', 'reschedule'].map((name) => [name, name]),
    );
  });
});
