/** What the state of an action allows, and what the states of all its actions make of a chain. */

import type { ActionState } from './action-state.js';
import type { ActionStatus, ChainStatus } from './action-status.js';
import type { SteeringVerb } from './steering-verb.js';

const ended: ReadonlySet<ActionState> = new Set(['done', 'skipped', 'failed', 'partly-failed', 'not-run', 'cancelled']);

/** Whether the action has ended. `partly-failed` has, although it can be retried while the chain is open. */
export function hasEnded(state: ActionState): boolean {
  return ended.has(state);
}

/** Whether an action that has ended can be retried, also when its chain has closed. */
export function isToRedo(state: ActionState): boolean {
  return state === 'failed' || state === 'partly-failed';
}

/** Whether the verb has an effect on an action in this state. */
export function isOpenTo(verb: SteeringVerb, state: ActionState): boolean {
  switch (verb) {
    case 'retry':
      return state === 'needs-attention' || isToRedo(state);
    case 'skip':
      return state === 'needs-attention';
    case 'runNow':
    case 'reschedule':
      return state === 'scheduled';
    case 'cancel':
      return !hasEnded(state);
  }
}

/** The status of a chain that was not cancelled or terminated as a whole, from its actions alone. */
export function chainStatus(actions: readonly Pick<ActionStatus, 'state'>[]): Exclude<ChainStatus, 'cancelled' | 'terminated'> {
  if (actions.some(({ state }) => state === 'needs-attention')) return 'needs-attention';
  if (actions.some(({ state }) => !hasEnded(state))) return 'running';
  return actions.some(({ state }) => state === 'failed' || state === 'not-run') ? 'failed' : 'completed';
}
