/** Chains with every status, open and closed, each with one action in every state. With them, tests check the allowed verbs. */

import { actionStates, chainStatuses } from '../../src/chain/outcome.js';
import type { ActionResource, ChainResource } from '../../src/contract/chain-resource.js';

const at = '2026-07-01T12:00:00.000Z';
export const links = { api: 'http://127.0.0.1', chain: 'http://127.0.0.1/co/acme/chains/c1' };
/** An action in each state. Its index is the place of the state in `actionStates`. */
export const everyAction: ActionResource[] = actionStates.map((state, index) => ({
  index,
  action: 'sendEmails',
  relayId: '7',
  state,
  runAt: at,
}));
const ids = { chainId: 'c1', workflowId: 'relay:acme:c1', receivedAt: at, links };
export const everyChain: ChainResource[] = chainStatuses.flatMap((status) =>
  [undefined, at].flatMap((closedAt) =>
    [undefined, true as const].map((historyFull) => ({ ...ids, status, closedAt, historyFull, actions: everyAction })),
  ),
);
export const troubled = everyAction.filter(({ state }) => ['needs-attention', 'failed', 'partly-failed'].includes(state));
