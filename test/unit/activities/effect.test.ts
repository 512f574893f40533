import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { Deps } from '../../../src/activities/effect.js';
import { effectActivity } from '../../../src/activities/effect.js';
import { InFlight } from '../../../src/activities/in-flight.js';
import { Metrics } from '../../../src/service/telemetry.js';

const ref = { companyId: 'acme', chainId: 'c', index: 0, relayId: '7', retryBudgetSeconds: 600 };
const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC' };
const working = () => Promise.resolve(company);

/** @returns the error of one attempt at an effect under a rule with `onUnknown: "hold"`. */
async function failureOf(companies: () => Promise<unknown>, attempt: number): Promise<unknown> {
  const rule = { companyId: 'acme', relayId: '7', enabled: true, onUnknown: 'hold' };
  const store = {
    settings: {
      of: async () => ({ company: await companies(), rules: new Map([['7', rule]]), pauses: [] }),
      refresh: async () => {},
    },
  } as unknown as Deps['store'];
  const deps = {
    store,
    inFlight: new InFlight({ log: pino({ enabled: false }), metrics: new Metrics() }),
    log: pino({ enabled: false }),
    client: {} as Deps['client'], // Only local activities ask it.
  };
  return new MockActivityEnvironment({ startToCloseTimeoutMs: 400, attempt })
    .run(() => effectActivity(deps, 'mail', async () => {})(ref))
    .then(
      () => undefined,
      (error: unknown) => error,
    );
}

describe('the settings of an effect under onUnknown: "hold"', () => {
  it('are read by the first attempt', async () => {
    assert.equal(await failureOf(working, 1), undefined);
  });

  it('make a second attempt fail as unknown: nobody knows how the first one ended', async () => {
    const thrown = await failureOf(working, 2);
    assert(thrown instanceof ApplicationFailure);
    assert.deepEqual([thrown.type, thrown.nonRetryable], ['OutcomeUnknown', true]);
  });

  const databases: [string, () => Promise<unknown>][] = [
    ['is down', () => Promise.reject(new Error('connection refused'))],
    ['hangs', () => new Promise(() => {})],
  ];
  for (const [name, broken] of databases) {
    it(`cannot be read if the database ${name}: nothing is tried, and no attempt is counted`, async () => {
      for (const attempt of [1, 3]) {
        const thrown = await failureOf(broken, attempt);
        assert(thrown instanceof ApplicationFailure);
        const attempts = attempt - 1;
        assert.deepEqual(
          [thrown.type, thrown.nonRetryable, thrown.details],
          ['NotTried', true, [{ retryable: false, attempt: attempts }]],
        );
        assert.match(thrown.message, /database does not answer: see `relay health`/);
      }
    });
  }
});
