import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Condition, Opaque } from '../../../src/chain/condition.js';
import { asksAssignment, evaluateParts, forecastCondition, partsOf } from '../../../src/rules/opaque.js';

const now = new Date('2026-07-01T12:00:00Z');
const isDraft: Condition = { path: ['status'], operator: '==', value: 'draft' };
const isHigh: Condition = { path: ['incomingValue'], operator: '==', value: 'high' };
const urgent = { text: 'event.priority > 3', event: { priority: 4 } };
const big = { text: 'assignment.pay > 100', event: {} };
const subjects = { assignment: { status: 'draft', pay: 50 }, incomingValue: 'high', now };

describe('the parts of a condition', () => {
  const cases: [name: string, parts: Opaque, seen: boolean | RegExp, asks: boolean][] = [
    ['a plain condition', partsOf(isDraft), true, true],
    ['a condition on incomingValue', partsOf(isHigh), true, false],
    ['an expression on the event', { if: urgent }, true, false],
    ['an expression that is not true', { if: big }, false, true],
    ['a word in a text is no name', { if: { text: 'event.kind == "assignment"', event: { kind: 'assignment' } } }, true, false],
    ['both hold', { condition: isDraft, if: urgent }, true, true],
    ['the condition is not true', { condition: { ...isDraft, operator: '!=' }, if: urgent }, false, true],
    ['the expression is not true', { condition: isHigh, if: { ...urgent, event: { priority: 1 } } }, false, false],
    ['the value of the request', { if: { text: 'incomingValue == "high"', event: {} } }, true, false],
    ['the time', { if: { text: 'now > timestamp("2026-01-01T00:00:00Z")', event: {} } }, true, false],
    [
      'a value is missing',
      { if: { text: 'assignment.urgency > 3', event: {} } },
      /^the condition "if" cannot be checked: /,
      true,
    ],
    ['only late texts', { late: true }, true, false],
  ];
  for (const [name, parts, expected, asks] of cases)
    it(name, () => {
      const seen = evaluateParts(parts, subjects);
      if (expected instanceof RegExp) assert.match(seen.error ?? '', expected);
      else assert.equal(seen.verdict?.holds, expected);
      assert.equal(asksAssignment(parts), asks);
    });

  it('say why the condition is not true', () => {
    const { verdict } = evaluateParts({ condition: { ...isDraft, value: 'sent' }, if: urgent }, subjects);
    assert.deepEqual(verdict, { holds: false, reason: 'status was "draft"', missing: false });
    assert.match(evaluateParts({ if: big }, subjects).verdict?.reason ?? '', /assignment\.pay was 50/);
  });

  it('report a missing property of the condition, although the expression is not evaluated', () => {
    const { verdict } = evaluateParts({ condition: { ...isDraft, path: ['sttus'] }, if: big }, subjects);
    assert.deepEqual(verdict, { holds: false, reason: 'sttus: no such property', missing: true });
  });

  it('have the same result in a forecast', () => {
    const forecast = (opaque: Opaque) =>
      forecastCondition({ condition: { ...isDraft, path: [], opaque } }, subjects.assignment, now);
    assert.equal(forecastCondition({}, subjects.assignment, now), undefined);
    assert.deepEqual(forecast({ condition: isDraft }), { holds: true, reason: 'status was "draft"' });
    assert.match(JSON.stringify(forecast({ if: { text: 'assignment.x > 1', event: {} } })), /"retryable":false/);
  });
});
