/** Decides whether a verb (retry, mend, skip, …) is allowed for an action in its state, and gives the reason for a refusal. */

import { type ActionState, actionStates, type ChainStatus, hasEnded, isToRedo } from './outcome.js';

/** The verbs, in the order of the buttons in the console. */
export const steeringVerbs = ['retry', 'mend', 'skip', 'runNow', 'reschedule', 'cancel'] as const;
export type SteeringVerb = (typeof steeringVerbs)[number];

export const bulkVerbs = ['retry', 'mend', 'skip', 'cancel', 'runNow'] as const satisfies SteeringVerb[];
export type BulkVerb = (typeof bulkVerbs)[number];

interface Verb {
  /** The action states in which the verb has an effect. */
  states: readonly ActionState[];
  /** The verb runs an action again, and reopens a chain that is completed or failed. */
  again?: true;
  /** A person can repeat the verb without limit, so a chain with a full history refuses it. */
  usesRoom?: true;
}

const troubled: readonly ActionState[] = ['needs-attention', 'failed', 'partly-failed'];

/** Part of the replay contract. */
const verbs: Record<SteeringVerb, Verb> = {
  retry: { states: troubled, again: true, usesRoom: true },
  mend: { states: troubled, again: true, usesRoom: true },
  skip: { states: ['needs-attention'] },
  runNow: { states: ['scheduled'] },
  reschedule: { states: ['scheduled'], usesRoom: true },
  cancel: { states: actionStates.filter((state) => !hasEnded(state)) },
};

export const historyFull =
  "Temporal's history of this chain is full, so the relay cannot retry: skip or cancel, or send the request again";

/** Whether the verb is allowed in this state, if the chain is open. */
export const isOpenTo = (verb: SteeringVerb, state: ActionState) => verbs[verb].states.includes(state);

/** Whether the verb edits an action that has not begun. The action runs with the edit at its planned time. */
export const editsEarly = (verb: SteeringVerb, state: ActionState) => verb === 'mend' && state === 'scheduled';

const isPossible = (verb: SteeringVerb, state: ActionState) => isOpenTo(verb, state) || editsEarly(verb, state);

/**
 * Returns the effect of a signal: `decide` for a held action, `redo` for a failed action, `move` for a scheduled action, or
 * `cancel`. Undefined if there is no effect. @param waits - whether an edit or a skip counts even before the action is held.
 */
export function effectOf(verb: SteeringVerb, state: ActionState, waits = false) {
  const isEarly = waits && (verb === 'mend' || verb === 'skip') && !hasEnded(state);
  if (!isEarly && !isOpenTo(verb, state)) return undefined;
  if (verb === 'cancel') return 'cancel';
  if (verb === 'runNow' || verb === 'reschedule') return 'move';
  return isEarly || state === 'needs-attention' ? 'decide' : 'redo';
}

/** Whether the verb runs an action again. Such a verb is also allowed after the action has failed. */
export const isRetry = (verb: SteeringVerb): verb is 'retry' | 'mend' => verbs[verb].again === true;

export function usesRoom(verb: SteeringVerb): boolean {
  return verbs[verb].usesRoom === true;
}

/** The allowed verbs depend on these facts about a chain. */
export interface ChainFacts {
  chainId?: string;
  status: ChainStatus;
  closedAt?: string | undefined;
  historyFull?: boolean | undefined;
  /** No worker process answered, so the states may be outdated. */
  partial?: boolean | undefined;
  /** Temporal has deleted the chain, so nobody can steer the chain. */
  forgotten?: boolean | undefined;
}

type ActionFacts = { index: number; state: ActionState };

export type Refusal = { slug: 'already-ended' | 'not-steerable'; detail: string };

export const verbsFor = (chain: ChainFacts, action: ActionFacts): SteeringVerb[] =>
  steeringVerbs.filter((verb) => isPossible(verb, action.state) && !refusalOf(verb, chain, action));

/** @returns undefined if the verb is allowed. If the state may be outdated (`partial`), the workflow decides later. */
export function refusalOf(verb: SteeringVerb, chain: ChainFacts, { index, state }: ActionFacts): Refusal | undefined {
  const { status, closedAt, partial } = chain;
  if (chain.forgotten) return forgotten(chain);
  if (closedAt !== undefined && !isReopened(verb, chain, state)) {
    const again =
      isRetry(verb) && state !== 'done' && state !== 'skipped'
        ? '; to run the remaining actions of the chain, send the request again'
        : '';
    return ended(`chain ${chain.chainId} is ${status}, action ${index} is ${state}${again}`);
  }
  if (!isPossible(verb, state) && !partial) {
    if (hasEnded(state)) return ended(`action ${index} is ${state}`);
    const states = actionStates.filter((state) => isPossible(verb, state)).join(' or ');
    const possible = verbsFor(chain, { index, state }).join(', ');
    const detail = `At the moment, action ${index} is ${state}, but ${verb} needs the state ${states}. Possible now: ${possible}.`;
    return { slug: 'not-steerable', detail };
  }
  return chain.historyFull && usesRoom(verb) ? { slug: 'not-steerable', detail: `${historyFull}.` } : undefined;
}

export function bulkVerbsFor(status?: string): BulkVerb[] {
  if (status === 'failed') return bulkVerbs.filter(isRetry);
  return bulkVerbs.filter((verb) => status !== 'running' || isOpenTo(verb, 'scheduled'));
}

/** @returns undefined if the chain can be cancelled. */
export function cancelRefusal(chain: ChainFacts): Refusal | undefined {
  const { chainId, status, closedAt } = chain;
  if (chain.forgotten) return forgotten(chain);
  return closedAt === undefined ? undefined : ended(`chain ${chainId} is ${status}`);
}

/** Whether the verb reopens a closed chain. A cancelled or terminated chain stays closed. */
export const isReopened = (verb: SteeringVerb, { status, closedAt }: ChainFacts, state: ActionState) =>
  closedAt !== undefined && isRetry(verb) && isToRedo(state) && (status === 'failed' || status === 'completed');

export const forgotten = ({ chainId }: Pick<ChainFacts, 'chainId'>): Refusal =>
  ended(`Temporal has deleted chain ${chainId}; to run the remaining actions of the chain, send the request again`);

export const ended = (what: string): Refusal => ({ slug: 'already-ended', detail: `This has no effect any more: ${what}.` });
