import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { Deps } from '../../src/activities/effect.js';
import { notifyFailure } from '../../src/activities/notify-failure.js';
import type { ChainNotice } from '../../src/contract/notices.js';
import { Metrics } from '../../src/service/telemetry.js';

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

/** One attempt. @returns the workflow that was signalled with start, what the activity answered, and who was told without it. */
async function attempt(attempt: number, { isUp = true, notifier }: { isUp?: boolean; notifier?: string } = {}) {
  const signalled: string[] = [];
  const told: string[] = [];
  const signalWithStart = async (_type: string, { workflowId }: { workflowId: string }) => {
    if (!isUp) throw new Error('Temporal cannot be reached');
    signalled.push(workflowId);
  };
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', notify: { emails: ['a@x.org'] } };
  const mailer = { send: async ({ to }: { to: string }) => void told.push(to) };
  const deps = {
    store: { companies: { get: async () => company }, rules: { get: async () => undefined } },
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
    .run(() => notifyFailure(deps)({ notice, notifier }))
    .catch((error: unknown) => (error instanceof Error ? error.message : error));
  return { signalled, told, answer };
}

describe('a failure', () => {
  it('is handed to the notifier of its cause, whatever the ids in it', async () => {
    const { signalled, told, answer } = await attempt(1);
    assert.match(signalled.join(), /^relay-notifier:acme:[0-9a-f]{16}$/);
    assert.deepEqual([told, answer], [[], signalled[0]]);
  });

  it('is handed to the notifier that has it already', async () => {
    assert.deepEqual(await attempt(1, { notifier: 'relay-notifier:acme:x' }), {
      signalled: ['relay-notifier:acme:x'],
      told: [],
      answer: 'relay-notifier:acme:x',
    });
  });

  it('is told without a notifier where that cannot be reached in three attempts', async () => {
    assert.deepEqual(await attempt(2, { isUp: false }), { signalled: [], told: [], answer: 'Temporal cannot be reached' });
    assert.deepEqual(await attempt(3, { isUp: false }), { signalled: [], told: ['a@x.org'], answer: undefined });
  });
});
