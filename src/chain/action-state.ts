/** The states of an action. */

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
