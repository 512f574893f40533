/**
 * A query that is answered in a workflow task makes the SDK complete that task at once: of a local activity that has just ended the
 * workflow hears one task later than a replay will, together with what has come meanwhile. Here that happens to most of the chains;
 * the stack replays every history at its end. Where the lock lets go during a local activity, most do not replay.
 */

import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { email, send, startStack, udf } from './stack.js';

const stack = await startStack();
const chains = 8;
/** Of each chain. */
const queries = 4;

describe('a local activity of whose end the workflow hears late', () => {
  it('is dealt with before the signals that came after it', async () => {
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

    // A signal that begins a local activity. Sent at the same time, some queries reach the worker while that is under way.
    await stack.stopWorker();
    const asked = await Promise.all(
      started.map(async ({ handle }) => {
        const signalled = handle.signal('retry', 0);
        const all = Array.from({ length: queries }, () => handle.query('status').catch(() => {}));
        await signalled;
        return all;
      }),
    );
    // Not a wait for something to have happened: the server tells nobody that a query waits.
    await sleep(300);
    await stack.restartWorker();
    // When the local activity has ended, an activity begins; each of these passes a signal on: two commands, whose order tells.
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
