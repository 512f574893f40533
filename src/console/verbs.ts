/** What can be decided about the actions of a chain. */

import { type ActionState, isOpenTo, isRetry, isToRedo, type SteeringVerb } from '../chain/outcome.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';

/** In this order beside an action. */
export const offeredVerbs = ['retry', 'mend', 'skip', 'runNow', 'reschedule', 'cancel'] as const satisfies SteeringVerb[];
export type OfferedVerb = (typeof offeredVerbs)[number];

/** A chain that has ended by itself is opened again for a retry. */
export function verbsFor(chain: Pick<ChainResource, 'closedAt' | 'status' | 'historyFull'>, state: ActionState): OfferedVerb[] {
  const hasEndedByItself = chain.status === 'failed' || chain.status === 'completed';
  return offeredVerbs.filter((verb) => {
    if (!isOpenTo(verb, state) || (chain.historyFull && (isRetry(verb) || verb === 'reschedule'))) return false;
    return chain.closedAt === undefined || (isRetry(verb) && hasEndedByItself && isToRedo(state));
  });
}

/** What can be done with several chosen chains. */
export type ManyVerb = 'retry' | 'skip' | 'cancel';

/** The actions of a chosen chain that the verb is for: to retry what is held, or of a chain that has failed what has failed. */
export function actionsFor(
  verb: ManyVerb,
  chain: Pick<ChainResource, 'closedAt' | 'status' | 'historyFull' | 'actions'>,
): ActionResource[] {
  const redone: ActionState = chain.status === 'failed' ? 'failed' : 'needs-attention';
  return chain.actions.filter(({ state }) => verbsFor(chain, state).includes(verb) && (verb !== 'retry' || state === redone));
}
