import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { Deps } from '../../src/activities/effect.js';
import { notifyFailure } from '../../src/activities/notify-failure.js';
import type { HeldAction } from '../../src/contract/causes.js';
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
interface Attempted {
  isUp?: boolean;
  notifier?: string;
  more?: Partial<ChainNotice>;
  /** What the store does when it is to note something. */
  note?: () => Promise<void>;
}

async function attempt(attempt: number, { isUp = true, notifier, more, note = async () => {} }: Attempted = {}) {
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
    if (!isUp) throw new Error('Temporal cannot be reached');
    signalled.push(workflowId);
  };
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', notify: { emails: ['a@x.org'] } };
  const mailer = { send: async ({ to }: { to: string }) => void told.push(to) };
  const deps = {
    store: { companies: { get: async () => company }, rules: { get: async () => undefined }, causes },
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
  it('is handed to the notifier of its cause, whatever the ids in it', async () => {
    const { signalled, told, answer } = await attempt(1);
    assert.match(signalled.join(), /^relay-notifier:acme:[0-9a-f]{16}$/);
    assert.deepEqual([told, answer], [[], signalled[0]]);
  });

  it('is handed to the notifier that has it already', async () => {
    const { signalled, told, answer } = await attempt(1, { notifier: 'relay-notifier:acme:x' });
    assert.deepEqual([signalled, told, answer], [['relay-notifier:acme:x'], [], 'relay-notifier:acme:x']);
  });

  it('is told without a notifier where that cannot be reached in three attempts', async () => {
    for (const [n, told, answer] of [
      [2, [], 'Temporal cannot be reached'],
      [3, ['a@x.org'], undefined],
    ] as const) {
      const tried = await attempt(n, { isUp: false });
      assert.deepEqual([tried.signalled, tried.told, tried.answer], [[], told, answer]);
    }
  });

  it('is noted in the store under the cause that its notifier has', async () => {
    const { signalled, noted } = await attempt(1);
    const causeId = signalled[0]?.split(':')[2];
    assert.deepEqual(noted, [{ causeId, chainId: 'c', index: 0, since: notice.at }]);
  });

  for (const kind of ['recovered', 'gave-up', 'failed', 'partly-failed'] as const)
    it(`ends what is noted where it is told that the action ${kind}`, async () => {
      assert.deepEqual((await attempt(1, { more: { kind } })).noted, [{ over: 'c', index: 0, at: notice.at }]);
    });

  for (const [what, note] of [
    ['refuses', () => Promise.reject(new Error('no database'))],
    ['does not answer', () => new Promise<void>(() => {})],
  ] as const)
    it(`is told as ever where the store ${what}`, async () => {
      const { signalled, answer } = await attempt(1, { note });
      assert.equal(answer, signalled[0]);
    });
});
