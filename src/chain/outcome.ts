/** The states of actions and chains. Part of the replay contract. allowed-verbs.ts says which verbs are allowed in each state. */

export const actionStates = [
  'pending',
  'scheduled', // waits until the action is due
  'running',
  'retrying', // failed; the relay tries again within the retry budget
  'needs-attention', // held until a person decides or the attention window ends
  'done',
  'skipped', // the condition did not hold, the rule was disabled, or a person skipped the action
  'failed',
  'partly-failed', // the e-mail reached some recipients, but not all
  'not-run', // an earlier action of its sequence failed
  'cancelled',
] as const;
export type ActionState = (typeof actionStates)[number];

export type Outcomes = Partial<Record<ActionState, number>>;

/**
 * Says how many actions of a bulk order have each result, for example `1 done, 1 found nobody, 1 failed again`. For one action, the
 * text has no number. @param nobodyFound - how many sends are done, but found no technician
 */
export function outcomesText(
  outcomes: Outcomes,
  { nobodyFound = 0, again = ' again' }: { nobodyFound?: number; again?: string } = {},
) {
  const failed = `failed${again}`;
  const words: Partial<Record<ActionState | 'nobody', string>> = {
    ...{ 'needs-attention': failed, failed, 'partly-failed': `partly ${failed}` },
    ...{ retrying: 'being retried', pending: 'waiting', nobody: 'found nobody' },
  };
  const all: Partial<Record<ActionState | 'nobody', number>> = {
    ...outcomes,
    ...{ done: (outcomes.done ?? 0) - nobodyFound, nobody: nobodyFound },
  };
  const counts = new Map<string, number>();
  for (const state of [...actionStates, 'nobody'] as const) {
    const said = words[state] ?? state;
    const count = all[state] ?? 0;
    if (count > 0) counts.set(said, (counts.get(said) ?? 0) + count);
  }
  const isOne = [...counts.values()].join() === '1';
  return [...counts].map(([said, count]) => (isOne ? said : `${count} ${said}`)).join(', ');
}

const openStatuses = ['running', 'needs-attention'] as const;
/** `forgotten` means that Temporal has lost an open chain, for example because an old backup of Temporal was restored. */
export const chainStatuses = [...openStatuses, 'completed', 'failed', 'cancelled', 'terminated', 'forgotten'] as const;
export type ChainStatus = (typeof chainStatuses)[number];

const ended: ReadonlySet<ActionState> = new Set(['done', 'skipped', 'failed', 'partly-failed', 'not-run', 'cancelled']);

/** `failed` and `partly-failed` also count as ended, although people can retry such actions. */
export const hasEnded = (state: ActionState) => ended.has(state);

/** Whether an ended action can be retried, even after its chain has closed. */
export const isToRedo = (state: ActionState) => state === 'failed' || state === 'partly-failed';

/** Whether the outcome of the last try is unknown. Ignores recipients who have the e-mail. */
export const isUnknown = ({ error, deliveries = [] }: Tried) =>
  Boolean(error?.unknown || deliveries.some(({ sent, unknown }) => !sent && unknown));

type Tried = { error?: { unknown?: boolean }; deliveries?: { sent: boolean; unknown?: boolean }[] };

/** Whether a retry can help without an edit of the action. If so, pages and notices offer the retry first. */
export const retryHelps = ({ error }: { error?: { retryable: boolean; unknown?: boolean; remedy?: string } }) =>
  !error || error.retryable || error.unknown === true || /\bretry\b/i.test(error.remedy ?? '');

/** Whether a send is done, but found no technician. Then nobody can accept the assignment. */
export const foundNobody = ({ state, result }: Sent) => state === 'done' && result?.recipients === 0;

type Sent = { state: string; result?: { recipients?: number | undefined } | undefined };

/** Whether the last send of some assignment found no technician. An earlier send does not count if a later send found a technician. */
export function lastFoundNobody(actions: readonly (Sent & { action: string; assignmentId?: string | undefined })[]): boolean {
  const sends = actions.filter(({ action, state }) => action === 'platform_sendAssignment' && state === 'done');
  return [...new Map(sends.map((send) => [send.assignmentId, send])).values()].some(foundNobody);
}

/** Whether an e-mail has reached a recipient, in this try or before. */
export const reachedSome = ({ deliveries = [] }: Pick<Tried, 'deliveries'>) => deliveries.some(({ sent }) => sent);

/** Whether the outside system was called. If not, the try does not count as an attempt. */
export const wasTried = ({ type, paused }: { type: string; paused?: unknown }) => !paused && type !== 'NotTried';

/** The error for an effect that may have been tried in a workflow task whose results were lost. */
export const perhapsTried = {
  type: 'OutcomeUnknown',
  message:
    'nobody knows whether the action was done: the relay may have tried the action before the cancellation; check the other system',
  retryable: false,
  unknown: true,
};

export function chainStatus(
  actions: readonly { state: ActionState }[],
): Exclude<ChainStatus, 'cancelled' | 'terminated' | 'forgotten'> {
  if (actions.some(({ state }) => state === 'needs-attention')) return 'needs-attention';
  if (actions.some(({ state }) => !hasEnded(state))) return 'running';
  return actions.some(({ state }) => state === 'failed' || state === 'not-run') ? 'failed' : 'completed';
}
