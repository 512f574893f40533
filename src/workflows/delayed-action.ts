/** A child workflow of a `RuleChain`. Runs the actions that have the same due time, and knows no other actions. */

import { CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { isRetry } from '../chain/allowed-verbs.js';
import { type Chain, dueAt } from '../chain/chain.js';
import { chainStatus, isToRedo } from '../chain/outcome.js';
import { lastSummary } from '../chain/web-ui.js';
import { actionsFailed } from '../contract/failures.js';
import { verbOf } from '../contract/messages.js';
import { Sequences } from './action/sequences.js';
import { Reports } from './reports.js';
import { takeSteering } from './steering.js';

/** @throws ApplicationFailure `ActionsFailed` if an action ended as `failed` or `not-run`; `details[0]` has all statuses. */
export async function DelayedAction(chain: Chain): Promise<ActionStatus[]> {
  const root = CancellationScope.current();
  return CancellationScope.nonCancellable(async () => {
    const sequences = new Sequences(chain, Reports);
    const { engine, states, notices: reports } = sequences;

    states.tellIgnored = (signal) => reports.send({ actions: [], ignored: signal });
    takeSteering(sequences, {
      // The chain sent a retry before it knew of the failure. Sends the retry back, because only chains run failed actions again.
      passOn(name, steering) {
        const isLate = isRetry(verbOf(name)) && isToRedo(states.of(steering.index).state);
        if (isLate) reports.chain.add(() => reports.chain.steer(name, steering));
        return isLate;
      },
    });
    engine.begin(root, () => sequences.cancelAll());

    const [first] = chain.actions;
    if (first) sequences.open(chain.actions, dueAt(chain, first), () => engine.letIn());
    await engine.allOver();
    if (sequences.mayBeRetried) {
      await engine.wait({}, 1, lastSummary(states.actions)); // If a retry comes now, `passOn` returns the retry to the chain.
      await engine.allOver();
    }
    if (sequences.cancelled) {
      states.endRest({ state: 'cancelled' });
      await engine.allOver(); // Waits until the reports are sent, because a cancellation contains no statuses.
      if (states.actions.some(({ state }) => state === 'cancelled'))
        throw new CancelledFailure('the delayed actions were cancelled');
    }
    if (chainStatus(states.actions) === 'failed') throw actionsFailed('ActionsFailed', chain, states.actions, states.actions);
    return states.actions;
  });
}
