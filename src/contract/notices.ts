/** Notices, on their way from a chain to the `Notifier` of a cause, and then to a `NoticeDelivery`. */

import type { ActionError, ActionStatus } from '../chain/action-status.js';
import type { ActionState } from '../chain/outcome.js';
import type { Pause } from '../chain/pause.js';
import type { Issue } from '../chain/request.js';
import type { Statuses } from '../chain/statuses.js';
import type { ContactResult, JoinedFacts } from './notify.js';
import type { RejectionReason } from './problem.js';

export const noticeKinds = [
  'needs-attention', // held until a person decides
  'failed', // ended without success; the chain continues, because its rule says `onFailure: "continue"`
  'partly-failed', // an e-mail that did not reach everybody
  'gave-up', // no decision within the attention window
  'recovered', // the relay's own retry succeeded
] as const;
export type NoticeKind = (typeof noticeKinds)[number];
export type FailureKind = Exclude<NoticeKind, 'recovered'>;

/** Undefined: this state needs no notice. */
export function noticeKindOf(state: ActionState): NoticeKind | undefined {
  return noticeKinds.find((kind) => kind === state);
}

interface AboutRule {
  companyId: string;
  relayId: string; // its contacts and those of the company get the notice
  at: string; // time of the event, or of a notice about several actions; ISO 8601, UTC
}

/** About one action. A repetition has the same chain, index, kind and `at`. */
export interface ChainNotice extends AboutRule {
  kind: NoticeKind;
  chainId: string;
  runId?: string;
  index: number;
  receivedAt: string;
  actions: ActionStatus[]; // all actions of the chain, in their states at `at`
}

/** @param at - ISO 8601, UTC */
export function noticeAbout(statuses: Statuses, kind: NoticeKind, index: number, at: string): ChainNotice {
  const { companyId, chainId, receivedAt } = statuses.chain;
  // Without the recipients of other actions: the recipients of 100 e-mails do not fit into one payload.
  const actions = statuses.actions.map(({ deliveries, kept: _, ...action }) =>
    action.index === index && deliveries ? { ...action, deliveries } : action,
  );
  const { relayId } = statuses.of(index);
  return { kind, companyId, relayId, chainId, index, at, receivedAt, actions };
}

/** The cause shared by all failures of one `Notifier`. */
export interface Cause {
  id: string; // unique within the company
  companyId: string;
  relayId: string; // one of the rules; it determines the contacts
  kind: FailureKind;
  reason: Pick<ActionError, 'type' | 'message'>; // the message of the first failure
}

export interface Member
  extends Pick<ActionStatus, 'index' | 'relayId' | 'assignmentId' | 'state' | 'heldUntil'>,
    Pick<ChainNotice, 'chainId' | 'runId' | 'receivedAt'> {
  at: string; // when it entered its state; ISO 8601, UTC
  message: string; // cut short
}

/** Tells a `Notifier` that an action failed for its cause, or recovered. */
export interface News {
  notice: ChainNotice;
  member: Member;
}

/** Tells a `Notifier` that an action is no longer held for its cause. */
export type Over = Pick<Member, 'chainId' | 'index' | 'state' | 'at'>;

interface AboutCause extends AboutRule {
  cause: Cause;
  since: string; // arrival of the earliest request of these chains
}

/** Several actions failed for the same cause. */
export interface ManyNotice extends AboutCause {
  kind: 'many';
  count: number; // of chains
  actions: number;
  first: Member[]; // at most ten, one per chain
}

/** No action is held any more, and at least one chain continues. */
export interface ThroughNotice extends AboutCause {
  kind: 'through';
  through: number; // chains that continue
  /** The number of actions by their last state. `needs-attention`: held for another reason. */
  ended: Partial<Record<ActionState, number>>;
  open: number; // actions in an unknown state
}

export interface RejectedNotice extends AboutRule {
  kind: 'rejected';
  rejectedId: string;
  reason: RejectionReason;
  mistakes: Issue[]; // at least one
  mistake?: string; // kind of mistake in an unreadable body; one notice an hour for each kind
  inADay?: number; // number of requests of the rule with this mistake within a day, including this one
  notKept?: number; // requests not kept because there was no room
}

/** A condition tests a property that is missing in the assignment. */
export interface MissingPropertyNotice extends AboutRule {
  kind: 'missing-property';
  chainId: string;
  index: number;
  assignmentId: string;
  path: string; // `location.zipp`
}

/** Actions of the rule wait for the end of a pause, which began at `at`. */
export interface PausedNotice extends AboutRule, Omit<Pause, 'since' | 'text'> {
  kind: 'paused';
}

export type RuleNotice = RejectedNotice | MissingPropertyNotice | PausedNotice;

export type TestNotice = Pick<AboutRule, 'companyId' | 'at'> & { kind: 'test'; relayId?: string };

/** One entry of a digest: the first notice of a cause, and the number of notices that it replaces. */
export interface Joined extends JoinedFacts {
  causeId: string;
  noticeKey: string; // key of the first notice's delivery
  count: number;
}

/** Made by the activity that delivers it; not in workflows. */
export interface DigestNotice {
  kind: 'digest';
  companyId: string;
  at: string;
  joined: Joined[];
}

export type Notice = ChainNotice | ManyNotice | ThroughNotice | RuleNotice | TestNotice;

/** The workflow that decides about the notices of a cause. If the window is 0, each failure has its own notice. */
export type Notifier = (cause: Cause, windowSeconds: number) => Promise<void>;

/** The workflow that delivers one notice, with retries for a day. A test has one try. */
export type NoticeDelivery = (notice: Notice) => Promise<ContactResult[]>;

/** All repetitions of a notice have the same key. Part of the replay contract. */
export function deliveryId({ companyId, chainId, index, kind, at }: ChainNotice): string {
  return `relay-notice:${companyId}:${chainId}:${index}:${kind}:${at}`;
}

/** About a day: 8 attempts in the first 20 minutes, then one every 15 minutes. Time without workers does not count. */
export const dayOfAttempts = {
  initialInterval: '5 seconds',
  backoffCoefficient: 2,
  maximumInterval: '15 minutes',
  maximumAttempts: 104,
} as const;

/** Longer than one message after another to all contacts and the operator takes. A lost task goes to another worker then. */
export const noticeTimeout = '45 seconds';
