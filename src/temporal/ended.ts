/** Writes the row of a chain when the chain ends. The worker has the result, so the collector need not read the result. */

import type { InjectedSinks } from '@temporalio/worker';
import type { z } from 'zod';
import { chainOfWorkflow } from '../chain/chain.js';
import { isToRedo, lastFoundNobody } from '../chain/outcome.js';
import { chainSchema, type viewSchema } from '../contract/chain-resource.js';
import type { ChainSinks } from '../contract/messages.js';
import { failureTypesOf } from '../contract/search-attributes.js';
import type { Store } from '../store/store.js';
import { memoSchema } from './list.js';

/** This sink never throws: the SDK would log the memo, and the log must have no texts of companies. */
export function chainSinks(rows: Store['chains']): InjectedSinks<ChainSinks> {
  return {
    chains: {
      ended: {
        fn({ workflowId, runId, firstExecutionRunId, startTime, memo = {} }, view, ticketIds) {
          const chain = chainOfWorkflow(workflowId);
          // The collector writes the rows of reopened chains, because the worker does not know when a chain was reopened.
          if (!chain || runId !== firstExecutionRunId) return;
          const startedAt = startTime.toISOString();
          const { receivedAt = startedAt, summary, rule } = memoSchema.safeParse(memo).data ?? {};
          const facts = { ...chain, runId, startedAt, receivedAt, summary, rule, ticketIds, status: view.status };
          const failureTypes = failureTypesOf(view.actions);
          rows.end({ ...facts, ...endOf(view, memo), closedAt: new Date().toISOString(), failureTypes });
        },
      },
    },
  };
}

const partsOfMemo = chainSchema.pick({ tokenIds: true, warnings: true });

/** The part of a row that says how the chain ended. */
export function endOf(view: z.infer<typeof viewSchema>, memo: unknown) {
  const { actions } = view;
  return {
    relayIds: [...new Set(actions.map(({ relayId }) => relayId))],
    assignmentIds: [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))],
    doneAt: actions
      .flatMap(({ endedAt }) => endedAt ?? [])
      .sort()
      .at(-1),
    failedActions: actions.filter(({ state }) => isToRedo(state)).length,
    nobodyFound: lastFoundNobody(actions),
    details: JSON.stringify({ ...view, ...partsOfMemo.safeParse(memo).data }),
  };
}
