/** What became of an action and of a chain: the states that the API, the notices and the Web UI show. */

import type { Connector } from './pause.js';

export type ActionState =
  | 'pending' // waits for its turn
  | 'scheduled' // waits for its time
  | 'running'
  | 'retrying' // failed, and is tried again within the retry budget
  | 'needs-attention' // held until somebody retries or skips it, or the attention window is over
  | 'done'
  | 'skipped' // its condition did not hold, its rule was disabled, or somebody skipped it
  | 'failed'
  | 'partly-failed' // an e-mail that reached at least one recipient, but not all
  | 'not-run' // stood behind an action that failed
  | 'cancelled';

export type ChainStatus = 'running' | 'needs-attention' | 'completed' | 'failed' | 'cancelled' | 'terminated';

/** Why an action could not be done. */
export interface Trouble {
  /** The failure type: `PlatformError`, `MailError`, `DataMistake`, … */
  type: string;
  /** What was wrong, where, and what to do. No secrets. */
  message: string;
  /** Whether trying again without changing anything can help. */
  retryable: boolean;
  /** Nobody can say whether the effect took place. */
  unknown?: boolean;
  /** The other side's `Retry-After`. */
  retryAfterSeconds?: number;
  /** Nothing was tried: this connector is paused. */
  paused?: Connector;
}

export const steeringVerbs = ['retry', 'skip', 'runNow', 'cancel', 'reschedule'] as const;
export type SteeringVerb = (typeof steeringVerbs)[number];

/** What somebody decided about an action. */
export interface Steered {
  at: string;
  /** `admin`, `key <name>`; `hand` for a signal that did not come from the API. */
  by: string;
  verb: SteeringVerb;
}

/** What became of each recipient of an e-mail action. */
export interface Delivery {
  recipient: string;
  /** Handed to the mail server. */
  sent: boolean;
  error?: string;
}

/** One action of a chain, as queries, signals and results carry it. Times are ISO 8601 in UTC. */
export interface ActionStatus {
  index: number;
  action: string;
  relayId: string;
  comment?: string;
  assignmentId?: string;
  state: ActionState;
  /** The `DelayedAction` workflow that runs it; absent: the chain's own. */
  workflowId?: string;
  /** When it is or was due. */
  runAt?: string;
  startedAt?: string;
  endedAt?: string;
  attempts?: number;
  /** The last error; kept after a recovery. */
  error?: Trouble;
  /** Why it was skipped, failed, cancelled or not run, in words. */
  reason?: string;
  /** What the other side told: `{ recipients: 3 }`. */
  result?: { recipients?: number };
  deliveries?: Delivery[];
  /** When the relay tries a held action again by itself. */
  nextAttemptAt?: string;
  /** When a held action ends `failed` for want of a decision. */
  heldUntil?: string;
  /** Since when a `pending` action waits for the end of a pause, which `reason` names. */
  pausedSince?: string;
  /** The last 20, the latest last. */
  steered?: Steered[];
}

const ended: ReadonlySet<ActionState> = new Set(['done', 'skipped', 'failed', 'partly-failed', 'not-run', 'cancelled']);

/** Whether the action has ended. `partly-failed` has, although it can be retried while the chain is open. */
export function hasEnded(state: ActionState): boolean {
  return ended.has(state);
}

/** Whether an action that has ended can be done after all, also when its chain has closed. */
export function isToRedo(state: ActionState): boolean {
  return state === 'failed' || state === 'partly-failed';
}

/** Whether what a verb does makes sense for an action in this state. */
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
