/**
 * A query that is answered in a workflow task makes the SDK end that task early. Then the workflow hears about a finished
 * local activity one task later than in a replay, together with signals that came in between. These tests cause this delay for
 * most of the chains. At the end, the stack replays every history. Most histories would not replay if a workflow released its
 * lock during a local activity.
 */

import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { email, send, startStack, udf } from '../../end-to-end/stack.js';

const stack = await startStack();
const chains = 8;
/** Queries for each chain. */
const queries = 4;

describe('a local activity with a delayed result', () => {
  it('is handled before the signals that came after it', async () => {
    const company = await stack.company();
    const assignment = String(Math.floor(Math.random() * 1e12));
    const started = await Promise.all(
      Array.from({ length: chains }, async () => {
        const { chainId, workflowId } = await company.start([
          send(assignment, { groupId: '501' }),
          email([`a@${company.companyId}.example`]),
          udf('T', { delayInSeconds: '3000' }),
        ]);
        return { chainId, handle: stack.client.workflow.getHandle(workflowId) };
      }),
    );
    for (const { chainId } of started) await company.action(chainId, 0, 'needs-attention');
    await stack.assignment({ id: assignment });

    // The signal starts a local activity. Some of the queries, which are sent at the same time, reach the worker during that
    // activity.
    await stack.stopWorker();
    const asked = await Promise.all(
      started.map(async ({ handle }) => {
        const signalled = handle.signal('retry', 0);
        const all = Array.from({ length: queries }, () => handle.query('status').catch(() => {}));
        await signalled;
        return all;
      }),
    );
    // This wait is fixed, because the server does not report that a query waits.
    await sleep(300);
    await stack.restartWorker();
    // After the local activity, the workflow starts an activity, and then forwards each signal. The history shows this order.
    await Promise.all(
      started.map(async ({ handle }, chain) => {
        const end = Date.now() + 1000;
        for (let seconds = 3000; Date.now() < end; seconds += 1) {
          await handle.signal('reschedule', [2, seconds]);
          await sleep(10);
        }
        await Promise.all(asked[chain] ?? []);
      }),
    );
    for (const { chainId } of started) {
      await company.action(chainId, 1, 'done');
      await company.steer(chainId, 'runNow', 2);
    }
    for (const { chainId } of started) await company.ended(chainId);
  });
});
