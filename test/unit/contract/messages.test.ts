import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Decision,
  type Mend,
  readMend,
  readSignal,
  readSteering,
  type Steering,
  steeringSignals,
  together,
} from '../../../src/contract/messages.js';

const longest = 366 * 24 * 3600;

describe('readSteering', () => {
  const cases: [argument: unknown, steering: Steering][] = [
    [0, { index: 0 }],
    [12, { index: 12 }],
    [[3], { index: 3 }],
    [{ index: 3 }, { index: 3 }],
    // tctl and shells turn numbers into texts.
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

  it('never throws, and returns only whole indexes and allowed numbers of seconds', () => {
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
    [
      { index: 3, fields, allActions: true, others: [{ index: 4, fields: { subject: 's' } }] },
      { index: 3, fields, allActions: true, others: [{ index: 4, fields: { subject: 's' } }] },
    ],
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
    [3, fields, { allActions: true }],
    [3, fields, { others: [{ index: 'x', fields }] }],
    [3, fields, { others: [{ index: 4, fields: { cfValue: 'x'.repeat(300_000) } }] }],
    { index: 3 },
    { fields },
    [3, { cfValue: [[['deep']]] }],
    [3, { cfValue: 'x'.repeat(300_000) }],
  ];
  for (const argument of none)
    it(`refuses ${JSON.stringify(argument)?.slice(0, 60)}`, () => assert.equal(readMend(argument), undefined));

  it('never throws, and returns only whole indexes and named fields', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.tuple(fc.nat(3), fc.jsonValue(), fc.jsonValue())), (argument) => {
        const mend = readMend(argument);
        if (mend) assert.ok(Number.isSafeInteger(mend.index) && mend.index >= 0 && !Array.isArray(mend.fields));
      }),
    );
  });
});

describe('steeringSignals', () => {
  it('have the names that operators use', () => {
    assert.deepEqual(
      Object.entries(steeringSignals).map(([name, signal]) => [name, signal.name]),
      ['retry', 'mend', 'skip', 'runNow', 'cancelAction', 'reschedule'].map((name) => [name, name]),
    );
  });
});

describe('readSignal', () => {
  const inChain = { isChain: true, hasAction: (index: number) => index < 2 };
  const refused: [name: keyof typeof steeringSignals, argument: unknown, sentence: string][] = [
    ['retry', undefined, 'retry: its input must be an index or [index]'],
    ['retry', 'soon', 'retry "soon": its input must be an index or [index]'],
    ['retry', [1, 60], 'retry [1,60]: its input must be an index or [index]'],
    ['reschedule', [1], 'reschedule [1]: its input must be [index, seconds from now]'],
    ['skip', [2], 'skip [2]: there is no action 2'],
    ['cancelAction', { a: { b: { c: {} } } }, 'cancelAction […]: its input must be an index or [index]'],
  ];
  for (const [name, argument, sentence] of refused)
    it(sentence, () => assert.equal(readSignal(name, argument, inChain), sentence));

  it('a delayed action accepts only edits that its chain has numbered', () => {
    const mend = { index: 1, fields: { a: 'b' } };
    assert.deepEqual(readSignal('mend', mend, inChain), mend);
    assert.match(String(readSignal('mend', mend, { ...inChain, isChain: false })), /sent to the workflow of the chain$/);
    assert.deepEqual(readSignal('mend', { ...mend, number: 3 }, { ...inChain, isChain: false }), { ...mend, number: 3 });
    assert.equal(readSignal('mend', { ...mend, index: 2 }, { ...inChain, isChain: false }), 'mend [2]: there is no action 2');
  });
});

it('edits add up; a later retry keeps them, a later skip drops them', () => {
  const mend = (number: number): Decision => ({ verb: 'mend', mends: [{ index: 0, fields: {}, number }] });
  const both = together(mend(1), mend(2));
  assert.deepEqual(both, { verb: 'mend', mends: [1, 2].map((number) => ({ index: 0, fields: {}, number })) });
  assert.equal(together(both, { verb: 'retry' }), both);
  assert.deepEqual(together(both, { verb: 'skip', by: 'ada' }), { verb: 'skip', by: 'ada' });
  assert.deepEqual(together({ verb: 'skip', by: 'ada' }, { verb: 'retry' }), { verb: 'retry' });
});
