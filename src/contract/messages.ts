/**
 * The signals and queries of a chain. tctl can send only one JSON argument, so a signal from a person has only one argument:
 * an index, `[index]` or `{"index": 1}`. `reschedule` has `[index, seconds from now]` or `{"index": 1, "seconds": 60}`.
 * `mend` has `[index, {field: value}, {confirmUnknown?, allActions?, by?}]` or `{"index": 1, "fields": {…}}` with the same
 * options. The way to read these arguments is part of the replay contract.
 */

import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { ActionError, ActionStatus, LateValues, Steered } from '../chain/action-status.js';
import { type SteeringVerb, steeringVerbs } from '../chain/allowed-verbs.js';
import { maxDelaySeconds } from '../chain/chain.js';
import { type Fields, isObject } from '../chain/fields.js';
import { actionStates } from '../chain/outcome.js';
import { connectors } from '../chain/pause.js';
import { cutShort, jsonBytes } from '../chain/text.js';
import type { BulkProgress, ChainResource } from './chain-resource.js';
import { type ChainNotice, type News, noticeKinds, type Over } from './notices.js';

/** Temporal's Web UI shows these descriptions in its form for signals. */
export const steeringSignals = {
  retry: steering(
    'retry',
    'Retries an action that needs attention or has failed. No recipient gets an e-mail twice. Input: [index]',
  ),
  mend: steering(
    'mend',
    'Changes fields of an action that needs attention or has failed, and tries the action again. Input: [index, {"field in the request": "value"}]',
  ),
  skip: steering('skip', 'Skips an action that needs attention. The actions after it run. Input: [index]'),
  runNow: steering('runNow', 'Runs a scheduled action now. Input: [index]'),
  cancelAction: steering('cancelAction', 'Cancels one action. The actions after it run. Input: [index]'),
  reschedule: steering('reschedule', 'Moves a scheduled action to another time. Input: [index, seconds from now]'),
};
export type SteeringName = keyof typeof steeringSignals;
export const steeringNames = Object.keys(steeringSignals) as SteeringName[];

function steering(name: string, description: string) {
  return { ...defineSignal<[unknown]>(name), description };
}

export function signalOf(verb: SteeringVerb) {
  return steeringSignals[verb === 'cancel' ? 'cancelAction' : verb];
}

export function verbOf(name: SteeringName): SteeringVerb {
  return name === 'cancelAction' ? 'cancel' : name;
}

/** Tells a workflow that a pause may have ended, so that the workflow checks the pause. With `overdue`, overdue actions run now. */
export const resumeSignal = defineSignal<[{ overdue?: 'now' }?]>('resume');

/** Tells a chain to cancel its remaining actions. */
export const stopSignal = {
  ...defineSignal<[{ reason: string; by?: string }]>('stop'),
  description: 'From the relay: cancels all actions that have not ended. Input: {"reason": "why"}',
};

export function readStop(argument: unknown): { reason: string; by?: string } | undefined {
  const { reason, by } = fieldsOf(argument);
  if (!isText(reason) || reason.trim() === '') return undefined;
  return { reason: cutShort(reason), ...(isText(by) && { by: cutShort(by) }) };
}

export type ChainView = Pick<ChainResource, 'status' | 'ignored' | 'historyFull'> & { actions: ActionStatus[] };
export const statusQuery = defineQuery<ChainView>('status');
/** Calls from a workflow to the process of its worker. They are not in the history. */
export type ChainSinks = { chains: { ended(view: ChainView, ticketIds: string[]): void } };

/** All edits of an action's fields so far; null if the action was never edited. `withWaiting`: also edits that are not applied yet. */
export const changesQuery = defineQuery<Fields | null, [index: unknown, withWaiting?: unknown]>('changes');

/** The late values of an action, and its edits. An activity queries them if its input has no room for them, or after a reset. */
export const lateQuery = defineQuery<Pick<ActionStatus, 'late' | 'mends'> | null, [unknown]>('late');
export const progressQuery = defineQuery<BulkProgress>('progress');

type ReportedNotice = Pick<ChainNotice, 'kind' | 'index'>;

/** The report of a `DelayedAction` to its chain: the states of its actions, and new notices about the actions. */
export interface Report {
  actions: ActionStatus[];
  notices?: ReportedNotice[];
  ignored?: string; // a signal that had no effect, and the reason
}
export const reportSignal = defineSignal<[Report]>('report');
export const newsSignal = defineSignal<[News]>('news');
export const overSignal = defineSignal<[Over]>('over');

/** @returns undefined if the argument is no report. People can send any signal, and no signal may break the chain. */
export function readReport(argument: unknown, hasAction: (index: number) => boolean): Report | undefined {
  if (!isShallow(argument, 20)) return undefined; // `kept` may contain nested data.
  const { actions, notices = [], ignored } = fieldsOf(argument);
  const isStatus = (value: unknown): value is ActionStatus =>
    isActionStatus(value) && JSON.stringify(value).length <= mostStatusLength && hasAction(Number(fieldsOf(value).index));
  const isNotice = (value: unknown): value is ReportedNotice => {
    const { kind, index } = fieldsOf(value);
    return noticeKinds.some((known) => known === kind) && typeof index === 'number' && hasAction(index);
  };
  if (!isListOf(actions, isStatus) || !isListOf(notices, isNotice)) return undefined;
  return ignored === undefined || isText(ignored) ? { actions, notices, ignored: ignored && cutShort(ignored, 500) } : undefined;
}

/** The maximum length of a status in UTF-16 units of JSON. Real statuses are shorter. Limits the size of the chain's result. */
const mostStatusLength = 40_000;

type Delivery = NonNullable<ActionStatus['deliveries']>[number];
type Is = (value: unknown) => boolean;
const number: Is = (value) => typeof value === 'number';
const flag: Is = (value) => typeof value === 'boolean';
const maybe = (is: Is): Is => {
  return (value) => value === undefined || is(value);
};
const listOf = (is: Is): Is => {
  return (value) => Array.isArray(value) && value.every(is);
};
const mapOf = (is: Is): Is => {
  return (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(is);
};
const oneOf = (known: readonly unknown[]): Is => {
  return (value) => known.includes(value);
};
const texts = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, maybe(isText)])) as Record<Name, Is>;
/** @param checks - one check for each field; the compiler reports a missing check. */
const shape = <Noun>(checks: { [Name in keyof Required<Noun>]: Is }): Is => {
  const isRight = (noun: object) => Object.entries<Is>(checks).every(([name, is]) => is(fieldsOf(noun)[name]));
  return (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && isRight(value);
};

/** Like `actionStatusSchema`, but without zod, which is not in the workflow bundle. */
const isActionStatus = shape<ActionStatus>({
  index: Number.isSafeInteger,
  action: isText,
  relayId: isText,
  state: oneOf(actionStates),
  ...texts('comment', 'assignmentId', 'workflowId', 'reason', 'runAt', 'startedAt', 'endedAt'),
  ...texts('nextAttemptAt', 'heldUntil', 'pausedSince'),
  attempts: maybe(number),
  error: maybe(
    shape<ActionError>({
      type: isText,
      message: isText,
      title: maybe(isText),
      remedy: maybe(isText),
      retryable: flag,
      unknown: maybe(flag),
      retryAfterSeconds: maybe(number),
      paused: maybe(oneOf(connectors)),
    }),
  ),
  result: maybe(shape<NonNullable<ActionStatus['result']>>({ recipients: maybe(number), note: maybe(isText) })),
  deliveries: maybe(listOf(shape<Delivery>({ recipient: isText, sent: flag, error: maybe(isText), unknown: maybe(flag) }))),
  mends: maybe(listOf(Number.isSafeInteger)),
  steered: maybe(listOf(shape<Steered>({ at: isText, by: isText, verb: oneOf(steeringVerbs), fields: maybe(listOf(isText)) }))),
  kept: () => true, // every value is allowed
  late: maybe(shape<LateValues>({ values: mapOf(isText), recipients: maybe(listOf(isText)) })),
});

function isListOf<Item>(list: unknown, is: (item: unknown) => item is Item): list is Item[] {
  return Array.isArray(list) && list.every(is);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Whether the value has at most `levels` levels. If so, recursive functions such as JSON.stringify have enough stack. */
export function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export interface Steering {
  index: number;
  seconds?: number; // counted from now; only for `reschedule`
  by?: string; // the name of the person, if it is known
  reason?: string; // the reason for a cancellation
  waits?: boolean; // whether an edit or skip also counts if it arrives before the action is held
}

/** A person's edit of an action. */
export interface Mend extends Steering {
  fields: Fields;
  confirmUnknown?: boolean; // the person wants a retry, although the last try may have taken effect
  /** Also edits the other open actions with the same assignment. Without `others`, only for an edit of `platformAssignmentId` alone. */
  allActions?: boolean;
  /** The edits of the other actions. By default, the other actions get only the new assignment. */
  others?: { index: number; fields: Fields }[];
  /** The number of the edit, and the time of its arrival. The chain sets both. */
  number?: number;
  at?: string;
}

export type NumberedMend = Mend & { number: number };

export function isMend(steering: Steering): steering is Mend {
  return 'fields' in steering;
}

/** Reads each form of a signal's argument. @returns undefined for any other argument */
export function readSteering(argument: unknown): Steering | undefined {
  const list = [argument].flat();
  if (list.length > 2) return undefined;
  const { index = list[0], seconds = list[1], by, reason } = fieldsOf(argument);
  const whole = (value: unknown) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value);
  const [at, after] = [whole(index), whole(seconds)];
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0) return undefined;
  if (after !== undefined && (typeof after !== 'number' || !(after >= 0) || after > maxDelaySeconds)) return undefined;
  return {
    index: at,
    ...(after !== undefined && { seconds: after }),
    ...(isText(by) && { by: cutShort(by) }),
    ...(isText(reason) && { reason: cutShort(reason) }),
  };
}

/** @returns the signal, or a text that says why the signal cannot be used. */
export function readSignal(
  name: SteeringName,
  argument: unknown,
  { isChain, hasAction }: { isChain: boolean; hasAction: (index: number) => boolean },
): Steering | Mend | string {
  const read = name === 'mend' ? readMend(argument) : readSteering(argument);
  if (!read || (name === 'reschedule') !== (read.seconds !== undefined)) return unusable(name, argument);
  if (!hasAction(read.index)) return `${name} [${read.index}]: there is no action ${read.index}`;
  const lacksNumber = !isChain && isMend(read) && read.number === undefined;
  return lacksNumber ? unusable(name, argument) : read;
}

const inputs: Partial<Record<SteeringName, string>> = {
  reschedule: '[index, seconds from now]',
  mend: '[index, {field: value}, {confirmUnknown?, allActions?, by?}], sent to the workflow of the chain',
};

function unusable(name: SteeringName, argument: unknown): string {
  const shown = isShallow(argument, 3) ? JSON.stringify(argument) : '[…]';
  const input = argument === undefined ? '' : ` ${cutShort(shown, 60)}`;
  return `${name}${input}: its input must be ${inputs[name] ?? 'an index or [index]'}`;
}

/** A person's decision on an action. */
export type Decision = { verb: 'retry' } | { verb: 'mend'; mends: NumberedMend[] } | { verb: 'skip'; by: string };

/** Joins two decisions, with all their edits. A later retry keeps the edits. A later skip drops the edits. */
export function together(before: Decision | undefined, decision: Decision): Decision {
  const mends = before?.verb === 'mend' ? before.mends : [];
  if (decision.verb === 'mend') return { verb: 'mend', mends: [...mends, ...decision.mends] };
  return decision.verb === 'skip' || mends.length === 0 ? decision : (before ?? decision);
}

/** The maximum length of an edit in UTF-16 units of JSON. The API's own limit is lower, but Temporal's tools can send more. */
const mostMendLength = 300_000;

/** Whether the edit changes only the assignment. Only such an edit can apply to all actions of a chain. */
export function isAssignmentAlone(fields: object): boolean {
  return Object.keys(fields).join() === 'platformAssignmentId';
}

/** Whether these edits are too long for one signal. */
export const isMendTooLong = (fields: unknown, others: unknown) => JSON.stringify([fields, others]).length > mostMendLength;

const isOtherEdit = (value: unknown): value is NonNullable<Mend['others']>[number] =>
  isObject(value) && Number.isSafeInteger(value.index) && isObject(value.fields);

/** Reads both forms of the argument of `mend`. @returns undefined for any other argument */
export function readMend(argument: unknown): Mend | undefined {
  if (!isShallow(argument, 6)) return undefined;
  const [index, fields, options] = Array.isArray(argument) ? argument : [];
  const given: Fields = Array.isArray(argument) ? { ...fieldsOf(options), index, fields } : fieldsOf(argument);
  const steering = readSteering({ index: given.index, by: given.by });
  const isList = Array.isArray(given.fields) || (Array.isArray(argument) && argument.length > 3);
  if (!steering || isList || typeof given.fields !== 'object' || given.fields === null) return undefined;
  const { number, others, at } = given;
  if (!isShallow(given.fields, 2) || isMendTooLong(given.fields, others)) return undefined;
  if (others !== undefined && !isListOf(others, isOtherEdit)) return undefined;
  if (given.allActions === true && !others && !given.waits && !isAssignmentAlone(given.fields)) return undefined;
  return {
    ...steering,
    fields: fieldsOf(given.fields),
    ...(given.confirmUnknown === true && { confirmUnknown: true }),
    ...(given.allActions === true && { allActions: true }),
    ...(others && { others }),
    ...(given.waits === true && { waits: true }),
    ...(isText(at) && { at }),
    ...(typeof number === 'number' && Number.isSafeInteger(number) && { number }),
  };
}

/** Checks the argument of `news`. People can send any signal, and no signal may break the workflow. */
export function isNews(argument: unknown): argument is News {
  const { notice, member } = fieldsOf(argument);
  const { kind, companyId, chainId, index, at } = fieldsOf(notice);
  const { message, receivedAt } = fieldsOf(member);
  return (
    isShallow(argument, 7) &&
    isOver(member) &&
    noticeKinds.some((known) => known === kind) &&
    typeof index === 'number' &&
    areTexts([companyId, chainId, at, receivedAt]) &&
    areTexts([message], 2_000) &&
    JSON.stringify(member).length <= mostMemberLength
  );
}

/** The maximum length of a `Member` in UTF-16 units of JSON. The input of a notifier's next run has up to ten `Member`s. */
const mostMemberLength = 5_000;

export function isOver(argument: unknown): argument is Over {
  const { chainId, index, state, at, heldUntil = at } = fieldsOf(argument);
  const times = [at, heldUntil];
  const areTimes = areTexts(times, 40) && times.every((time) => !Number.isNaN(Date.parse(time)));
  return areTexts([chainId]) && actionStates.some((known) => known === state) && typeof index === 'number' && areTimes;
}

/** @param mostBytes - the maximum size of each text. With the default, five texts fit into a workflow id. */
function areTexts(values: unknown[], mostBytes = 200): values is string[] {
  return values.every((value) => typeof value === 'string' && jsonBytes(value) <= mostBytes);
}
