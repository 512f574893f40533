import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ActivityCancelledError, ActivityNotFoundError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure, RetryState, TimeoutFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { Deps } from '../../../src/activities/effect.js';
import { effectActivity } from '../../../src/activities/effect.js';
import { InFlight } from '../../../src/activities/in-flight.js';
import type { Pause } from '../../../src/chain/pause.js';
import type { Call } from '../../../src/connectors/call.js';
import { ConnectorError } from '../../../src/connectors/call.js';
import { createHttpClient } from '../../../src/connectors/http.js';
import { workmarket } from '../../../src/connectors/kinds/workmarket.js';
import type { Platform } from '../../../src/connectors/platforms.js';
import { Memory } from '../../../src/connectors/session.js';
import type { EffectResult, FailureDetails } from '../../../src/contract/activities.js';
import { readFailure } from '../../../src/contract/failures.js';
import { serveVendor } from '../../../src/sandbox/vendors/vendor.js';
import { createWorkmarket as createVendor, workmarketCredentials } from '../../../src/sandbox/vendors/workmarket.js';
import { Metrics } from '../../../src/service/telemetry.js';

interface Attempt {
  attempt?: number;
  heartbeatDetails?: unknown;
  kept?: unknown; // from an earlier activity
  pauses?: Pause[];
  /** Temporal's answer when the attempt records its data. */
  record?: (data: unknown) => Promise<void>;
}

type Effect = (call: Call) => Promise<{ recipients?: number; note?: string }>;

/** One attempt at an effect of several calls. `recorded`: the data that Temporal has. */
function attemptAt(effect: Effect, { attempt = 1, heartbeatDetails, kept, pauses = [], record }: Attempt = {}) {
  const recorded: unknown[] = [];
  const rule = { companyId: 'acme', relayId: '7', enabled: true, onUnknown: 'resend' };
  const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC' };
  const settings = { of: async () => ({ company, rules: new Map([['7', rule]]), pauses }), refresh: async () => {} };
  const heartbeat = async (_: unknown, data: unknown) => {
    await record?.(data);
    recorded.push(data);
  };
  const log = pino({ enabled: false });
  const deps = {
    store: { settings } as unknown as Deps['store'],
    inFlight: new InFlight({ log, metrics: new Metrics() }),
    log,
    client: { activity: { heartbeat }, withDeadline: (_: number, ask: () => unknown) => ask() } as unknown as Deps['client'],
  };
  const input = { companyId: 'acme', chainId: 'c', index: 0, relayId: '7', retryBudgetSeconds: 600, kept };
  const activity = effectActivity(
    deps,
    'platform',
    () => ({ severalCalls: true }),
    (_, __, ___, call) => effect(call),
  );
  const environment = new MockActivityEnvironment({ startToCloseTimeoutMs: 60_000, attempt, heartbeatDetails });
  const ended: Promise<EffectResult> = environment.run(() => activity(input));
  return { recorded, ended };
}

async function failureOf({ ended }: { ended: Promise<EffectResult> }) {
  const thrown = await ended.then(
    () => assert.fail('did not fail'),
    (error: unknown) => error,
  );
  assert(thrown instanceof ApplicationFailure, String(thrown));
  const [details] = thrown.details as [FailureDetails];
  return { type: thrown.type, nonRetryable: thrown.nonRetryable, kept: details.kept, retryable: details.retryable };
}

const nothing: Effect = async () => ({});
const sending = { sending: true, before: { status: 'draft', workers: 0 }, sentTo: [] };

describe('the data that an attempt keeps', () => {
  it('is in Temporal before the effect goes on', async () => {
    const steps: string[] = [];
    const record = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      steps.push('recorded');
    };
    const run = attemptAt(
      async (call) => {
        await call.keep?.('first');
        steps.push('sent');
        await call.keep?.('second');
        return {};
      },
      { record },
    );
    assert.equal((await run.ended).kept, 'second');
    assert.deepEqual(run.recorded, ['first', 'second']);
    assert.deepEqual(steps, ['recorded', 'sent', 'recorded']);
  });

  it('stops an attempt before its effect if Temporal has given up the attempt', async () => {
    let sent = false;
    const record = async () => {
      throw new ActivityNotFoundError('another attempt is under way');
    };
    const effect: Effect = async (call) => {
      await call.keep?.(sending);
      sent = true;
      return {};
    };
    const failure = await failureOf(attemptAt(effect, { record, kept: 'before' }));
    assert.deepEqual(failure, { type: 'NotTried', nonRetryable: true, kept: 'before', retryable: false });
    assert.equal(sent, false);
  });

  it('does not stop an effect in progress when its action is cancelled', async () => {
    const record = async () => {
      throw new ActivityCancelledError('cancelled');
    };
    const effect: Effect = async (call) => {
      await call.keep?.(sending);
      return { recipients: 1 };
    };
    assert.equal((await attemptAt(effect, { record }).ended).recipients, 1);
  });

  it('comes from the last heartbeat, or from an earlier activity', async () => {
    const given: unknown[] = [];
    const effect: Effect = async ({ kept, attempt }) => {
      given.push([attempt, kept]);
      return {};
    };
    await attemptAt(effect, { attempt: 2, heartbeatDetails: 'of the heartbeat', kept: 'of the activity' }).ended;
    await attemptAt(effect, { kept: 'of the activity' }).ended;
    assert.deepEqual(given, [
      [2, 'of the heartbeat'],
      [1, 'of the activity'],
    ]);
  });

  it('is in the failure of an attempt that was not made, because the next activity does not get the heartbeat', async () => {
    const pauses = [{ what: 'platform' } as Pause];
    for (const run of [
      attemptAt(nothing, { attempt: 2, heartbeatDetails: sending, pauses }),
      attemptAt(nothing, { kept: sending, pauses }),
    ]) {
      const { type, kept } = await failureOf(run);
      assert.deepEqual([type, kept], ['Paused', sending]);
    }
  });

  it('is in the failure of an attempt that ended with an error', async () => {
    const told = { ...sending, told: true };
    const effect: Effect = async (call) => {
      await call.keep?.(told);
      throw new ConnectorError('unknown', 'nobody knows', { settled: true });
    };
    const failure = await failureOf(attemptAt(effect, { attempt: 2, heartbeatDetails: sending }));
    assert.deepEqual(failure, { type: 'OutcomeUnknown', nonRetryable: true, kept: told, retryable: false });
  });

  it('is in the time-out of the last attempt, whose worker was lost', () => {
    const timeout = new TimeoutFailure('', sending, 'START_TO_CLOSE');
    const lost = new ActivityFailure('', 'sendAssignment', '0/sendAssignment', RetryState.MAXIMUM_ATTEMPTS_REACHED, '', timeout);
    const { failure, kept } = readFailure(lost);
    assert.deepEqual([failure.unknown, kept], [true, sending]);
  });
});

describe('a send at WorkMarket whose worker is lost', () => {
  const http = createHttpClient({ allowPrivateNetworks: true });

  /**
   * The first attempt stops forever at `at`.
   * @returns the next attempt, with the data that Temporal has
   */
  async function afterLoss(at: 'before the data' | 'before the send' | 'after the send') {
    const vendor = createVendor();
    vendor.state.queueMs = 0;
    const { url, close } = await serveVendor(vendor);
    const platform: Platform = workmarket(
      { kind: 'workmarket', ...workmarketCredentials, baseUrl: url },
      {
        ...http,
        ask: async (request) => {
          const isSend = request.url.pathname.endsWith('/send');
          if (isSend && at === 'before the send') return lost();
          const answer = await http.ask(request);
          return isSend && at === 'after the send' ? lost() : answer;
        },
      },
      new Memory(),
    );
    let tell = () => {};
    const isLost = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const lost = () => {
      tell();
      return new Promise<never>(() => {});
    };
    /** If the effect of a send never becomes visible, the send takes this whole time. */
    const timeoutMs = at === 'before the send' ? 2_000 : 60_000;
    const send = (platform: Platform, timeoutMs: number): Effect => {
      return (call) => platform.sendAssignment('6029116324', { groupIds: ['11'] }, { ...call, timeoutMs });
    };
    const record = (data: unknown) => {
      return at === 'before the data' && (data as typeof sending).sending ? lost() : Promise.resolve();
    };
    const first = attemptAt(send(platform, 60_000), { record });
    await isLost;
    const next = workmarket({ kind: 'workmarket', ...workmarketCredentials, baseUrl: url }, http, new Memory());
    const second = attemptAt(send(next, timeoutMs), { attempt: 2, heartbeatDetails: first.recorded.at(-1) });
    const sends = () => vendor.state.calls.filter(({ path }) => path.endsWith('/send')).length;
    return { second, sends, close };
  }

  it('is made by the next attempt if Temporal knows that it was not made', async () => {
    const { second, sends, close } = await afterLoss('before the data');
    assert.equal((await second.ended).recipients, 2);
    assert.equal(sends(), 1);
    await close();
  });

  it('is unknown if the assignment does not show it, and is not repeated', async () => {
    const { second, sends, close } = await afterLoss('before the send');
    const { type, kept, retryable } = await failureOf(second);
    assert.deepEqual([type, retryable], ['OutcomeUnknown', false]);
    assert.deepEqual(kept, { ...sending, told: true });
    assert.equal(sends(), 0);
    await close();
  });

  it('is done if the assignment shows it', async () => {
    const { second, sends, close } = await afterLoss('after the send');
    const { recipients, note } = await second.ended;
    assert.deepEqual(
      [recipients, note],
      [2, 'the answer of WorkMarket was lost, but WorkMarket shows that the assignment was sent'],
    );
    assert.equal(sends(), 1);
    await close();
  });
});
