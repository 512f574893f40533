/**
 * The states of actions and chains, what people can do about them, and what the states of all actions make of a chain.
 * Part of the replay contract.
 */

export const actionStates = [
  'pending', // waits for its turn
  'scheduled', // waits for its time
  'running',
  'retrying', // failed, and is tried again within the retry budget
  'needs-attention', // held until somebody retries or skips it, or the attention window is over
  'done',
  'skipped', // its condition did not hold, its rule was disabled, or somebody skipped it
  'failed',
  'partly-failed', // an e-mail that reached at least one recipient, but not all
  'not-run', // stood behind an action that failed
  'cancelled',
] as const;
export type ActionState = (typeof actionStates)[number];

export const chainStatuses = ['running', 'needs-attention', 'completed', 'failed', 'cancelled', 'terminated'] as const;
export type ChainStatus = (typeof chainStatuses)[number];

export const steeringVerbs = ['retry', 'mend', 'skip', 'runNow', 'cancel', 'reschedule'] as const;
export type SteeringVerb = (typeof steeringVerbs)[number];

/** Those that can be done with many at once. */
export const bulkVerbs = ['retry', 'mend', 'skip', 'cancel', 'runNow'] as const satisfies SteeringVerb[];
export type BulkVerb = (typeof bulkVerbs)[number];

const ended: ReadonlySet<ActionState> = new Set(['done', 'skipped', 'failed', 'partly-failed', 'not-run', 'cancelled']);

/** Whether the action has ended. `partly-failed` has, although it can be retried while the chain is open. */
export function hasEnded(state: ActionState): boolean {
  return ended.has(state);
}

/** Whether an action that has ended can be retried, also when its chain has closed. */
export function isToRedo(state: ActionState): boolean {
  return state === 'failed' || state === 'partly-failed';
}

/** Whether the verb does an action again, also one that has failed. */
export function isRetry(verb: SteeringVerb): verb is 'retry' | 'mend' {
  return verb === 'retry' || verb === 'mend';
}

const troubled: readonly ActionState[] = ['needs-attention', 'failed', 'partly-failed'];
const openTo: Record<SteeringVerb, readonly ActionState[]> = {
  retry: troubled,
  mend: troubled,
  skip: ['needs-attention'],
  runNow: ['scheduled'],
  cancel: actionStates.filter((state) => !hasEnded(state)),
  reschedule: ['scheduled'],
};

/** Whether the verb has an effect on an action in this state. */
export function isOpenTo(verb: SteeringVerb, state: ActionState): boolean {
  return openTo[verb].includes(state);
}

/** Whether nobody knows if the last try took effect, on somebody who has no copy by what is known. */
export function isUnknown({ error, deliveries = [] }: Tried): boolean {
  return Boolean(error?.unknown || deliveries.some(({ sent, unknown }) => !sent && unknown));
}

interface Tried {
  error?: { unknown?: boolean };
  deliveries?: { sent: boolean; unknown?: boolean }[];
}

/** The status of a chain that was not cancelled or terminated as a whole, from its actions alone. */
export function chainStatus(actions: readonly { state: ActionState }[]): Exclude<ChainStatus, 'cancelled' | 'terminated'> {
  if (actions.some(({ state }) => state === 'needs-attention')) return 'needs-attention';
  if (actions.some(({ state }) => !hasEnded(state))) return 'running';
  return actions.some(({ state }) => state === 'failed' || state === 'not-run') ? 'failed' : 'completed';
}
