/** A chain as workflows get it: the actions of an accepted request, without tokens. */

import type { ActionStatus } from './action-status.js';
import type { ActionEffect } from './actions.js';
import { type Condition, mayAskAssignment } from './condition.js';
import { type Connector, type Due, dueAfterPause, type EndedPause, type Pause, pausesOf, pauseText } from './pause.js';

/** 366 days, in seconds. The workflow ignores a longer `reschedule`, so this limit is part of the replay contract. */
export const maxDelaySeconds = 366 * 24 * 3600;

export const companyIdPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** A `relayId` is unique within its company. */
export const relayIdPattern = /^\d{1,32}$/;
export const relayIdRule = 'must consist of 1 to 32 digits';

export type ChainAction = ActionEffect & {
  index: number; // Zero-based place in the request's array.
  relayId: string;
  assignmentId?: string;
  delaySeconds?: number; // Whole seconds after `receivedAt`. If absent or 0, the action is immediate.
  dueAt?: string; // Replaces `delaySeconds`. ISO 8601, UTC.
  condition?: Condition;
  incomingValue?: string;
  comment?: string;
  /** A data mistake in the delay or condition. The action needs attention, and its condition is not evaluated. */
  cannotSchedule?: string;
  invalidData?: string; // A data mistake in the effect. The action needs attention if its condition holds.
  /**
   * The fields as sent, without the fields that the action contains unchanged (see sent.ts). Absent if an old version of the
   * relay accepted the request.
   */
  sent?: Record<string, unknown>;
  /** The references without a value, perhaps none. Set only in actions from an event, where every other `${…}` is data. */
  unfilled?: string[];
  /** The fields with `${assignment.path}`, by their names in requests. An activity fills them in. `emails` is a list of texts. */
  late?: Record<string, LateText | LateText[]>;
};

/** The parts of a text, in turn a literal text and a path into the assignment. The first and the last are literal texts. */
export type LateText = string[];

export type SendEmails = Extract<ChainAction, { action: 'sendEmails' }>;
export type EmailContents = Pick<SendEmails, 'subject' | 'body' | 'bodyHtml'>;

export interface ChainRef {
  companyId: string;
  chainId: string;
}

export interface Chain extends ChainRef {
  receivedAt: string; // The time when the request arrived. All delays begin at this time. ISO 8601, UTC.
  actions: ChainAction[];
  retryBudgetSeconds: number; // how long the relay tries an effect before its action needs attention
  attentionWindowSeconds: number; // how long a held action waits for a decision
  /** The due times of all actions in the chain. Set only for a `DelayedAction`. */
  dueTimes?: Due[];
  traceparent?: string; // W3C Trace Context, if the request is traced; effects continue the trace
}

/** The company id and the chain id can be read from the workflow id, because a company id has no colon. */
export const chainWorkflowId = (chain: ChainRef) => `relay:${chain.companyId}:${chain.chainId}`;

/** @returns undefined if this is not the workflow of a chain. */
export function chainOfWorkflow(workflowId: string): ChainRef | undefined {
  const [, companyId, chainId] = /^relay:([^:]+):([^:]+)$/.exec(workflowId) ?? [];
  return companyId !== undefined && chainId !== undefined ? { companyId, chainId } : undefined;
}

/** @returns undefined if the workflow belongs to no company, such as a `BulkSteering`. */
export const companyOfWorkflow = (workflowId = ''): string | undefined => /^relay[a-z-]*:([^:]+):/.exec(workflowId)?.[1];

export const recipientsOf = (action: ChainAction): readonly string[] => (action.action === 'sendEmails' ? action.recipients : []);
export const chainUrl = (apiUrl: string, { companyId, chainId }: ChainRef) => `${apiUrl}/co/${companyId}/chains/${chainId}`;

/** The page of a chain in the console. The console asks the reader to sign in. */
export const chainPage = (apiUrl: string, { companyId, chainId }: ChainRef) =>
  `${apiUrl}/companies/${companyId}/chains/${chainId}`;

export const refusalPage = (apiUrl: string, companyId: string, rejectedId: string) =>
  `${apiUrl}/companies/${companyId}/refused/${rejectedId}`;

export const rulePage = (apiUrl: string, companyId: string, relayId: string) =>
  `${apiUrl}/companies/${companyId}/rules/${relayId}`;

export const causePage = (apiUrl: string, companyId: string, causeId: string) =>
  `${apiUrl}/companies/${companyId}/causes/${causeId}`;

/** Base URLs without a slash at the end. */
export interface Links {
  api: string; // https://relay.example.com
  /** Temporal's Web UI, for operators. If the Web UI needs a sign-in, this is the API's URL `/web-ui`, which asks for a sign-in. */
  webUi?: string;
}

/** Links to the chain in the API and in the Web UI. With `runId`, the Web UI shows that run. */
export function chainLinks(links: Links, chain: ChainRef, runId?: string) {
  return { chain: chainUrl(links.api, chain), webUi: workflowLink(links, chainWorkflowId(chain), runId) };
}

/** With `runId`, the page shows the states of the actions. */
export function workflowLink(links: Links, workflowId: string, runId?: string): string | undefined {
  const page = links.webUi && `${links.webUi}/workflows/${encodeURIComponent(workflowId)}`;
  return page && runId ? `${page}/${runId}/user-metadata` : page;
}

export const companyLink = ({ webUi }: Links, companyId: string): string | undefined =>
  webUi && `${webUi}/workflows?${new URLSearchParams({ query: `RelayCompanyId="${companyId}"` })}`;

export const delayedWorkflowId = (chain: ChainRef, firstIndex: number) => `${chainWorkflowId(chain)}:${firstIndex}`;

/** All attempts at one effect have the same key, even after a reset. @param mends - the number of edits of the action. */
export const idempotencyKey = (chain: ChainRef, index: number, mends = 0) =>
  `${chainWorkflowId(chain)}/${index}${mends > 0 ? `/m${mends}` : ''}`;

const longestStartMs = 60_000; // A workflow starts in less time, so a larger difference means that a clock is wrong.

/**
 * If the API's clock is wrong, `receivedAt` becomes the workflow's start time, because timers use Temporal's clock. Part of the
 * replay contract.
 */
export function receivedOn<Received extends Pick<Chain, 'receivedAt'>>(began: Date, chain: Received): Received {
  const isRight = Math.abs(began.getTime() - Date.parse(chain.receivedAt)) <= longestStartMs;
  return isRight ? chain : { ...chain, receivedAt: began.toISOString() };
}

/** The due time of an action, in Unix milliseconds. */
export const dueAt = (chain: Pick<Chain, 'receivedAt'>, action: Pick<ChainAction, 'delaySeconds' | 'dueAt'>): number =>
  action.dueAt === undefined ? Date.parse(chain.receivedAt) + delayOf(action) * 1000 : Date.parse(action.dueAt);

/** The due times of all actions in the chain. Actions with the same due time share one entry. Part of the replay contract. */
export function dueTimes(chain: Chain): Due[] {
  const { immediate, delayed } = planChain(chain.actions);
  return [immediate, ...delayed].flatMap((actions) =>
    actions[0] ? { at: dueAt(chain, actions[0]), needs: [...new Set(actions.flatMap(connectorsOf))] } : [],
  );
}

/** The due time of an action after a pause, in Unix milliseconds. 0 means now. Part of the replay contract. */
export function dueAgain(chain: Chain, action: ChainAction, { runAt = '', steered }: ActionStatus, pause: EndedPause): number {
  const wasMoved = steered?.some(({ verb }) => verb === 'runNow' || verb === 'reschedule');
  if (wasMoved || !chain.dueTimes) return 0;
  return dueAfterPause(Date.parse(runAt), dueAt(chain, action), chain.dueTimes, pause);
}

/**
 * Why an action waits, or will wait, for a current pause, and its new due time. Needed because the workflow learns of it later.
 * @param own - the original due time of the action, and the connectors that it needs.
 */
export function whilePaused(status: ActionStatus, own: Due, dueTimes: readonly Due[], pauses: readonly Pause[]) {
  const { state, runAt, pausedSince, steered } = status;
  if (state !== 'scheduled' && pausedSince === undefined) return {};
  const [pause] = pausesOf(pauses, own.needs);
  const due = runAt === undefined ? own.at : Date.parse(runAt);
  if (!pause || (pause.until !== undefined && due >= Date.parse(pause.until))) return {};
  const reason = pauseText(pause);
  if (state !== 'scheduled' || pause.until === undefined) return { reason };
  const wasMoved = steered?.some(({ verb }) => verb === 'runNow' || verb === 'reschedule');
  const moved = wasMoved ? 0 : dueAfterPause(due, own.at, dueTimes, { ...pause, until: pause.until });
  return { runAt: new Date(Math.max(moved, Date.parse(pause.until))).toISOString(), reason };
}

/** Part of the replay contract. */
export const connectorOf: Readonly<Record<ActionEffect['action'], Connector>> = {
  platform_sendAssignment: 'platform',
  sendEmails: 'mail',
  ticket_updateUDF: 'ticketing',
};

/** The connectors that an action needs. If one of them is paused, the action waits. The connector for the condition comes first. */
export function connectorsOf({ action, condition }: Pick<ChainAction, 'action' | 'condition'>): Connector[] {
  return [...(condition && mayAskAssignment(condition) ? (['platform'] as const) : []), connectorOf[action]];
}

/** Groups the delayed actions by equal due time, each group in array order. Part of the replay contract. */
export function planChain(actions: readonly ChainAction[]): { immediate: ChainAction[]; delayed: ChainAction[][] } {
  const groups = new Map<number | string, ChainAction[]>([[0, []]]);
  for (const action of actions) groups.set(groupOf(action), [...(groups.get(groupOf(action)) ?? []), action]);
  const [immediate = [], ...delayed] = groups.values();
  return { immediate, delayed };
}

/** Returns the same value for actions with the same due time, and 0 for immediate actions. */
const groupOf = (action: Pick<ChainAction, 'delaySeconds' | 'dueAt'>): number | string => action.dueAt ?? delayOf(action);

export const delayOf = ({ delaySeconds = 0 }: Pick<ChainAction, 'delaySeconds'>) => delaySeconds;

/** The failed action, and the actions that did not run because of this failure. Part of the replay contract. */
export function toRedo(
  actions: readonly ChainAction[],
  statuses: readonly Pick<ActionStatus, 'index' | 'state'>[],
  index: number,
): ChainAction[] {
  const states = new Map(statuses.map((status) => [status.index, status.state]));
  const action = actions.find((action) => action.index === index);
  if (!action) return [];
  const behind = actions.filter((other) => other.index > index && groupOf(other) === groupOf(action));
  const next = behind.find((other) => states.get(other.index) === 'failed')?.index ?? Number.POSITIVE_INFINITY;
  return [action, ...behind.filter((other) => other.index < next && states.get(other.index) === 'not-run')];
}

/** The valid actions before the first e-mail. The first workflow task may try these actions. Part of the replay contract. */
export function triedAtOnce(actions: readonly ChainAction[]): ChainAction[] {
  const isWrong = ({ cannotSchedule, invalidData }: ChainAction) => cannotSchedule !== undefined || invalidData !== undefined;
  const end = actions.findIndex((action) => action.action === 'sendEmails' && !isWrong(action));
  return actions.slice(0, end < 0 ? actions.length : end).filter((action) => !isWrong(action));
}

export function actionFacts({ index, action, relayId, comment, assignmentId }: ChainAction) {
  return { index, action, relayId, comment, assignmentId };
}

export function initialStatus(chain: Chain, action: ChainAction): ActionStatus {
  const group = groupOf(action);
  const first = chain.actions.find((other) => groupOf(other) === group);
  return {
    ...actionFacts(action),
    state: group ? 'scheduled' : 'pending',
    workflowId: group && first ? delayedWorkflowId(chain, first.index) : undefined,
    runAt: new Date(dueAt(chain, action)).toISOString(),
  };
}

export function ticketIdsOf(actions: readonly ChainAction[]): string[] {
  return [...new Set(actions.flatMap((action) => (action.action === 'ticket_updateUDF' ? action.ticketId : [])))];
}
