import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { Deps } from '../../src/activities/deps.js';
import { effectActivity } from '../../src/activities/effect.js';
import { LocalTries } from '../../src/activities/local-tries.js';

const ref = { companyId: 'acme', chainId: 'c', index: 0, relayId: '7', retryBudgetSeconds: 600 };
const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC' };
const working = () => Promise.resolve(company);

/**
 * One attempt at an effect under a rule that says `onUnknown: "hold"`. @returns what it threw, and what it left to the next
 * attempt.
 */
async function attempt(companies: () => Promise<unknown>, info: { attempt?: number; heartbeatDetails?: unknown } = {}) {
  const rule = { companyId: 'acme', relayId: '7', enabled: true, onUnknown: 'hold' };
  const store = {
    settings: {
      of: async () => ({ company: await companies(), rules: new Map([['7', rule]]), pauses: [] }),
      refresh: async () => {},
    },
  } as unknown as Deps['store'];
  const activity = new MockActivityEnvironment({ startToCloseTimeoutMs: 400, ...info });
  let left: unknown;
  activity.on('heartbeat', (details: unknown) => {
    left = details;
  });
  const thrown = await activity
    .run(() => effectActivity({ store, localTries: new LocalTries() }, 'mail', async () => {})(ref))
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  return { thrown, left };
}

describe('the settings of an effect under onUnknown: "hold"', () => {
  it('is read by the first attempt', async () => {
    assert.equal((await attempt(working)).thrown, undefined);
  });

  it('a second attempt means that nobody knows how the first one ended', async () => {
    const { thrown } = await attempt(working, { attempt: 2 });
    assert(thrown instanceof ApplicationFailure);
    assert.deepEqual([thrown.type, thrown.nonRetryable], ['OutcomeUnknown', true]);
  });

  const broken: [string, () => Promise<unknown>][] = [
    ['is down', () => Promise.reject(new Error('connection refused'))],
    ['hangs', () => new Promise(() => {})],
  ];
  for (const [name, companies] of broken) {
    it(`a database that ${name}: the attempt has done nothing, and the next one knows it`, async () => {
      const { thrown, left } = await attempt(companies);
      assert(thrown instanceof Error && !(thrown instanceof ApplicationFailure));
      assert.equal((await attempt(working, { attempt: 2, heartbeatDetails: left })).thrown, undefined);
      const third = await attempt(working, { attempt: 3, heartbeatDetails: left });
      assert(third.thrown instanceof ApplicationFailure, 'the second attempt was lost');
    });
  }
});
