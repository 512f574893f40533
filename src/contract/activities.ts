/** The activities that workflows call. Their inputs and results enter the history: they contain no secrets. */

import type { ActionError, ActionStatus } from '../chain/action-status.js';
import type { Chain, ChainAction, ChainRef, EmailContents } from '../chain/chain.js';
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

export interface ActionRef extends ChainRef, Pick<ChainAction, 'index' | 'relayId'> {
  /** If `Retry-After` is longer, the relay obeys it, but the action needs attention immediately. */
  retryBudgetSeconds: number;
  dueAt?: string; // ISO 8601, UTC; for metrics. Absent: an earlier version scheduled the activity.
  traceparent?: string;
  mends?: number; // how often the action was edited: each edit makes another effect with its own key
  kept?: unknown; // `kept` of the previous result or failure under the same key
}

export function refOf(chain: Chain, { index, relayId }: ChainAction, { runAt: dueAt, mends, kept }: ActionStatus): ActionRef {
  const { companyId, chainId, retryBudgetSeconds, traceparent } = chain;
  return { companyId, chainId, retryBudgetSeconds, index, relayId, dueAt, traceparent, mends: mends?.length, kept };
}

export type Call<Value> = (activities: Activities) => Promise<Value>;

/** A local activity reports its duration: the workflow adds it, because it must not read its clock. */
export interface Timed {
  tookMs: number;
}

export interface EffectResult extends Timed {
  attempts: number; // from 1, including the last one
  skipped?: string; // the reason why nothing was done: the rule is disabled or deleted
  recipients?: number;
  kept?: unknown; // data for the next try under the same key; at most 10,000 characters of JSON
}

/** `details[0]` of every failure of an activity. */
export interface FailureDetails extends Omit<ActionError, 'type' | 'message'> {
  status?: number; // HTTP status or SMTP reply code
  attempt: number; // from 1
  tookMs?: number;
  kept?: unknown; // data for the next try under the same key; at most 10,000 characters of JSON
}

/** `skips`: why the rule's actions are skipped (it is disabled or deleted). */
export type RulePolicy = Pick<Rule, 'onFailure' | 'onUnknown'> & { skips?: string };

/** The activity of each action. `sendEmails` is different: it has one `sendEmail` per recipient. Part of the replay contract. */
export const effectActivities = {
  platform_sendAssignment: 'sendAssignment',
  ticket_updateUDF: 'updateUdf',
} as const;

type EffectInputs = { [Name in keyof typeof effectActivities]: ActionRef & { action: Extract<ChainAction, { action: Name }> } };
export type EffectInput = EffectInputs[keyof EffectInputs];

/** Without the fields as sent, which no effect needs. */
export function effectInput(ref: ActionRef, { sent: _, ...action }: ChainAction): EffectInput {
  return { ...ref, action } as EffectInput;
}

/** `begun`: start of the activity in milliseconds of `performance.now()`, if other work came before. */
export type EffectActivities = {
  [Name in keyof typeof effectActivities as (typeof effectActivities)[Name]]: (
    input: EffectInputs[Name],
    begun?: number,
  ) => Promise<EffectResult>;
};

/** `same`: the names of unchanged fields, which `mended` omits. */
export type Mended = { mended: Partial<ChainAction>; same: string[] } | { problems: Issue[] };

export type SomeOf<Item> = [Item, ...Item[]];

/** A result, or the failure of the effect's own activity. */
export type EffectOutcome = EffectResult | { failure: { type: string; message: string; details: FailureDetails } };

export const trialTimeoutMs = 25_000;

export interface SettingsCheckInput {
  companyId: string;
  assignmentId?: string;
}

/**
 * All throw `ApplicationFailure` with `details: [FailureDetails]`; docs/operating.md has the types. The `effectActivities` and
 * `checkCondition` can run as local activities. They refuse that with `UseOrdinary`.
 */
export interface Activities extends EffectActivities {
  /** Runs them in order, as one local activity. @returns the outcomes of the effects that were tried. */
  doEffects(inputs: SomeOf<EffectInput>): Promise<SomeOf<EffectOutcome>>;
  /** Fetches the assignment from the platform. A condition that the workflow cannot read also gets `incomingValue`. */
  checkCondition(
    input: ActionRef & { assignmentId: string; condition: Condition; incomingValue?: string },
  ): Promise<Verdict & Timed>;
  /** Long contents are omitted, to keep the history small: the activity reads them from the workflow's input. */
  sendEmail(input: ActionRef & { recipient: string } & Partial<EmailContents>): Promise<EffectResult>;
  /** A local activity, so that its input is not in the history. */
  mendAction(input: { action: ChainAction; changes: Fields }): Promise<Mended & Timed>;
  readPolicy(input: { companyId: string; relayId: string }): Promise<RulePolicy & Timed>;
  /** The company's pauses, now and since a time (ISO 8601). With `waiting`, a rule's contacts get one notice of the pause. */
  readPauses(input: {
    companyId: string;
    since: string;
    waiting?: { relayId: string; connector: Connector };
  }): Promise<Pauses & Timed>;
  /** A recovery goes to the notifier of the failure. @returns the notifier; undefined: the notice went out without one. */
  notifyFailure(input: { notice: ChainNotice; notifier?: string }): Promise<string | undefined>;
  /** A test notice has only one attempt. @returns the result for each contact. */
  deliverNotice(notice: Notice): Promise<ContactResult[]>;
  /** A check without effects in other systems. @returns an empty list for an unknown company. */
  checkSettings(input: SettingsCheckInput): Promise<Checked[]>;
  steerChains(input: { order: BulkOrder; workflowIds: string[] }): Promise<BulkProgress>;
  /** Waits for a `DelayedAction` that an earlier run started. @returns its final states. */
  awaitDelayed(input: { workflowId: string }): Promise<ActionStatus[]>;
}
