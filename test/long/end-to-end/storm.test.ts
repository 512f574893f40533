/**
 * Chains get queries and signals without pause while their local activities run. After a query during a local activity, the
 * workflow learns of the activity's end one workflow task later than in a replay. Events in between must not change the order of
 * commands. At the end, the stack replays every history.
 * `RELAY_TEST_STORM` sets the number of chains, `RELAY_TEST_SEED` repeats a run.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasEnded } from '../../../src/chain/outcome.js';
import { type Action, email, send, startStack, udf } from '../../end-to-end/stack.js';
import { extent } from '../../extent.js';
import { randomFrom } from '../../random.js';

const stack = await startStack({ retryBudgetSeconds: 1 });
const chains = Number(process.env.RELAY_TEST_STORM ?? 10);
const seed = Number(process.env.RELAY_TEST_SEED ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const below = (limit: number) => Math.floor(random() * limit);
const oneOf = <Value>(...values: [Value, ...Value[]]): Value => values[below(values.length)] ?? values[0];

describe(`a storm of queries, signals and cancels (seed ${seed})`, () => {
  it('stops no chain, and every history replays', async () => {
    const company = await stack.company();
    const continuing = await stack.company({ onFailure: 'continue' });
    const assignment = await stack.assignment();
    const action = (): Action => ({
      ...oneOf<() => Action>(
        () => send(assignment, { groupId: '501' }),
        () => send('404404', { groupId: '501' }),
        () => udf('T'),
        () => udf('T'),
        () => email([`a@${company.companyId}.example`]),
      )(),
      ...oneOf<Action>({}, {}, { delayInSeconds: '5' }, { delayInSeconds: '3000' }, { delayInSeconds: '' }),
      ...oneOf<Action>({}, {}, { platformAssignmentId: assignment, actionCondition: 'status==draft' }),
    });
    const started = await Promise.all(
      Array.from({ length: chains }, async () => {
        const owner = oneOf(company, company, continuing);
        const actions = Array.from({ length: 3 + below(8) }, action);
        const { chainId, workflowId } = await owner.start(actions);
        return { owner, chainId, handle: stack.client.workflow.getHandle(workflowId), actions: actions.length };
      }),
    );

    const steer = async () => {
      const { handle, actions } = oneOf(started[0] ?? assert.fail('no chain'), ...started);
      const index = below(actions);
      const signal = () =>
        oneOf<() => Promise<unknown>>(
          () => handle.signal('retry', index),
          () => handle.signal('retry', below(actions)),
          () => handle.signal('mend', [index, { platformAssignmentId: assignment }]),
          () => handle.signal('mend', [index, oneOf<object>({ delayInSeconds: '2' }, { cfValue: 'v' }, { sendRadius: 'far' })]),
          () => handle.signal('skip', index),
          () => handle.signal('runNow', index),
          () => handle.signal('reschedule', [index, 1]),
          () => handle.signal('cancelAction', index),
          () => handle.signal('resume'),
          () => handle.signal('report', { actions: [{ index, state: 'done' }] }),
          () => (below(40) === 0 ? handle.cancel() : handle.query('status')),
        )();
      // Several of these calls may arrive in one workflow task, which a query ends early. A call may also fail, because the chain
      // has closed, or is busy with a local activity.
      await Promise.allSettled([signal(), handle.query('status'), signal(), handle.query('status'), signal()]);
    };
    const end = Date.now() + extent(3_000, 8_000);
    await Promise.all(
      Array.from({ length: 24 }, async () => {
        while (Date.now() < end) await steer();
      }),
    );

    await stack.heal();
    for (const { owner, chainId } of started) {
      await owner.until(
        chainId,
        ({ closedAt, actions }) => {
          if (closedAt !== undefined) return true;
          for (const { index, state } of actions) {
            if (state === 'needs-attention') void owner.steer(chainId, 'skip', index);
            if (state === 'scheduled') void owner.steer(chainId, 'runNow', index);
          }
          return false;
        },
        `chain ${chainId} of seed ${seed} to close`,
      );
      const chain = await owner.read(chainId);
      assert(chain.actions.every(({ state }) => hasEnded(state)));
      assert.equal(chain.partial, undefined);
    }
  });
});
