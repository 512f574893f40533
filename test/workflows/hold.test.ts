import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionStatus } from '../../src/chain/action-status.js';
import type { ActionRun, Decision } from '../../src/workflows/action-run.js';
import { Hold } from '../../src/workflows/hold.js';

const hour = 3_600_000;
const windowHours = 72;
const noon = Date.parse('2026-07-03T12:00:00Z');

/**
 * A held action whose waits take as long as asked for, plus the hours in which no worker ran, given for each wait.
 * @param decideAfter - hours from now
 */
async function hold(away: number[], { retryable = false, isFull = false, decideAfter = Number.POSITIVE_INFINITY } = {}) {
  let now = noon;
  const status: Partial<ActionStatus> & { why?: string } = {};
  const run = {
    ref: { companyId: 'acme', relayId: '7' },
    chain: { attentionWindowSeconds: windowHours * 3600 },
    action: { index: 0 },
    behind: [],
    decision: undefined as Decision | undefined,
    states: { hasRoomForOwn: !isFull, isFull },
    lock: {
      get now() {
        return now;
      },
      time: (more = 0) => new Date(now + more).toISOString(),
    },
    notify: () => {},
    ask: async () => ({ current: [], seconds: 0 }),
    update: (change: Partial<ActionStatus>) => Object.assign(status, change, { why: change.reason }),
    end: (change: Partial<ActionStatus>) => Object.assign(status, change),
    async wait(milliseconds: number) {
      const late = (away.shift() ?? 0) * hour;
      now += milliseconds + late;
      if (now >= noon + decideAfter * hour) this.decision = { verb: 'retry' };
      return late;
    },
  };
  const failure = { type: 'PlatformError', message: 'm', retryable };
  const policy = { onFailure: 'hold', onUnknown: 'resend' } as const;
  const mode = await new Hold(run as unknown as ActionRun).untilDecided(failure, policy, 'budget');
  return { mode, state: status.state, hours: (now - noon) / hour, why: status.why };
}

describe('the attention window', () => {
  for (const [name, away, hours] of [
    ['all workers run', [], windowHours],
    ['none runs over the weekend, in its beginning', [60], windowHours + 60],
    ['none runs in its middle', [0, 0, 0, 60], windowHours + 60],
    ['none runs at its end', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60], windowHours + 60],
    ['workers are busy', [0.01, 0.01], windowHours + 0.02],
  ] as const)
    it(`${name}: it is as long without that time`, async () => {
      const held = await hold([...away]);
      assert.deepEqual([held.mode, held.state, Math.floor(held.hours)], [undefined, 'failed', Math.floor(hours)]);
    });

  it('is longer by the time without workers also where the relay tries by itself', async () => {
    const held = await hold([60], { retryable: true });
    assert.equal(held.mode, 'once');
  });

  it('somebody decides', async () => {
    assert.equal((await hold([60], { decideAfter: 70 })).mode, 'budget');
  });

  it('a full history: nothing is tried by itself, and why is said', async () => {
    const held = await hold([], { retryable: true, isFull: true });
    assert.deepEqual([held.mode, held.state], [undefined, 'failed']);
    assert.match(held.why ?? '', /history of this chain is full/);
  });
});
