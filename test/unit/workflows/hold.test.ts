import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionStatus } from '../../../src/chain/action-status.js';
import { Hold } from '../../../src/chain/hold.js';
import type { Decision } from '../../../src/contract/messages.js';
import type { Act } from '../../../src/workflows/action/act.js';
import { untilDecided } from '../../../src/workflows/action/hold.js';

const hour = 3_600_000;
const windowHours = 72;
const noon = Date.parse('2026-07-03T12:00:00Z');

/**
 * Holds an action until the hold ends.
 * @param away - for each wait in turn, the hours by which the wait is longer, because no worker runs
 * @param decideAfter - hours from now until a person decides
 */
async function hold(away: number[], { retryable = false, isFull = false, decideAfter = Number.POSITIVE_INFINITY } = {}) {
  let now = noon;
  const status: Partial<ActionStatus> & { why?: string } = {};
  const run = {
    ref: { companyId: 'acme', relayId: '7' },
    chain: { attentionWindowSeconds: windowHours * 3600 },
    action: { index: 0 },
    decision: undefined as Decision | undefined,
    states: { hasRoomForOwn: !isFull, isFull },
    engine: {
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
  const act = run as unknown as Act;
  const mode = await untilDecided(act, new Hold(noon, windowHours * 3600), failure, policy);
  return { mode, state: status.state, hours: (now - noon) / hour, why: status.why };
}

describe('the attention window', () => {
  for (const [name, away, hours] of [
    ['all workers run', [], windowHours],
    ['no worker runs at the beginning of the window', [60], windowHours + 60],
    ['no worker runs in the middle of the window', [0, 0, 0, 60], windowHours + 60],
    ['no worker runs at the end of the window', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60], windowHours + 60],
    ['workers are busy', [0.01, 0.01], windowHours + 0.02],
  ] as const)
    it(`${name}: time without workers does not count`, async () => {
      const held = await hold([...away]);
      assert.deepEqual([held.mode, held.state, Math.floor(held.hours)], ['given-up', 'needs-attention', Math.floor(hours)]);
    });

  it('is longer by the time without workers, even if the relay retries by itself', async () => {
    const held = await hold([60], { retryable: true });
    assert.equal(held.mode, 'own');
  });

  it('somebody decides', async () => {
    assert.equal((await hold([60], { decideAfter: 70 })).mode, 'retry');
  });

  it('a full history: the relay retries nothing by itself, and says why', async () => {
    const held = await hold([], { retryable: true, isFull: true });
    assert.deepEqual([held.mode, held.state], ['given-up', 'needs-attention']);
    assert.match(held.why ?? '', /history of this chain is full/);
  });
});
