/** Runs an accepted request: starts its delayed actions, runs its immediate actions in order, and closes after the last action. */

import { CancellationScope, CancelledFailure, proxySinks, upsertMemo, workflowInfo } from '@temporalio/workflow';
import { type Chain, planChain, receivedOn, ticketIdsOf, triedAtOnce } from '../chain/chain.js';
import { perhapsTried } from '../chain/outcome.js';
import { actionsFailed } from '../contract/failures.js';
import type { ChainSinks, ChainView } from '../contract/messages.js';
import { Sequences } from './action/sequences.js';
import { ChainRun } from './chain-run.js';
import { ChainNotices } from './notices.js';

/** @throws ApplicationFailure `ChainFailed` if an action ended as `failed` or `not-run`; `details[0]` is the chain's view. */
export async function RuleChain(input: Chain): Promise<ChainView> {
  const chain = receivedOn(workflowInfo().startTime, input);
  const root = CancellationScope.current();
  return CancellationScope.nonCancellable(async () => {
    const sequences = new Sequences(chain, ChainNotices);
    const { engine, states, notices } = sequences;
    const run = new ChainRun(sequences);
    const { immediate } = planChain(chain.actions);

    const hasLostTask = engine.begin(root, () => run.cancel());
    run.arm();
    if (root.consideredCancelled && hasLostTask) {
      const unknown = triedAtOnce(immediate);
      for (const { index } of unknown) states.end(index, { state: 'failed', error: perhapsTried, reason: perhapsTried.message });
      if (unknown[0]) notices.tell('failed', unknown[0].index);
    }
    await engine.letIn();
    await sequences.run(immediate);
    await engine.allOver();
    await run.retries();
    return close(sequences);
  });
}

function close({ chain, states, cancelled }: Sequences): ChainView {
  states.endRest({ state: 'cancelled' });
  states.publish();
  states.show();
  const { ignored: _, ...ended } = states.view;
  const isCancelled = cancelled && ended.actions.some(({ state }) => state === 'cancelled');
  const status = isCancelled ? 'cancelled' : ended.status;
  proxySinks<ChainSinks>().chains.ended({ ...ended, status }, ticketIdsOf(chain.actions));
  if (isCancelled) {
    // A cancellation contains no details, so the memo stores the final states. The API can read the memo without a worker.
    upsertMemo({ states: ended.actions.map(({ state }) => state) });
    throw new CancelledFailure('the chain was cancelled');
  }
  if (status === 'failed') throw actionsFailed('ChainFailed', chain, ended.actions, ended);
  return ended;
}
