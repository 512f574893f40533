/** Tests that the relay repeats no send at WorkMarket while answers and workers are lost. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConnectorError } from '../../src/connectors/call.js';
import type { Platform } from '../../src/connectors/platforms.js';
import { randomFrom } from '../random.js';
import { connected, draft, effect, type Kept } from './workmarket.js';

const seed = Number(process.env.RELAY_TEST_SEED ?? Date.now() % 1_000_000);
/**
 * A send ends as soon as its effect is visible. An effect that stays hidden costs the send its whole time limit. The connector
 * reserves the larger part of this time for the last check.
 */
const limits = { shown: 60_000, hidden: 9_000 };
type Run = ReturnType<typeof effect>;

/**
 * Each lane sends many assignments in sequence. Connections are cut before or after a send, or workers are lost. The relay tries
 * again as long as the outcome allows another attempt. No person decides.
 */
export function describeManySends([lanes, sendsOfLane]: readonly [number, number]): void {
  describe(`${lanes * sendsOfLane} sends at WorkMarket with lost answers and lost workers (seed ${seed})`, () => {
    const fates = ['arrives', 'cut-off', 'cut-off-after', 'server-error', 'lost before', 'lost after'] as const;
    const tally: Record<string, number> = {};

    it('are never repeated; the outcome is reported as unknown if nobody can see it', async () => {
      await Promise.all(Array.from({ length: lanes }, (_, number) => lane(randomFrom(seed + number))));
      assert.equal(
        Object.values(tally).reduce((sum, count) => sum + count, 0),
        lanes * sendsOfLane,
      );
      for (const fate of fates)
        assert.ok(
          Object.keys(tally).some((key) => key.startsWith(`${fate}: `)),
          fate,
        );
    });

    async function lane(random: () => number): Promise<void> {
      const one = <Item>(items: readonly [Item, ...Item[]]) => items[Math.floor(random() * items.length)] ?? items[0];
      const { platform, vendor, close, fail, sends } = await connected();
      const template = structuredClone(vendor.state.assignments.get(draft)) ?? assert.fail();
      await platform.getAssignment(draft, { timeoutMs: limits.shown });
      for (let count = 0; count < sendsOfLane; count += 1) {
        const id = String(8_000_000_000 + count);
        vendor.state.assignments.set(id, { ...structuredClone(template), id });
        vendor.state.calls.length = 0;
        vendor.state.queueMs = one([0, 0, 200, 60_000]);
        const fate = one(fates);
        if (fate === 'cut-off' || fate === 'cut-off-after' || fate === 'server-error')
          fail({ name: fate, times: 1, path: `${id}/send` });
        const run = effect(platform, {}, id);
        const arrived = fate !== 'cut-off' && fate !== 'server-error' && fate !== 'lost before';
        const isSeen = arrived && vendor.state.queueMs < 60_000;
        const timeoutMs = isSeen ? limits.shown : limits.hidden;
        const outcome = fate.startsWith('lost')
          ? await afterLostWorker(run, fate, random() < 0.5, sends, timeoutMs)
          : await ended(run.send({ timeoutMs }));
        vendor.faults.now = undefined;
        const expected = isSeen
          ? /^done 2$/
          : fate === 'arrives'
            ? /^done 0$/
            : fate === 'lost before'
              ? /^(done \d|unknown)$/
              : /^unknown$/;
        const about = `${fate}, queued for ${vendor.state.queueMs} ms: ${outcome}`;
        assert.match(outcome, expected, about);
        assert.ok(sends().length <= 1, `${about}: ${sends().length} sends`);
        tally[`${fate}: ${outcome}`] = (tally[`${fate}: ${outcome}`] ?? 0) + 1;
      }
      await close();
    }

    /**
     * The first attempt ends at its send, before or after the request. The next attempt has only the data that was kept.
     * @param forgets - whether the worker is lost before it records that it will send
     */
    async function afterLostWorker(
      run: Run,
      fate: string,
      forgets: boolean,
      sends: () => unknown[],
      limitMs: number,
    ): Promise<string> {
      const lost = new Error('the worker is lost');
      let data: unknown;
      const keep = async (next: unknown) => {
        const isLost = fate === 'lost before' && (next as Kept).sending;
        if (isLost && forgets) throw lost;
        data = JSON.parse(JSON.stringify(next));
        if (isLost) throw lost;
      };
      const first = run.send({ timeoutMs: limitMs, keep, kept: data });
      await first.catch((error: unknown) => assert.equal(error, lost));
      assert.equal(sends().length, fate === 'lost after' ? 1 : 0);
      return ended(run.send({ timeoutMs: limitMs, attempt: 2, kept: data }));
    }

    async function ended(sending: ReturnType<Platform['sendAssignment']>): Promise<string> {
      return sending.then(
        ({ recipients }) => `done ${recipients}`,
        (error: unknown) => {
          if (!(error instanceof ConnectorError && error.facts.settled)) return `failed: ${error}`;
          assert.match(
            error.facts.title ?? '',
            /^Nobody knows whether .* WorkMarket shows the status "(draft|sent)" \(technicians: \d\)/,
          );
          return error.kind;
        },
      );
    }
  });
}
