import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { doEffects } from '../../../src/activities/do-effects.js';
import type { EffectActivities, EffectInput, SomeOf } from '../../../src/contract/activities.js';

const ref = { companyId: 'acme', chainId: 'c', relayId: '7', retryBudgetSeconds: 600 };
const [first, ...others] = ['a', 'b', 'c'].map(
  (assignmentId, index) =>
    ({ ...ref, index, action: { index, relayId: '7', action: 'platform_sendAssignment', assignmentId } }) as EffectInput,
);
assert(first);
const row: SomeOf<EffectInput> = [first, ...others];

/** Runs three sends, each through `send`. @returns the sends that were tried. */
async function outcomes(send: (assignmentId: string) => Promise<object>) {
  const tried: string[] = [];
  const effects = {
    sendAssignment({ action: { assignmentId = '' } }) {
      tried.push(assignmentId);
      return send(assignmentId);
    },
  } as EffectActivities;
  return { found: await doEffects(effects)(row), tried };
}

const done = { attempts: 1, tookMs: 3 };
const details = { retryable: false, attempt: 1 };

describe('effects in one activity', () => {
  it('run in order, and each has its result', async () => {
    const { found, tried } = await outcomes(async () => done);
    assert.deepEqual(tried, ['a', 'b', 'c']);
    assert.deepEqual(found, [done, done, done]);
  });

  for (const [place, failing] of ['a', 'b'].entries())
    it(`stop at the effect that fails (${failing}), with the error that its own activity would have thrown`, async () => {
      const refused = ApplicationFailure.nonRetryable('404', 'PlatformError', details);
      const { found, tried } = await outcomes(async (id) => (id === failing ? Promise.reject(refused) : done));
      assert.deepEqual(tried, ['a', 'b'].slice(0, place + 1));
      assert.deepEqual(found.at(-1), { failure: { type: 'PlatformError', message: '404', details } });
      assert.deepEqual(found.slice(0, -1), Array(place).fill(done));
    });

  it('end after a slow effect, so that the next effect gets a new activity', async () => {
    const { found, tried } = await outcomes(
      (id) => new Promise((resolve) => setTimeout(() => resolve(done), id === 'b' ? 800 : 0)),
    );
    assert.deepEqual(tried, ['a', 'b']);
    assert.equal(found.length, 2);
  });
});
