/** The activities that workflows call. Temporal's history contains the inputs and results, so they contain no secrets. */

import type { ActionError, ActionStatus, LateValues } from '../chain/action-status.js';
import type { Chain, ChainAction, ChainRef, EmailContents } from '../chain/chain.js';
import type { Condition, Verdict } from '../chain/condition.js';
import type { Fields } from '../chain/fields.js';
import { type LateQuestion, lateQuestion } from '../chain/late.js';
import type { Connector, Pauses } from '../chain/pause.js';
import type { Issue } from '../chain/request.js';
import type { BulkOrder } from './bulk.js';
import type { BulkProgress } from './chain-resource.js';
import type { Checked, CheckRequest } from './company.js';
import type { ChainNotice, Notice } from './notices.js';
import type { ContactResult } from './notify.js';
import type { Rule } from './rule.js';

export interface ActionRef extends ChainRef, Pick<ChainAction, 'index' | 'relayId'> {
  /** If a `Retry-After` exceeds this budget, the action needs attention immediately. The next try still waits that long. */
  retryBudgetSeconds: number;
  dueAt?: string; // ISO 8601, UTC. Absent if an earlier version of the relay scheduled the activity.
  isFirstAttempt?: true; // this is surely the first attempt of the workflow task, so no earlier result was lost
  traceparent?: string;
  mends?: number; // the number of edits of the action; after each edit, the effect has another idempotency key
  kept?: unknown; // the value of `kept` in the previous result or failure with the same idempotency key
  values?: LateValues['values']; // the values of the action's late texts
}

export function refOf(chain: Chain, { index, relayId }: ChainAction, status: ActionStatus): ActionRef {
  const { companyId, chainId, retryBudgetSeconds, traceparent } = chain;
  const { runAt: dueAt, mends, kept, late } = status;
  const ref = { companyId, chainId, retryBudgetSeconds, index, relayId, dueAt, traceparent, mends: mends?.length, kept };
  return { ...ref, values: late?.values };
}

export type Call<Value> = (activities: Activities) => Promise<Value>;

/** A local activity reports its duration. The workflow adds the duration to its time, because workflows must not read a clock. */
export type Timed = { tookMs: number };

export interface EffectResult extends Timed {
  attempts: number; // the number of attempts, including the last one
  skipped?: string; // why nothing was done: the rule is disabled or deleted
  recipients?: number;
  note?: string; // a remark of the connector, for people
  kept?: unknown; // data for the next try with the same idempotency key; at most 10,000 characters of JSON
}

/** `details[0]` of every failure of an activity. */
export interface FailureDetails extends Omit<ActionError, 'type' | 'message'> {
  status?: number; // HTTP status or SMTP reply code
  attempt: number; // the number of attempts so far; does not count this call if nothing was tried
  tookMs?: number;
  kept?: unknown; // data for the next try with the same idempotency key; at most 10,000 characters of JSON
}

/** `skips` says why the actions of the rule are skipped: the rule is disabled or deleted. */
export type RulePolicy = Pick<Rule, 'onFailure' | 'onUnknown'> & { skips?: string };

/** The activity of each action. `sendEmails` is absent: it runs `sendEmail` for each recipient. Part of the replay contract. */
export const effectActivities = { platform_sendAssignment: 'sendAssignment', ticket_updateUDF: 'updateUdf' } as const;
type EffectInputs = { [Name in keyof typeof effectActivities]: ActionRef & { action: Extract<ChainAction, { action: Name }> } };
export type EffectInput = EffectInputs[keyof EffectInputs];

/** Leaves out `sent` (the original fields), unless the effect must read the action again with its late values. */
export function effectInput(ref: ActionRef, { sent, ...action }: ChainAction): EffectInput {
  return { ...ref, action: action.late ? { ...action, sent } : action } as EffectInput;
}

/** `begun`: the start of the activity by `performance.now()`. The first effect of an activity has no `begun`. */
export type EffectActivities = {
  [Name in keyof typeof effectActivities as (typeof effectActivities)[Name]]: (
    input: EffectInputs[Name],
    begun?: number,
  ) => Promise<EffectResult>;
};

/** `mended`: the changed fields. `same`: the names of the unchanged fields. */
export type Mended = { mended: Partial<ChainAction>; same: string[] } | { problems: Issue[] };

export type SomeOf<Item> = [Item, ...Item[]];

/** `late`: asks for late values; absent if the values are known already. `incomingValue`: only set for an opaque condition. */
export type ConditionInput = ActionRef & {
  assignmentId: string;
  condition: Condition;
  incomingValue?: string | undefined;
  late?: (LateQuestion & { firstRunId: string }) | undefined;
};

/** @param firstRunId - the id of the workflow's first run. A later run is the result of a reset. */
export function conditionInput(
  { values, ...ref }: ActionRef,
  { assignmentId = '', incomingValue, invalidData, ...action }: ChainAction,
  condition: Condition,
  firstRunId: string,
): ConditionInput {
  const question = values || invalidData ? undefined : lateQuestion(action);
  const late = question && { ...question, firstRunId };
  return { ...ref, assignmentId, condition, ...(condition.opaque && { incomingValue, late }) };
}

/** The result of an effect, or the failure that the effect would throw in an activity of its own. */
export type EffectOutcome = EffectResult | { failure: { type: string; message: string; details: FailureDetails } };

export const trialTimeoutMs = 25_000;

export type SettingsCheckInput = CheckRequest & { companyId: string };

/**
 * All activities throw `ApplicationFailure` with `details: [FailureDetails]`. docs/operating.md lists the types. The
 * `effectActivities` and `checkCondition` can run locally. After a local failure `UseOrdinary`, run an ordinary activity.
 */
export interface Activities extends EffectActivities {
  /** Runs several effects in order, as one local activity. @returns the outcomes of the effects that were tried. */
  doEffects(inputs: SomeOf<EffectInput>): Promise<SomeOf<EffectOutcome>>;
  /** Fetches the assignment and tests the condition. If the condition holds, also reads the late values that `late` asks for. */
  checkCondition(input: ConditionInput): Promise<Verdict & Timed & { late?: LateValues }>;
  /** The input omits long contents, to keep the history small. The activity reads long contents from the workflow's own input. */
  sendEmail(input: ActionRef & { recipient: string } & Partial<EmailContents>): Promise<EffectResult>;
  /** This is a local activity, so that its input is not in the history. */
  mendAction(input: { action: ChainAction; changes: Fields }): Promise<Mended & Timed>;
  readPolicy(input: { companyId: string; relayId: string }): Promise<RulePolicy & Timed>;
  /** Reads the company's pauses since a time (ISO 8601). With `waiting`, the rule's contacts get one notice of the pause. */
  readPauses(input: {
    companyId: string;
    since: string;
    waiting?: { relayId: string; connector: Connector };
  }): Promise<Pauses & Timed>;
  /** `notifier`: for a recovery, the notifier that got the failure. @returns the notifier that got this notice, if any. */
  notifyFailure(input: { notice: ChainNotice; notifier?: string }): Promise<string | undefined>;
  /** A test notice has only one attempt. @returns the result for each contact. */
  deliverNotice(notice: Notice): Promise<ContactResult[]>;
  /** Checks the settings without an effect in other systems. @returns an empty list for an unknown company. */
  checkSettings(input: SettingsCheckInput): Promise<Checked[]>;
  steerChains(input: { order: BulkOrder; workflowIds: string[] }): Promise<BulkProgress>;
  /** Waits for a `DelayedAction` that an earlier run started. @returns the final states of its actions. */
  awaitDelayed(input: { workflowId: string }): Promise<ActionStatus[]>;
}
