import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Condition,
  conditionOf,
  expressionOf,
  fieldsOfCondition,
  noCondition,
  type Row,
  readExpression,
  typedValue,
} from '../../../src/chain/comparisons.js';

const draft: Row = { of: 'assignment', path: 'status', comparison: 'is', value: 'draft' };
const urgent: Row = { of: 'event', path: 'job.priority', comparison: 'more', value: 3 };

describe('a condition', () => {
  const cases: [condition: Condition, fields: { actionCondition?: string; if?: string }][] = [
    [noCondition, {}],
    [{ rows: [draft], join: 'and' }, { actionCondition: 'status==draft' }],
    [{ rows: [{ ...draft, comparison: 'not' }], join: 'and' }, { actionCondition: 'status!=draft' }],
    [{ rows: [{ ...draft, path: 'a[0].b', value: 'x && y' }], join: 'and' }, { actionCondition: 'a[0].b=="x && y"' }],
    [{ rows: [{ ...draft, value: '' }], join: 'and' }, { actionCondition: 'status==""' }],
    [
      { rows: [{ of: 'incomingValue', path: '', comparison: 'is', value: 'yes' }], join: 'and' },
      { actionCondition: 'incomingValue==yes' },
    ],
    [{ rows: [draft, urgent], join: 'and' }, { if: 'assignment.status == "draft" && event.job.priority > 3' }],
    [{ rows: [draft, urgent], join: 'or' }, { if: 'assignment.status == "draft" || event.job.priority > 3' }],
    [{ rows: [], join: 'and', text: 'event.tags.exists(t, t == "x")' }, { if: 'event.tags.exists(t, t == "x")' }],
  ];
  for (const [condition, fields] of cases)
    it(`is stored as ${JSON.stringify(fields)}, and read from it`, () => {
      assert.deepEqual(fieldsOfCondition(condition), fields);
      const read = conditionOf(fields);
      assert.deepEqual({ ...read, rows: [...read.rows] }, condition);
    });

  it('is not stored before a person has chosen the property', () =>
    assert.deepEqual(fieldsOfCondition({ rows: [{ ...urgent, path: '' }, draft], join: 'and' }), {
      actionCondition: 'status==draft',
    }));

  it('joins both fields of the API', () =>
    assert.deepEqual(conditionOf({ actionCondition: 'status==draft', if: 'event.job.priority > 3' }).rows, [draft, urgent]));

  it('keeps the actionCondition if the expression cannot be shown as rows', () => {
    const condition = conditionOf({ actionCondition: 'status==draft', if: 'event.a + event.b > 3' });
    assert.deepEqual(condition, { rows: [draft], join: 'and', text: 'event.a + event.b > 3' });
    assert.deepEqual(fieldsOfCondition(condition), { actionCondition: 'status==draft', if: 'event.a + event.b > 3' });
  });
});

describe('CEL', () => {
  const terms: [term: string, row: Row][] = [
    ['event.a == "x"', { of: 'event', path: 'a', comparison: 'is', value: 'x' }],
    ['event.a == "say \\"&&\\""', { of: 'event', path: 'a', comparison: 'is', value: 'say "&&"' }],
    ['event.a != true', { of: 'event', path: 'a', comparison: 'not', value: true }],
    ['event.a[0].b < -1.5', { of: 'event', path: 'a[0].b', comparison: 'less', value: -1.5 }],
    ['assignment["odd-name"].in2 == 1', { of: 'assignment', path: 'odd-name.in2', comparison: 'is', value: 1 }],
    ['event.a.contains("x")', { of: 'event', path: 'a', comparison: 'contains', value: 'x' }],
    ['has(event.a.b)', { of: 'event', path: 'a.b', comparison: 'exists', value: '' }],
    ['!(has(event.a.b))', { of: 'event', path: 'a.b', comparison: 'missing', value: '' }],
  ];
  for (const [term, row] of terms)
    it(`${term} is shown as a row`, () => {
      assert.deepEqual(readExpression(term)?.rows, [row]);
      assert.equal(expressionOf([row], 'and'), term);
    });

  it('a reserved word after a dot is in brackets', () =>
    assert.equal(
      expressionOf([{ of: 'event', path: 'in.as', comparison: 'is', value: 'x' }], 'and'),
      'event["in"]["as"] == "x"',
    ));

  it('other CEL stays a text', () => {
    for (const text of [
      'event.a + 1 > 2',
      'event.a == "x" && event.b || true',
      'event.a == event.b',
      'now > event.at',
      '(event.a',
      '',
    ])
      assert.equal(readExpression(text), undefined, text);
  });
});

it('a value has the type that the property has had', () => {
  for (const [text, comparison, seen, value] of [
    ['7', 'is', 3, 7],
    ['7', 'is', '3', '7'],
    ['7', 'is', undefined, '7'],
    ['07', 'is', 3, '07'],
    ['true', 'not', false, true],
    ['7', 'more', undefined, 7],
    ['7.', 'more', undefined, '7.'],
    ['7', 'contains', 3, '7'],
  ] as const)
    assert.equal(typedValue(text, comparison, seen), value, `${text} ${comparison} ${seen}`);
});
