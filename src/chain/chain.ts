/** A chain as workflows get it: the actions of one accepted request, read and without their tokens. */

import type { ActionStatus } from './action-status.js';
import type { ActionEffect } from './actions.js';
import type { Condition } from './condition.js';

/** 366 days, in seconds: the longest delay, which also decides whether a `reschedule` counts. Part of the replay contract. */
export const maxDelaySeconds = 366 * 24 * 3600;

export const companyIdPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** Of a rule's id, within its company. */
export const relayIdPattern = /^\d{1,32}$/;
export const relayIdRule = 'must be 1 to 32 digits';

export type ChainAction = ActionEffect & {
  index: number; // Zero-based place in the request's array.
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
  /** Its fields as they were sent, but for those that it holds so itself (sent.ts). Absent where an earlier version accepted it. */
  sent?: Record<string, unknown>;
};

export type SendEmails = Extract<ChainAction, { action: 'sendEmails' }>;
export type EmailContents = Pick<SendEmails, 'subject' | 'body' | 'bodyHtml'>;

export interface ChainRef {
  companyId: string;
  chainId: string;
}

/** The input of a `RuleChain` workflow. */
export interface Chain extends ChainRef {
  /** When the request came in: what delays are measured from. ISO 8601, UTC. */
  receivedAt: string;
  actions: ChainAction[];
  /** How long an effect is tried before its action needs attention. */
  retryBudgetSeconds: number;
  /** How long a held action waits for a decision. */
  attentionWindowSeconds: number;
  /** Of the request, where it is traced, as W3C's Trace Context has it: effects are traced under it. */
  traceparent?: string;
}

/** A company id has no colon. */
export function chainWorkflowId(chain: ChainRef): string {
  return `relay:${chain.companyId}:${chain.chainId}`;
}

/** The chain that a workflow runs; undefined: it is not the one that runs a chain. */
export function chainOfWorkflow(workflowId: string): ChainRef | undefined {
  const [, companyId, chainId] = /^relay:([^:]+):([^:]+)$/.exec(workflowId) ?? [];
  return companyId !== undefined && chainId !== undefined ? { companyId, chainId } : undefined;
}

/** To whom an action writes. */
export function recipientsOf(action: ChainAction): readonly string[] {
  return action.action === 'sendEmails' ? action.recipients : [];
}

/** The resource of a chain at an API. */
export function chainUrl(apiUrl: string, { companyId, chainId }: ChainRef): string {
  return `${apiUrl}/co/${companyId}/chains/${chainId}`;
}

/** The console's pages, for whoever signs in with a key. */
export function chainPage(apiUrl: string, { companyId, chainId }: ChainRef): string {
  return `${apiUrl}/companies/${companyId}/chains/${chainId}`;
}

export function refusalPage(apiUrl: string, companyId: string, rejectedId: string): string {
  return `${apiUrl}/companies/${companyId}/refused/${rejectedId}`;
}

export function causePage(apiUrl: string, companyId: string, causeId: string): string {
  return `${apiUrl}/companies/${companyId}/causes/${causeId}`;
}

/** Where people look, without a slash at the end. */
export interface Links {
  api: string; // https://relay.example.com
  webUi?: string; // Temporal's: https://temporal.example.com/namespaces/default
}

/** Where a chain is looked at: the API's resource, and its page in the Web UI, of the run if one is named. */
export function chainLinks(links: Links, chain: ChainRef, runId?: string) {
  return { chain: chainUrl(links.api, chain), webUi: workflowLink(links, chainWorkflowId(chain), runId) };
}

/** The Web UI's page of a workflow; of a run, where it says how its actions stand. */
export function workflowLink(links: Links, workflowId: string, runId?: string): string | undefined {
  const page = links.webUi && `${links.webUi}/workflows/${encodeURIComponent(workflowId)}`;
  return page && runId ? `${page}/${runId}/user-metadata` : page;
}

/** The Web UI's list of a company's workflows. */
export function companyLink({ webUi }: Links, companyId: string): string | undefined {
  return webUi && `${webUi}/workflows?${new URLSearchParams({ query: `RelayCompanyId="${companyId}"` })}`;
}

/** Part of the replay contract. */
export function delayedWorkflowId(chain: ChainRef, firstIndex: number): string {
  return `${chainWorkflowId(chain)}:${firstIndex}`;
}

/** The same for every attempt at the same effect, also after a reset. @param mends - how often its action was mended. */
export function idempotencyKey(chain: ChainRef, index: number, mends = 0): string {
  return `${chainWorkflowId(chain)}/${index}${mends > 0 ? `/m${mends}` : ''}`;
}

/** No start takes longer: what says that it did comes from a clock that is wrong. */
const longestStartMs = 60_000;

/**
 * The API's clock says when a request came in, and Temporal's when its chain began; where they are apart, Temporal's counts, by which
 * the delays pass. Part of the replay contract.
 */
export function receivedOn<Received extends Pick<Chain, 'receivedAt'>>(began: Date, chain: Received): Received {
  const isRight = Math.abs(began.getTime() - Date.parse(chain.receivedAt)) <= longestStartMs;
  return isRight ? chain : { ...chain, receivedAt: began.toISOString() };
}

/** Unix milliseconds at which the action is due. */
export function dueAt(chain: Pick<Chain, 'receivedAt'>, action: Pick<ChainAction, 'delaySeconds'>): number {
  return Date.parse(chain.receivedAt) + delayOf(action) * 1000;
}

/** The immediate actions, and the delayed ones grouped by equal delay, each group in array order. Part of the replay contract. */
export function planChain(actions: readonly ChainAction[]): { immediate: ChainAction[]; delayed: ChainAction[][] } {
  const groups = new Map<number, ChainAction[]>([[0, []]]);
  for (const action of actions) groups.set(delayOf(action), [...(groups.get(delayOf(action)) ?? []), action]);
  const [immediate = [], ...delayed] = groups.values();
  return { immediate, delayed };
}

/** Seconds. */
export function delayOf({ delaySeconds = 0 }: Pick<ChainAction, 'delaySeconds'>): number {
  return delaySeconds;
}

/**
 * What runs when an action that failed is retried: itself, and the actions behind it that were not run because of it.
 * Part of the replay contract.
 */
export function toRedo(
  actions: readonly ChainAction[],
  statuses: readonly Pick<ActionStatus, 'index' | 'state'>[],
  index: number,
): ChainAction[] {
  const states = new Map(statuses.map((status) => [status.index, status.state]));
  const action = actions.find((action) => action.index === index);
  if (!action) return [];
  const behind = actions.filter((other) => other.index > index && delayOf(other) === delayOf(action));
  const next = behind.find((other) => states.get(other.index) === 'failed')?.index ?? Number.POSITIVE_INFINITY;
  return [action, ...behind.filter((other) => other.index < next && states.get(other.index) === 'not-run')];
}

/** What identifies an action to people. */
export function actionFacts({ index, action, relayId, comment, assignmentId }: ChainAction) {
  return { index, action, relayId, comment, assignmentId };
}

export function initialStatus(chain: Chain, action: ChainAction): ActionStatus {
  const first = chain.actions.find(({ delaySeconds }) => delaySeconds === action.delaySeconds);
  return {
    ...actionFacts(action),
    state: action.delaySeconds ? 'scheduled' : 'pending',
    workflowId: action.delaySeconds && first ? delayedWorkflowId(chain, first.index) : undefined,
    runAt: new Date(dueAt(chain, action)).toISOString(),
  };
}
