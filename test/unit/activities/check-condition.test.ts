import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { checkCondition } from '../../../src/activities/check-condition.js';
import type { Deps } from '../../../src/activities/effect.js';
import { InFlight } from '../../../src/activities/in-flight.js';
import type { Condition, Opaque } from '../../../src/chain/condition.js';
import type { LateQuestion } from '../../../src/chain/late.js';
import type { Activities } from '../../../src/contract/activities.js';
import { Metrics } from '../../../src/service/telemetry.js';

const opaque = (parts: Opaque): Condition => ({ path: [], operator: '==', value: 'for people', opaque: parts });
const assignment = {
  status: 'draft',
  title: 'Roof',
  long: 'x'.repeat(10_000),
  many: Array.from({ length: 51 }, (_, n) => `a${n}@x.org`).join(),
};

interface Asked {
  condition: Condition;
  late?: LateQuestion;
  assignmentId?: string;
  pauses?: unknown[];
}

/** @returns the answer or the error, and the number of times that the platform was asked. */
async function check({ condition, late, assignmentId = '1', pauses = [] }: Asked) {
  let looks = 0;
  const usage = { of: () => ({ actions: 0, recipients: 0 }), add: () => {}, settle: async () => {} };
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC' };
  const rules = new Map([['7', { companyId: 'acme', relayId: '7', enabled: true }]]);
  const log = pino({ enabled: false });
  const deps = {
    store: { settings: { of: async () => ({ company, rules, pauses }), refresh: async () => {} }, usage },
    connectors: {
      platformOf: () => ({
        async getAssignment() {
          looks += 1;
          return assignment;
        },
      }),
    },
    recipientsPerDay: 100,
    inFlight: new InFlight({ log, metrics: new Metrics() }),
    log,
    client: {},
  } as unknown as Deps;
  const ref = { companyId: 'acme', chainId: 'c', index: 0, relayId: '7', retryBudgetSeconds: 600 };
  const environment = new MockActivityEnvironment({ startToCloseTimeoutMs: 4000 });
  const { runId: firstRunId } = environment.context.info.workflowExecution ?? { runId: '' };
  const input = { ...ref, assignmentId, condition, ...(late && { late: { ...late, firstRunId } }) };
  const answer: ReturnType<Activities['checkCondition']> = environment.run(() => checkCondition(deps)(input));
  const error = await answer.then(
    () => undefined,
    (error: { type: string; message: string }) => `${error.type}: ${error.message}`,
  );
  return { answer: error === undefined ? await answer : undefined, error, looks };
}

describe('the check of an action that was made from an event', () => {
  const isDraft: Condition = { path: ['status'], operator: '==', value: 'draft' };
  const urgent = { text: 'event.n > 3', event: { n: 4 } };
  const title = { paths: ['title'] };
  const values = { title: 'Roof' };
  const cases: [name: string, asked: Asked, holds: boolean, late: unknown, looks: number][] = [
    ['makes no call for an expression on the event', { condition: opaque({ if: urgent }) }, true, undefined, 0],
    [
      'asks the platform once',
      { condition: opaque({ condition: isDraft, if: urgent, late: true }), late: title },
      true,
      { values },
      1,
    ],
    [
      'reads no values of the assignment if the expression is not true',
      { condition: opaque({ if: { ...urgent, event: { n: 1 } }, late: true }), late: title },
      false,
      undefined,
      1,
    ],
    ['makes no call if the values are known', { condition: opaque({ late: true }) }, true, undefined, 0],
    [
      'is not stopped by a pause of a system that it does not need',
      { condition: opaque({ if: urgent }), pauses: [{ what: 'platform', since: '' }] },
      true,
      undefined,
      0,
    ],
  ];
  for (const [name, asked, holds, late, looks] of cases)
    it(name, async () => {
      const seen = await check(asked);
      assert.deepEqual([seen.error, seen.answer?.holds, seen.answer?.late, seen.looks], [undefined, holds, late, looks]);
    });

  const late = opaque({ late: true });
  const mistakes: [name: string, asked: Asked, error: RegExp][] = [
    [
      'a part that only newer workers know',
      { condition: opaque({ ...{ other: 1 }, late: true }) },
      /^ConfigurationMistake: The relay is too old for this condition/,
    ],
    [
      'no assignment to ask for',
      { condition: late, late: title, assignmentId: '' },
      /^DataMistake: platformAssignmentId is blank/,
    ],
    [
      'a missing value',
      { condition: late, late: { paths: ['a.b'] } },
      /^DataMistake: the assignment has no value for \$\{assignment\.a\.b\}$/,
    ],
    [
      'long values',
      { condition: late, late: { paths: ['long', 'title'] } },
      /^DataMistake: the values of the assignment are too long: long, title/,
    ],
    [
      'no recipient',
      { condition: late, late: { ...title, emails: [['', 'title', '']] } },
      /^DataMistake: emails has no valid e-mail address/,
    ],
    [
      'many recipients',
      { condition: late, late: { paths: ['many'], emails: [['', 'many', '']] } },
      /^DataMistake: emails has 51 recipients; at most 50/,
    ],
    [
      'an expression that fails',
      { condition: opaque({ if: { text: 'assignment.none > 3', event: {} } }) },
      /^DataMistake: the condition "if" cannot be checked/,
    ],
    ['a pause', { condition: late, late: title, pauses: [{ what: 'platform', since: '2026-07-01T12:00:00Z' }] }, /^Paused: /],
  ];
  for (const [name, asked, error] of mistakes)
    it(`is refused: ${name}`, async () => {
      const seen = await check(asked);
      assert.match(seen.error ?? '', error);
      assert.doesNotMatch(seen.error ?? '', /Roof|xxx/);
    });
});
