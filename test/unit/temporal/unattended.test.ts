import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog, Metrics } from '../../../src/service/telemetry.js';
import { countOnce } from '../../../src/temporal/unattended.js';

/**
 * Counts once, while Temporal has a chain that has needed attention for this number of seconds. @returns the gauges, queries
 * and log.
 */
async function counted(heldFor: number | undefined, notices = 0) {
  const metrics = new Metrics();
  const queries: string[] = [];
  const lines: string[] = [];
  const count = async (query = '') => {
    queries.push(query);
    if (heldFor !== undefined && Number.isNaN(heldFor)) throw new Error('not reached');
    if (query.includes('NoticeDelivery')) return { count: notices, groups: [] };
    const since = /RelayAttentionSince < '([^']+)'/.exec(query)?.[1];
    const isHeld = heldFor !== undefined && (since === undefined || Date.now() - heldFor * 1000 < Date.parse(since));
    return { count: isHeld ? 1 : 0, groups: [] };
  };
  const client = { workflow: { count }, withDeadline: <T>(_deadline: number | Date, work: () => Promise<T>) => work() };
  await countOnce({ client, taskQueue: "it's ours", metrics, log: createLog('info', { write: (line) => lines.push(line) }) });
  const read = async (name: 'needingAttention' | 'oldestUnattended' | 'noticesOverdue') =>
    (await metrics[name].get()).values[0]?.value ?? assert.fail(name);
  const gauges = [await read('needingAttention'), await read('oldestUnattended'), await read('noticesOverdue')] as const;
  return { gauges, queries, lines };
}

describe('the counts across chains', () => {
  it('are 0 if nothing is held, with one query for chains and one for notices, of this task queue', async () => {
    const { gauges, queries } = await counted(undefined, 2);
    assert.deepEqual(gauges, [0, 0, 2]);
    assert.equal(queries.length, 2);
    for (const query of queries) assert.match(query, /TaskQueue = 'it''s ours'/);
  });

  for (const seconds of [3, 90, 4 * 3600, 72 * 3600, 300 * 86_400])
    it(`include the age of the oldest chain, with an error of a tenth at most, after ten queries at most: ${seconds} s`, async () => {
      const { gauges, queries } = await counted(seconds);
      const [, age] = gauges;
      assert(age <= seconds + 60 && age >= seconds / 1.11, `${age}`);
      assert(queries.length <= 10, `${queries.length} queries`);
    });

  it('are unknown if Temporal does not answer, which is logged in one line', async () => {
    const { gauges, lines } = await counted(Number.NaN);
    assert.deepEqual(gauges, [Number.NaN, Number.NaN, Number.NaN]);
    assert.match(lines.join(), /^[^\n]*"level":"warn"[^\n]*cannot be counted: not reached"\}\n$/);
  });
});
