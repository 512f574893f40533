/** What the workflows may ask of the world. Inputs and results of activities enter the history, so no secret may. */

import type { ActionError, ActionStatus } from '../chain/action-status.js';
import type { ChainAction, ChainRef, EmailContents } from '../chain/chain.js';
import type { Condition, Verdict } from '../chain/condition.js';
import type { Fields } from '../chain/fields.js';
import type { Connector, Pauses } from '../chain/pause.js';
import type { Issue } from '../chain/request.js';
import type { BulkOrder } from './bulk.js';
import type { BulkProgress } from './chain-resource.js';
import type { Checked } from './company.js';
import type { ChainNotice, Notice } from './notices.js';
import type { ContactResult } from './notify.js';
import type { Rule } from './rule.js';

/** Whose settings apply, and under which key the action's effects are done. */
export interface ActionRef extends ChainRef, Pick<ChainAction, 'index' | 'relayId'> {
  /** A `Retry-After` longer than this makes the action need attention at once, so that people know; it is obeyed all the same. */
  retryBudgetSeconds: number;
  /** ISO 8601, UTC; for the metrics. Absent where a worker from before it scheduled the activity. */
  dueAt?: string;
  /** Of the chain. */
  traceparent?: string;
  /** How often the action was mended, if it was: each time its effect is another, with a key of its own. */
  mends?: number;
}

/** What may be tried as a local activity says how long it took: the workflow counts with that instead of its clock. */
export interface Timed {
  tookMs: number;
}

export interface EffectResult extends Timed {
  attempts: number; // counted from 1, to the one that ended it
  skipped?: string; // why nothing was to be done: the rule is disabled, or gone
  recipients?: number; // as the other side says
}

/** `details[0]` of every failure of an activity. */
export interface FailureDetails extends Omit<ActionError, 'type' | 'message'> {
  status?: number; // HTTP status or SMTP reply code
  attempt: number; // from 1
}

/** What the rule says about trouble; `skips`: why its actions are not done at all, where it is disabled, or gone. */
export type RulePolicy = Pick<Rule, 'onFailure' | 'onUnknown'> & { skips?: string };

/**
 * The one table from action to activity; `sendEmails` is not in it, since it is one `sendEmail` for each recipient.
 * Part of the replay contract.
 */
export const effectActivities = {
  platform_sendAssignment: 'sendAssignment',
  ticket_updateUDF: 'updateUdf',
} as const;

type EffectInputs = { [Name in keyof typeof effectActivities]: ActionRef & { action: Extract<ChainAction, { action: Name }> } };
export type EffectInput = EffectInputs[keyof EffectInputs];

/** `begun`: when the activity began, in Unix milliseconds, where it has done something else before. */
export type EffectActivities = {
  [Name in keyof typeof effectActivities as (typeof effectActivities)[Name]]: (
    input: EffectInputs[Name],
    begun?: number,
  ) => Promise<EffectResult>;
};

/** `same`: the names of what is as it was in the action, which is not repeated; or what is wrong. */
export type Mended = { mended: Partial<ChainAction>; same: string[] } | { problems: Issue[] };

export type SomeOf<Item> = [Item, ...Item[]];

/** What became of one of several effects: its result, or the failure that its own activity would have thrown. */
export type EffectOutcome = EffectResult | { failure: { type: string; message: string; details: FailureDetails } };

/** How long what somebody tries out, a notice or settings, may take: they wait for it. */
export const trialTimeoutMs = 25_000;

/** `assignmentId`: one that the platform has. */
export interface SettingsCheckInput {
  companyId: string;
  assignmentId?: string;
}

/**
 * Every activity throws `ApplicationFailure` with `details: [FailureDetails]`; the types are listed in docs/operating.md.
 * Those of `effectActivities`, and `checkCondition`, may be tried as local activities first.
 */
export interface Activities extends EffectActivities {
  /**
   * Does effects that follow each other, in order, as one local activity: a chain that goes well needs no more.
   * @returns what became of each. Those behind one that failed, or for which no time was left, were not tried and are not in it.
   */
  doEffects(inputs: SomeOf<EffectInput>): Promise<SomeOf<EffectOutcome>>;
  /** Evaluates the condition on the assignment as the platform has it. */
  checkCondition(input: ActionRef & { assignmentId: string; condition: Condition }): Promise<Verdict & Timed>;
  /** Contents that would be many long copies in a history are left out: the workflow has them in its input. */
  sendEmail(input: ActionRef & { recipient: string } & Partial<EmailContents>): Promise<EffectResult>;
  /** Reads the action with its changes, as a local activity, which keeps what it is given out of the history. */
  mendAction(input: { action: ChainAction; changes: Fields }): Promise<Mended & Timed>;
  readPolicy(input: { companyId: string; relayId: string }): Promise<RulePolicy>;
  /** The pauses of the company, now and since a time (ISO 8601). Of an action that waits, people are told once for each rule. */
  readPauses(input: { companyId: string; since: string; waiting?: { relayId: string; connector: Connector } }): Promise<Pauses>;
  /**
   * Hands what happened to an action to the `Notifier` of its cause; a recovery to the one that has the failure, if known.
   * @returns the notifier's workflow id; undefined where it could not be reached, and people were told without it.
   */
  notifyFailure(input: { notice: ChainNotice; notifier?: string }): Promise<string | undefined>;
  /** Brings a notice to everybody whom it concerns; a test only once. @returns what became of it at each contact. */
  deliverNotice(notice: Notice): Promise<ContactResult[]>;
  /** Changes nothing outside. @returns nothing of a company that is not there. */
  checkSettings(input: SettingsCheckInput): Promise<Checked[]>;
  steerChains(input: { order: BulkOrder; workflowIds: string[] }): Promise<BulkProgress>;
  /** Waits until a `DelayedAction` that this run did not start has closed. @returns what it says of its actions. */
  awaitDelayed(input: { workflowId: string }): Promise<ActionStatus[]>;
}
