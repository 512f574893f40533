import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { Deps } from '../../../src/activities/effect.js';
import { notifyFailure } from '../../../src/activities/notify-failure.js';
import type { HeldAction } from '../../../src/contract/causes.js';
import type { ChainNotice } from '../../../src/contract/notices.js';
import { Metrics } from '../../../src/service/telemetry.js';
import { unbounded } from '../../notices/unbounded.js';

const error = { type: 'PlatformError', message: 'GET http://p.example/assignments/7 answered 404', retryable: false };
const notice: ChainNotice = {
  kind: 'needs-attention',
  companyId: 'acme',
  relayId: '1',
  chainId: 'c',
  index: 0,
  at: '2026-07-01T12:00:00.000Z',
  receivedAt: '2026-07-01T12:00:00.000Z',
  actions: [{ index: 0, action: 'ticket_updateUDF', relayId: '1', state: 'needs-attention', error }],
};

/** The circumstances of one attempt to notify. */
interface Attempted {
  /** The error of Temporal; absent if Temporal accepts the signal. */
  why?: Error;
  notifier?: string;
  more?: Partial<ChainNotice>;
  /** The store's behaviour when it records something. */
  note?: () => Promise<void>;
}

async function attempt(attempt: number, { why, notifier, more, note = async () => {} }: Attempted = {}) {
  const signalled: string[] = [];
  const noted: unknown[] = [];
  const causes = {
    hold: async ({ causeId }: { causeId: string }, { chainId, index, since }: HeldAction) => {
      noted.push({ causeId, chainId, index, since });
      await note();
    },
    end: async (_companyId: string, [over]: HeldAction[], at: string) => {
      noted.push({ over: over?.chainId, index: over?.index, at });
      await note();
    },
    isSilent: async () => false,
  };
  const told: string[] = [];
  const signalWithStart = async (_type: string, { workflowId }: { workflowId: string }) => {
    if (why) throw why;
    signalled.push(workflowId);
  };
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', notify: { emails: ['a@x.org'] } };
  const mailer = { send: async ({ to }: { to: string }) => void told.push(to) };
  const deps = {
    ...unbounded,
    store: { ...unbounded.store, companies: { get: async () => company }, rules: { get: async () => undefined }, causes },
    connectors: { noticeMailOf: () => ({ mailer, from: 'relay@relay.example' }) },
    client: {
      options: { namespace: 'default' },
      withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
      workflow: { signalWithStart },
    },
    links: { api: 'https://relay.example' },
    noticeDigestSeconds: 60,
    log: pino({ level: 'silent' }),
    metrics: new Metrics(),
  } as unknown as Deps;
  const activity = new MockActivityEnvironment({ attempt, startToCloseTimeoutMs: 120_000 });
  const answer: unknown = await activity
    .run(() => notifyFailure(deps)({ notice: { ...notice, ...more }, notifier }))
    .catch((error: unknown) => (error instanceof Error ? error.message : error));
  return { signalled, told, answer, noted };
}

describe('a failure', () => {
  it('goes to the notifier of its cause, whatever characters its ids have', async () => {
    const { signalled, told, answer } = await attempt(1);
    assert.match(signalled.join(), /^relay-notifier:acme:[0-9a-f]{16}$/);
    assert.deepEqual([told, answer], [[], signalled[0]]);
  });

  it('goes to the notifier that already has this failure', async () => {
    const { signalled, told, answer } = await attempt(1, { notifier: 'relay-notifier:acme:x' });
    assert.deepEqual([signalled, told, answer], [['relay-notifier:acme:x'], [], 'relay-notifier:acme:x']);
  });

  const unreachable = new Error('Temporal cannot be reached');
  const overloaded = Object.assign(new Error('Temporal is overloaded'), { code: 8, details: '', metadata: {} });
  for (const [what, n, why, told, answer] of [
    ['is retried for 20 minutes', 8, unreachable, [], unreachable.message],
    ['is reported without a notifier if Temporal cannot be reached after 20 minutes', 9, unreachable, ['a@x.org'], undefined],
    ['is never reported for each chain while Temporal is overloaded', 100, overloaded, [], overloaded.message],
  ] as const)
    it(what, async () => {
      const tried = await attempt(n, { why });
      assert.deepEqual([tried.signalled, tried.told, tried.answer], [[], told, answer]);
    });

  it("is recorded in the store under its notifier's cause", async () => {
    const { signalled, noted } = await attempt(1);
    const causeId = signalled[0]?.split(':')[2];
    assert.deepEqual(noted, [{ causeId, chainId: 'c', index: 0, since: notice.at }]);
  });

  for (const kind of ['recovered', 'gave-up', 'failed', 'partly-failed'] as const)
    it(`clears its record when the action ${kind}`, async () => {
      assert.deepEqual((await attempt(1, { more: { kind } })).noted, [{ over: 'c', index: 0, at: notice.at }]);
    });

  for (const [what, note] of [
    ['refuses', () => Promise.reject(new Error('no database'))],
    ['does not answer', () => new Promise<void>(() => {})],
  ] as const)
    it(`is reported even if the store ${what}`, async () => {
      const { signalled, answer } = await attempt(1, { note });
      assert.equal(answer, signalled[0]);
    });
});
