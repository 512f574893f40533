/** A chain as workflows get it: the actions of one accepted request, read and without their tokens. */

import type { ActionStatus } from './action-status.js';
import type { ActionEffect } from './actions.js';
import type { Condition } from './condition.js';

/** 366 days, in seconds: the longest delay. Part of the replay contract, since it decides whether a `reschedule` counts. */
export const maxDelaySeconds = 366 * 24 * 3600;

export const companyIdPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** Of a rule's id, within its company. */
export const relayIdPattern = /^\d{1,32}$/;
export const relayIdRule = 'must be 1 to 32 digits';

/** One action of an accepted chain. */
export type ChainAction = ActionEffect & {
  /** Zero-based place in the request's array. */
  index: number;
  relayId: string;
  assignmentId?: string;
  /** Whole seconds after `receivedAt`; absent or 0: runs in its turn. */
  delaySeconds?: number;
  condition?: Condition;
  incomingValue?: string;
  comment?: string;
  /** Why the event's data leave open when or whether it runs. It then needs attention before its condition is evaluated. */
  cannotSchedule?: string;
  /** Why the event's data leave open what it does. It then needs attention once its condition holds. */
  invalidData?: string;
};

/** The input of a `RuleChain` workflow. */
export interface Chain {
  companyId: string;
  chainId: string;
  /** When the request came in: what delays are measured from. ISO 8601, UTC. */
  receivedAt: string;
  actions: ChainAction[];
  /** How long an effect is tried before its action needs attention. */
  retryBudgetSeconds: number;
  /** How long a held action waits for a decision. */
  attentionWindowSeconds: number;
}

/** `relay:{companyId}:{chainId}`; a company id has no colon. */
export function chainWorkflowId(chain: Pick<Chain, 'companyId' | 'chainId'>): string {
  return `relay:${chain.companyId}:${chain.chainId}`;
}

/** The resource of a chain at an API. */
export function chainUrl(apiUrl: string, { companyId, chainId }: Pick<Chain, 'companyId' | 'chainId'>): string {
  return `${apiUrl}/co/${companyId}/chains/${chainId}`;
}

/** Where people look: the API, and Temporal's Web UI if there is one. */
export interface Links {
  /** `https://relay.example.com`, without a slash at the end. */
  api: string;
  /** `https://temporal.example.com/namespaces/default`. */
  webUi?: string;
}

/** Where a chain is looked at: the API's resource, and its page in the Web UI, of the run if one is named. */
export function chainLinks(links: Links, chain: Pick<Chain, 'companyId' | 'chainId'>, runId?: string) {
  return { chain: chainUrl(links.api, chain), webUi: workflowLink(links, chainWorkflowId(chain), runId) };
}

/** The Web UI's page of a workflow; of a run, where it says how its actions stand. */
export function workflowLink(links: Links, workflowId: string, runId?: string): string | undefined {
  const page = links.webUi && `${links.webUi}/workflows/${encodeURIComponent(workflowId)}`;
  return page && runId ? `${page}/${runId}/user-metadata` : page;
}

/** `relay:{companyId}:{chainId}:{first index}`. */
export function delayedWorkflowId(chain: Pick<Chain, 'companyId' | 'chainId'>, firstIndex: number): string {
  return `${chainWorkflowId(chain)}:${firstIndex}`;
}

/** The same for every attempt at the same effect, also after a reset. */
export function idempotencyKey(chain: Pick<Chain, 'companyId' | 'chainId'>, index: number): string {
  return `${chainWorkflowId(chain)}/${index}`;
}

/** Unix milliseconds at which the action is due. */
export function dueAt(chain: Pick<Chain, 'receivedAt'>, action: Pick<ChainAction, 'delaySeconds'>): number {
  return Date.parse(chain.receivedAt) + (action.delaySeconds ?? 0) * 1000;
}

/** The immediate actions in array order, and the delayed ones grouped by equal delay, each group in array order. */
export function planChain(actions: readonly ChainAction[]): { immediate: ChainAction[]; delayed: ChainAction[][] } {
  const immediate: ChainAction[] = [];
  const delayed = new Map<number, ChainAction[]>();
  for (const action of actions) {
    if (!action.delaySeconds) immediate.push(action);
    else delayed.set(action.delaySeconds, [...(delayed.get(action.delaySeconds) ?? []), action]);
  }
  return { immediate, delayed: [...delayed.values()] };
}

/** What runs when an action that failed is retried: itself, and the actions behind it that were not run because of it. */
export function toRedo(
  actions: readonly ChainAction[],
  statuses: readonly Pick<ActionStatus, 'index' | 'state'>[],
  index: number,
): ChainAction[] {
  const states = new Map(statuses.map((status) => [status.index, status.state]));
  const action = actions.find((action) => action.index === index);
  const behind = actions.filter((other) => other.index > index && (other.delaySeconds ?? 0) === (action?.delaySeconds ?? 0));
  const next = behind.findIndex((other) => states.get(other.index) === 'failed');
  const unrun = behind.slice(0, next < 0 ? undefined : next).filter((other) => states.get(other.index) === 'not-run');
  return [...(action ? [action] : []), ...unrun];
}

/** What identifies an action to people. */
export function actionFacts({ index, action, relayId, comment, assignmentId }: ChainAction) {
  return { index, action, relayId, comment, assignmentId };
}

/** The status of an action at the start of its chain. */
export function initialStatus(chain: Chain, action: ChainAction): ActionStatus {
  const first = chain.actions.find(({ delaySeconds }) => delaySeconds === action.delaySeconds);
  return {
    ...actionFacts(action),
    state: action.delaySeconds ? 'scheduled' : 'pending',
    workflowId: action.delaySeconds && first ? delayedWorkflowId(chain, first.index) : undefined,
    runAt: new Date(dueAt(chain, action)).toISOString(),
  };
}
