/**
 * The signals and queries of a chain. A signal from a person has one JSON argument, because tctl sends only one. Forms: an index,
 * `[index]`, `{"index": 1}`; for `reschedule` `[index, seconds from now]` or `{"index": 1, "seconds": 60}`; for `mend` `[index,
 * {field: value}, {confirmUnknown?, allActions?, by?}]` or `{"index": 1, "fields": {…}, "confirmUnknown": true}`. Reading them is
 * part of the replay contract.
 */

import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { ActionError, ActionStatus, Steered } from '../chain/action-status.js';
import { type SteeringVerb, steeringVerbs } from '../chain/allowed-verbs.js';
import { maxDelaySeconds } from '../chain/chain.js';
import type { Fields } from '../chain/fields.js';
import { actionStates } from '../chain/outcome.js';
import { connectors } from '../chain/pause.js';
import { cutShort, jsonBytes } from '../chain/text.js';
import type { BulkProgress, ChainResource } from './chain-resource.js';
import { type ChainNotice, type News, noticeKinds, type Over } from './notices.js';

/** The Web UI shows these descriptions in its form for signals. */
export const steeringSignals = {
  retry: steering('retry', 'Tries a held action again, or sends an e-mail to the recipients without a copy. Input: [index]'),
  mend: steering(
    'mend',
    'Changes fields of a held or failed action, by their names in the request, and tries it again. Input: [index, {"field": "value"}]',
  ),
  skip: steering('skip', 'Goes on without a held action. Input: [index]'),
  runNow: steering('runNow', 'Runs a scheduled action now. Input: [index]'),
  cancelAction: steering('cancelAction', 'Cancels one action; the actions after it go on. Input: [index]'),
  reschedule: steering('reschedule', 'Moves a scheduled action. Input: [index, seconds from now]'),
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

/** Tells every workflow that waits for a pause to check again. `overdue`: run overdue actions immediately. */
export const resumeSignal = defineSignal<[{ overdue?: 'now' }?]>('resume');

/** Tells a chain to leave out its remaining actions. */
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

/** The changes of an action's fields so far; null: it was never edited. */
export const changesQuery = defineQuery<Fields | null, [unknown]>('changes');

export const progressQuery = defineQuery<BulkProgress>('progress');

type ReportedNotice = Pick<ChainNotice, 'kind' | 'index'>;

/** From a `DelayedAction` to its chain: the states of its actions, and new notices about them. */
export interface Report {
  actions: ActionStatus[];
  notices?: ReportedNotice[];
  ignored?: string; // a signal without effect, and the reason
}
export const reportSignal = defineSignal<[Report]>('report');

export const newsSignal = defineSignal<[News]>('news');
export const overSignal = defineSignal<[Over]>('over');

/** Undefined: not a report. People can send any signal: it must not break the chain. */
export function readReport(argument: unknown, hasAction: (index: number) => boolean): Report | undefined {
  if (!isShallow(argument, 20)) return undefined; // Data that an effect keeps may be nested.
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

/** In UTF-16 units. Actions need less, and the chain's result with all statuses stays small enough. */
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
const oneOf = (known: readonly unknown[]): Is => {
  return (value) => known.includes(value);
};
const texts = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, maybe(isText)])) as Record<Name, Is>;
/** @param checks - one for each field; the compiler requires all of them. */
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
      retryable: flag,
      unknown: maybe(flag),
      retryAfterSeconds: maybe(number),
      paused: maybe(oneOf(connectors)),
    }),
  ),
  result: maybe(shape<NonNullable<ActionStatus['result']>>({ recipients: maybe(number) })),
  deliveries: maybe(listOf(shape<Delivery>({ recipient: isText, sent: flag, error: maybe(isText), unknown: maybe(flag) }))),
  mends: maybe(listOf(Number.isSafeInteger)),
  steered: maybe(listOf(shape<Steered>({ at: isText, by: isText, verb: oneOf(steeringVerbs), fields: maybe(listOf(isText)) }))),
  kept: () => true, // opaque
});

function isListOf<Item>(list: unknown, is: (item: unknown) => item is Item): list is Item[] {
  return Array.isArray(list) && list.every(is);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Limits nesting to `levels`: recursive readers, such as JSON, then have enough stack. */
export function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export interface Steering {
  index: number;
  seconds?: number; // from now; for `reschedule` only
  by?: string; // the person, if the API knows it
  reason?: string; // the reason of a cancellation
  /** If an edit or skip is sent before its action is held, it waits for the hold. */
  waits?: boolean;
}

/** A person's edit of an action. */
export interface Mend extends Steering {
  fields: Fields;
  /** The person has confirmed that the last try may have taken effect. */
  confirmUnknown?: boolean;
  /** Also edits all other open actions of the chain with the same assignment. For `platformAssignmentId` only. */
  allActions?: boolean;
  /** The chain sets this number. */
  number?: number;
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

/** @returns what is wrong with the signal, if it cannot be used. */
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
  mend: "[index, {field: value}, {confirmUnknown?, allActions?, by?}], to the chain's own workflow",
};

function unusable(name: SteeringName, argument: unknown): string {
  const shown = isShallow(argument, 3) ? JSON.stringify(argument) : '[…]';
  const input = argument === undefined ? '' : ` ${cutShort(shown, 60)}`;
  return `${name}${input}: its input must be ${inputs[name] ?? 'an index or [index]'}`;
}

/** A person's decision on an action. */
export type Decision = { verb: 'retry' } | { verb: 'mend'; mends: NumberedMend[] } | { verb: 'skip'; by: string };

/** Mends add up. A later retry keeps them; a later skip drops them. */
export function together(before: Decision | undefined, decision: Decision): Decision {
  const mends = before?.verb === 'mend' ? before.mends : [];
  if (decision.verb === 'mend') return { verb: 'mend', mends: [...mends, ...decision.mends] };
  return decision.verb === 'skip' || mends.length === 0 ? decision : (before ?? decision);
}

/** In UTF-16 units of JSON. The API accepts less; another Temporal signal holds more. */
const mostMendLength = 300_000;

/** Only a change of this field can apply to all actions of a chain. */
export function isAssignmentAlone(fields: object): boolean {
  return Object.keys(fields).join() === 'platformAssignmentId';
}

/** Reads both forms of the argument of `mend`; undefined: it has neither. */
export function readMend(argument: unknown): Mend | undefined {
  if (!isShallow(argument, 3)) return undefined;
  const [index, fields, options] = Array.isArray(argument) ? argument : [];
  const given: Fields = Array.isArray(argument) ? { ...fieldsOf(options), index, fields } : fieldsOf(argument);
  const steering = readSteering({ index: given.index, by: given.by });
  const isList = Array.isArray(given.fields) || (Array.isArray(argument) && argument.length > 3);
  if (!steering || isList || typeof given.fields !== 'object' || given.fields === null) return undefined;
  if (JSON.stringify(given.fields).length > mostMendLength) return undefined;
  if (given.allActions === true && !isAssignmentAlone(given.fields)) return undefined;
  const { number } = given;
  return {
    ...steering,
    fields: fieldsOf(given.fields),
    ...(given.confirmUnknown === true && { confirmUnknown: true }),
    ...(given.allActions === true && { allActions: true }),
    ...(given.waits === true && { waits: true }),
    ...(typeof number === 'number' && Number.isSafeInteger(number) && { number }),
  };
}

/** Checks the argument of `news`. People can send any signal: it must not break the workflow. */
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

/** In UTF-16 units; the input of a notifier's next run has ten. */
const mostMemberLength = 5_000;

export function isOver(argument: unknown): argument is Over {
  const { chainId, index, state, at, heldUntil = at } = fieldsOf(argument);
  const times = [at, heldUntil];
  const areTimes = areTexts(times, 40) && times.every((time) => !Number.isNaN(Date.parse(time)));
  return areTexts([chainId]) && actionStates.some((known) => known === state) && typeof index === 'number' && areTimes;
}

/** @param mostBytes - default: a fifth of the limit of a workflow id. */
function areTexts(values: unknown[], mostBytes = 200): values is string[] {
  return values.every((value) => typeof value === 'string' && jsonBytes(value) <= mostBytes);
}
