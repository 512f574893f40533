import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { effectFailure } from '../../../src/activities/failure.js';
import { ConnectorError } from '../../../src/connectors/call.js';

const ref = { companyId: 'acme', chainId: 'c', index: 0, relayId: '7', retryBudgetSeconds: 600 };

function failure(error: ConnectorError, { attempt = 1, once = false } = {}) {
  const run = async () => effectFailure('platform', error, ref, { once });
  return new MockActivityEnvironment({ attempt }).run<[], ApplicationFailure, typeof run>(run);
}

describe('the failure of an effect', () => {
  const again = { nonRetryable: false, retryable: true };
  const told = { nonRetryable: true, retryable: true };
  const over = { nonRetryable: true, retryable: false };
  const cases: [string, ConnectorError, { attempt?: number; once?: boolean }, { nonRetryable: boolean; retryable: boolean }][] = [
    ['a refusal ends the effect', new ConnectorError('permanent', 'answered 404', { status: 404 }), {}, over],
    ['an outage is tried again', new ConnectorError('retryable', 'answered 503', { status: 503 }), {}, again],
    ['a call without an answer is tried again', new ConnectorError('retryable', 'no answer', { unanswered: true }), {}, again],
    ['a mail that may have been sent is tried again', new ConnectorError('unknown', 'closed'), {}, again],
    ['a wait within the budget is respected', new ConnectorError('retryable', '', { retryAfterSeconds: 300 }), {}, again],
    ['a wait beyond the budget is reported', new ConnectorError('retryable', '', { retryAfterSeconds: 601 }), {}, told],
    [
      'waits that add up beyond the budget are reported',
      new ConnectorError('retryable', '', { retryAfterSeconds: 300 }),
      { attempt: 3 },
      told,
    ],
    [
      'if only one attempt is allowed, the workflow handles an outage',
      new ConnectorError('retryable', 'answered 503', { status: 503 }),
      { once: true },
      told,
    ],
    [
      'if only one attempt is allowed, the workflow handles a refused connection',
      new ConnectorError('retryable', 'refused'),
      { once: true },
      told,
    ],
    [
      'if only one attempt is allowed, an unanswered call is not repeated',
      new ConnectorError('retryable', '', { unanswered: true }),
      { once: true },
      over,
    ],
    [
      'if only one attempt is allowed, a mail that may have been sent is not repeated',
      new ConnectorError('unknown', 'closed'),
      { once: true },
      over,
    ],
  ];
  for (const [name, error, options, expected] of cases) {
    it(name, async () => {
      const { nonRetryable, details, type } = await failure(error, options);
      const [{ retryable, unknown }] = details as [{ retryable: boolean; unknown?: boolean }];
      assert.deepEqual({ nonRetryable, retryable }, expected);
      const isUnknown = error.kind === 'unknown' || (options.once === true && error.facts.unanswered === true);
      assert.deepEqual([type, unknown], isUnknown ? ['OutcomeUnknown', true] : ['PlatformError', undefined]);
    });
  }

  it("has the connector's text, unless the outcome is unknown", async () => {
    const words = { title: 'Autotask did not answer', remedy: 'Check its address, or wait until it answers, then retry' };
    const wordsOf = async (error: ConnectorError, once: boolean) => {
      const [{ title, remedy }] = (await failure(error, { once })).details as [{ title?: string; remedy?: string }];
      return { title, remedy };
    };
    const silent = new ConnectorError('retryable', 'no answer', { unanswered: true, ...words });
    assert.deepEqual(await wordsOf(silent, false), words);
    assert.match((await wordsOf(silent, true)).remedy ?? '', /^Check in the other system/);
    assert.deepEqual(await wordsOf(new ConnectorError('unknown', 'cut', { settled: true, ...words }), true), words);
    const long = new ConnectorError('permanent', 'no', { title: 'x'.repeat(500), remedy: 'y'.repeat(500) });
    const { title = '', remedy = '' } = await wordsOf(long, false);
    assert.deepEqual([title.length, remedy.length], [200, 300]);
  });
});
