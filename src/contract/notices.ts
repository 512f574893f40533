/** What the relay tells people, on its way from a chain to the `Notifier` of a cause and on to a `NoticeDelivery`. */

import type { ActionError, ActionStatus } from '../chain/action-status.js';
import type { ActionState } from '../chain/outcome.js';
import type { Pause } from '../chain/pause.js';
import type { Issue } from '../chain/request.js';
import type { ContactResult } from './notify.js';
import type { RejectionReason } from './problem.js';

export const noticeKinds = [
  'needs-attention', // held: somebody has to decide
  'failed', // ended without success, and the chain goes on (onFailure: continue)
  'partly-failed', // an e-mail that did not reach everybody
  'gave-up', // nobody decided within the attention window
  'recovered', // the relay's own retry came through
] as const;
export type NoticeKind = (typeof noticeKinds)[number];
export type FailureKind = Exclude<NoticeKind, 'recovered'>;

/** As what people are told of an action in this state; undefined: they are not. */
export function noticeKindOf(state: ActionState): NoticeKind | undefined {
  return noticeKinds.find((kind) => kind === state);
}

interface AboutRule {
  companyId: string;
  relayId: string; // whose contacts are told beside the company's
  at: string; // when it happened; of many, when they are told; ISO 8601, UTC
}

/** What happened to one action. A repetition has the same chain, index, kind and `at`. */
export interface ChainNotice extends AboutRule {
  kind: NoticeKind;
  chainId: string;
  runId?: string;
  index: number;
  receivedAt: string;
  actions: ActionStatus[]; // all of the chain, as they stood then
}

/** What all failures have in common that one `Notifier` tells of. */
export interface Cause {
  id: string; // unique within the company
  companyId: string;
  relayId: string; // a rule whose contacts are told, as those of all of them are
  kind: FailureKind;
  reason: Pick<ActionError, 'type' | 'message'>; // of the first
}

/** An action that failed for a cause. */
export interface Member
  extends Pick<ActionStatus, 'index' | 'relayId' | 'assignmentId' | 'state' | 'heldUntil'>,
    Pick<ChainNotice, 'chainId' | 'runId' | 'receivedAt'> {
  at: string; // since when it is in its state; ISO 8601, UTC
  message: string; // what was wrong, cut short
}

/** To a `Notifier`: an action failed for its cause, or has recovered. */
export interface News {
  notice: ChainNotice;
  member: Member;
}

/** To a `Notifier`: an action is not held for its cause any more. */
export type Over = Pick<Member, 'chainId' | 'index' | 'state' | 'at'>;

interface AboutCause extends AboutRule {
  cause: Cause;
  since: string; // when the earliest of their requests came in
}

/** Several failed for the same cause. */
export interface ManyNotice extends AboutCause {
  kind: 'many';
  count: number; // of chains
  actions: number;
  first: Member[]; // ten at most, one of each chain
}

/** None of several is held any more, and at least one went on. */
export interface ThroughNotice extends AboutCause {
  kind: 'through';
  through: number; // chains that went on
  /** How many actions ended in each way, or are held for another reason now. */
  ended: Partial<Record<ActionState, number>>;
  open: number; // actions of which nobody knows
}

export interface RejectedNotice extends AboutRule {
  kind: 'rejected';
  rejectedId: string;
  reason: RejectionReason;
  mistakes: Issue[]; // at least one
}

/** A condition of the rule asks for a property that the assignment does not have. */
export interface MissingPropertyNotice extends AboutRule {
  kind: 'missing-property';
  chainId: string;
  index: number;
  assignmentId: string;
  path: string; // `location.zipp`
}

/** Actions of the rule wait for the end of a pause, which began at `at`. */
export interface PausedNotice extends AboutRule, Omit<Pause, 'since'> {
  kind: 'paused';
}

export type RuleNotice = RejectedNotice | MissingPropertyNotice | PausedNotice;

export type TestNotice = Pick<AboutRule, 'companyId' | 'at'> & { kind: 'test'; relayId?: string };

export type Notice = ChainNotice | ManyNotice | ThroughNotice | RuleNotice | TestNotice;

/** The workflow that decides what is told of a cause; without a window, everything by itself. */
export type Notifier = (cause: Cause, windowSeconds: number) => Promise<void>;

/** The workflow that brings one notice to everybody, in a day of attempts; a test in one. */
export type NoticeDelivery = (notice: Notice) => Promise<ContactResult[]>;

/** The workflow id of the delivery of a notice about one action: the same for every repetition. Part of the replay contract. */
export function deliveryId({ companyId, chainId, index, kind, at }: ChainNotice): string {
  return `relay-notice:${companyId}:${chainId}:${index}:${kind}:${at}`;
}
