import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { Deps } from '../../../src/activities/effect.js';
import { effectActivity } from '../../../src/activities/effect.js';
import { InFlight } from '../../../src/activities/in-flight.js';
import { sendAssignment } from '../../../src/activities/send-assignment.js';
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
    client: {} as Deps['client'], // Only local activities use the client.
  };
  return new MockActivityEnvironment({ startToCloseTimeoutMs: 400, attempt })
    .run(() =>
      effectActivity(
        deps,
        'mail',
        () => ({ severalCalls: false }),
        async () => {},
      )(ref),
    )
    .then(
      () => undefined,
      (error: unknown) => error,
    );
}

describe('a send that the platform of the company cannot do', () => {
  it('is refused before any call', async () => {
    const platform = { kind: 'workmarket', token: 't', secret: 's' };
    const rules = new Map([['7', { companyId: 'acme', relayId: '7', enabled: true, onUnknown: 'resend' }]]);
    const calls: unknown[] = [];
    const deps = {
      store: {
        settings: { of: async () => ({ company: { ...company, platform }, rules, pauses: [] }) },
        chains: { sent: () => {} },
      },
      connectors: {
        platformOf: () => ({
          severalCalls: true,
          sendAssignment: async (...call: unknown[]) => ({ recipients: calls.push(call) }),
        }),
      },
      inFlight: new InFlight({ log: pino({ enabled: false }), metrics: new Metrics() }),
    } as unknown as Deps;
    const send = (radiusMiles: number) => {
      const action = { action: 'platform_sendAssignment', index: 0, relayId: '7', assignmentId: '1', radiusMiles } as const;
      return new MockActivityEnvironment({ startToCloseTimeoutMs: 4000 }).run(() => sendAssignment(deps)({ ...ref, action }));
    };
    const message = 'WorkMarket accepts only whole miles from 1 to 100 in sendRadius';
    await assert.rejects(send(150), { type: 'DataMistake', nonRetryable: true, message });
    assert.equal(calls.length, 0);
    await send(100);
    assert.equal(calls.length, 1);
  });
});

describe('the settings of an effect under onUnknown: "hold"', () => {
  it('are read by the first attempt', async () => {
    assert.equal(await failureOf(working, 1), undefined);
  });

  it('make a second attempt fail as unknown, because nobody knows the outcome of the first attempt', async () => {
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
        assert.match(thrown.message, /database does not answer \(for the operator: `relay health`\)/);
      }
    });
  }
});
