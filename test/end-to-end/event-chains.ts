/** Chains as the relay starts them for an event. */

import { randomUUID } from 'node:crypto';
import { NativeConnection } from '@temporalio/worker';
import { type Chain, chainWorkflowId } from '../../src/chain/chain.js';
import { chainDetails, chainSummary } from '../../src/chain/web-ui.js';
import { searchAttributesOf } from '../../src/contract/search-attributes.js';
import { eventAction } from '../chain/event-actions.js';
import type { Action, Stack } from './stack.js';

export async function startOfEvent(
  { client, taskQueue }: Pick<Stack, 'client' | 'taskQueue'>,
  { companyId, relayId }: { companyId: string; relayId: string },
  elements: readonly Action[],
  event?: Record<string, unknown>,
): Promise<{ chainId: string; workflowId: string }> {
  const actions = elements.map((fields, index) => eventAction(fields, { index, relayId, ...(event && { event }) }));
  const chain: Chain = {
    companyId,
    chainId: randomUUID(),
    receivedAt: new Date().toISOString(),
    retryBudgetSeconds: 1,
    attentionWindowSeconds: 600,
    actions,
  };
  const workflowId = chainWorkflowId(chain);
  await client.workflow.start('RuleChain', {
    workflowId,
    taskQueue,
    args: [chain],
    requestEagerStart: client.connection instanceof NativeConnection,
    typedSearchAttributes: searchAttributesOf(chain, actions),
    staticSummary: chainSummary(chain, actions),
    staticDetails: chainDetails(chain, actions),
  });
  return { chainId: chain.chainId, workflowId };
}
