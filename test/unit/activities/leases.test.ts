import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { leased } from '../../../src/activities/leases.js';

type Take = Parameters<typeof leased>[0]['store']['leases']['take'];

const limits = { account: 'an account', threads: 3, callsPerHour: 5000 };
const lease = { release: async () => {} };
const forever = () => new Promise<never>(() => {});

/** Advances the mocked clock until the promise has settled. */
async function timePasses(ended: Promise<unknown>): Promise<unknown> {
  let isOver = false;
  const end = ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(100);
  }
  return end;
}

/** One effect that needs a lease. @returns its result, and whether the effect began */
function effect(take: Take, run: () => Promise<string> = async () => 'done') {
  const began = mock.fn(run);
  const bounds = { severalCalls: true, limits };
  const deps = { store: { leases: { take } }, log: pino({ enabled: false }) };
  const ended = new MockActivityEnvironment({ attempt: 3 })
    .run(() => leased(deps, 'acme', 'ticketing', bounds, began))
    .catch((error: unknown) => error);
  return { ended, began: () => began.mock.callCount() };
}

describe('an effect that needs a lease', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  const waits: [why: string, take: Take, message: RegExp][] = [
    ['no lease is free', async () => undefined, /takes no more requests now: the limit of the account is reached/],
    [
      'the database is away',
      () => Promise.reject(new Error('connection refused')),
      /own database does not answer \(for the operator: `relay health`\)/,
    ],
    ['the database hangs', forever, /own database does not answer \(for the operator: `relay health`\)/],
  ];
  for (const [why, take, message] of waits)
    it(`waits if ${why}: nothing is tried, and no attempt is counted`, async () => {
      const { ended, began } = effect(take);
      const failure = await timePasses(ended);
      assert(failure instanceof ApplicationFailure, String(failure));
      assert.deepEqual(
        [failure.type, failure.nonRetryable, failure.details],
        ['NotTried', true, [{ retryable: false, attempt: 2 }]],
      );
      assert.match(failure.message, message);
      assert.equal(began(), 0);
    });

  it('returns the lease after a success and after a failure', async () => {
    const release = mock.fn(lease.release);
    const take = mock.fn<Take>(async () => ({ release }));
    assert.equal(await effect(take).ended, 'done');
    assert.match(take.mock.calls[0]?.arguments[0].account ?? '', /^[0-9a-f]{64}$/, 'the database shows no account');
    const failure = await effect(take, () => Promise.reject(new Error('refused'))).ended;
    assert.deepEqual([String(failure), release.mock.callCount()], ['Error: refused', 2]);
  });

  it('keeps its result if the lease cannot be returned', async () => {
    for (const release of [forever, () => Promise.reject(new Error('connection refused'))])
      assert.equal(await timePasses(effect(async () => ({ release })).ended), 'done');
  });
});
