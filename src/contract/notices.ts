/** The kinds of notices. A chain sends a notice to the `Notifier` of a cause. The `Notifier` starts a `NoticeDelivery`. */

import type { ActionError, ActionStatus } from '../chain/action-status.js';
import type { Expectation } from '../chain/expectation.js';
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
  'gave-up', // nobody decided within the attention window
  'recovered', // the relay's own retry succeeded
] as const;
export type NoticeKind = (typeof noticeKinds)[number];
export type FailureKind = Exclude<NoticeKind, 'recovered'>;

/** @returns undefined if the state needs no notice. */
export const noticeKindOf = (state: ActionState): NoticeKind | undefined => noticeKinds.find((kind) => kind === state);

interface AboutRule {
  companyId: string;
  relayId: string; // the contacts of this rule and of the company get the notice
  at: string; // when the reason for the notice occurred or, for some kinds, when the notice was made; ISO 8601, UTC
}

/** A notice about one action. A repeated notice has the same chain, index, kind and `at`. */
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
  // Leaves out the recipients of other actions, because the recipients of 100 e-mails do not fit into one payload.
  const actions = statuses.actions.map(({ deliveries, kept: _, ...action }) =>
    action.index === index && deliveries ? { ...action, deliveries } : action,
  );
  const { relayId } = statuses.of(index);
  return { kind, companyId, relayId, chainId, index, at, receivedAt, actions };
}

/** All failures of one `Notifier` have this cause. */
export interface Cause {
  id: string; // unique within the company
  companyId: string;
  relayId: string; // one of the rules of the failed actions; the contacts of this rule get the notices
  kind: FailureKind;
  reason: Pick<ActionError, 'type' | 'message' | 'title' | 'remedy'>; // the words of the first failure
}

export interface Member
  extends Pick<ActionStatus, 'index' | 'relayId' | 'assignmentId' | 'state' | 'heldUntil'>,
    Pick<ChainNotice, 'chainId' | 'runId' | 'receivedAt'> {
  at: string; // when the action entered its state; ISO 8601, UTC
  message: string; // cut short
  nobody?: boolean | undefined; // `true` if the send is done, but found no technician
}

/** Tells a `Notifier` that an action failed for the cause of this notifier, or recovered. */
export type News = { notice: ChainNotice; member: Member };

/** Tells a `Notifier` that an action is no longer held for the cause of this notifier. */
export type Over = Pick<Member, 'chainId' | 'index' | 'state' | 'at' | 'nobody'>;

interface AboutCause extends AboutRule {
  cause: Cause;
  since: string; // when the relay received the first chain with this cause
}

/** Several actions failed for the same cause. */
export interface ManyNotice extends AboutCause {
  kind: 'many';
  count: number; // the number of chains
  actions: number;
  first: Member[]; // at most ten, one per chain
}

/** No action is held for the cause any more. In at least one chain, the held actions are now done or skipped. */
export interface ThroughNotice extends AboutCause {
  kind: 'through';
  through: number; // the number of chains whose last held action is done or skipped
  /** The number of actions in each last state. `needs-attention` means that the action is held for another cause. */
  ended: Partial<Record<ActionState, number>>;
  open: number; // the number of actions for which no end was reported
  nobody?: number; // how many sends are done, but found no technician
}

export interface RejectedNotice extends AboutRule {
  kind: 'rejected';
  rejectedId: string;
  reason: RejectionReason;
  mistakes: Issue[]; // at least one
  mistake?: string; // the kind of mistake in an unreadable body; each kind gets at most one notice an hour
  inADay?: number; // the number of the rule's requests with this mistake within a day, including this one
  notKept?: number; // the number of requests that were not stored, because the rule had reached its storage limit
}

/** A condition tests a property that is missing in the assignment. */
export interface MissingPropertyNotice extends AboutRule {
  kind: 'missing-property';
  chainId: string;
  index: number;
  assignmentId: string;
  path: string; // `location.zipp`
}

/** Actions of the rule wait for the end of a pause. The pause began at `at`. */
export interface PausedNotice extends AboutRule, Omit<Pause, 'since' | 'text'> {
  kind: 'paused';
}

/** The rule expected an event, but none came. If `eventAt` is set, an event came later. */
export interface QuietNotice extends AboutRule, Expectation {
  kind: 'quiet';
  since: string; // the last event, or the last change of the rule
  lastEvent?: string | undefined;
  eventAt?: string;
  silentSeconds: number; // counts only the hours of the rule; does not count pauses and outages
  usualEvery?: number | undefined; // seconds, see chain/expectation.ts
}

/** The digest of a week for the e-mail contacts of a company. */
export interface WeeklyNotice {
  kind: 'weekly';
  companyId: string;
  relayId?: undefined;
  at: string;
  since: string;
  until: string;
  chains: number;
  failed: number;
  nobody: number;
  refused: number;
  quiet: string[]; // the names of rules
  rules: { relayId: string; name: string; chains: number; failed: number }[]; // the rules with most failures
}

export type RuleNotice = RejectedNotice | MissingPropertyNotice | PausedNotice | QuietNotice;
export type TestNotice = Pick<AboutRule, 'companyId' | 'at'> & { kind: 'test'; relayId?: string };

/** One entry of a digest: the first notice of a cause, and the number of notices of this cause in the digest. */
export interface Joined extends JoinedFacts {
  causeId: string;
  noticeKey: string; // the key of the first notice's delivery
  count: number;
}

/** The activity that delivers a digest also creates the digest. Workflows never see a digest. */
export type DigestNotice = { kind: 'digest'; companyId: string; at: string; joined: Joined[] };

export type Notice = ChainNotice | ManyNotice | ThroughNotice | RuleNotice | WeeklyNotice | TestNotice;

/** The workflow that decides when a cause gets notices. If `windowSeconds` is 0, each failure gets its own notice. */
export type Notifier = (cause: Cause, windowSeconds: number) => Promise<void>;

/** The workflow that delivers one notice, with retries for a day. A test notice has only one attempt. */
export type NoticeDelivery = (notice: Notice) => Promise<ContactResult[]>;

/** The workflow id of the delivery. All repetitions of a notice have the same id. Part of the replay contract. */
export function deliveryId({ companyId, chainId, index, kind, at }: ChainNotice): string {
  return `relay-notice:${companyId}:${chainId}:${index}:${kind}:${at}`;
}

/** Retries for about a day: 8 attempts in 20 minutes, then one attempt every 15 minutes. Time without workers does not count. */
export const dayOfAttempts = {
  initialInterval: '5 seconds',
  backoffCoefficient: 2,
  maximumInterval: '15 minutes',
  maximumAttempts: 104,
} as const;

/** The time limit of an attempt: enough for all contacts, then the operator. After this time, Temporal repeats a lost task. */
export const noticeTimeout = '45 seconds';
