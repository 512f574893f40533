/**
 * The signals and queries of a chain. People's signals take one JSON argument, since tctl sends no more: an index, `[index]`,
 * `{"index": 1}`; for `reschedule` `[index, seconds from now]` or `{"index": 1, "seconds": 60}`, for `mend` `[index, {field: value},
 * {confirmUnknown?, by?}]` or `{"index": 1, "fields": {…}, "confirmUnknown": true}`. What they are read as is part of the replay
 * contract.
 */

import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { maxDelaySeconds } from '../chain/chain.js';
import type { Fields } from '../chain/fields.js';
import { actionStates, type SteeringVerb } from '../chain/outcome.js';
import { cutShort } from '../chain/text.js';
import type { BulkProgress, ChainResource } from './chain-resource.js';
import { type ChainNotice, type News, noticeKinds, type Over } from './notices.js';

/** With what the Web UI says of each where it lets people choose one. */
export const steeringSignals = {
  retry: steering('retry', 'Tries a held action again, or sends an e-mail to those whom it missed. Input: [index]'),
  mend: steering(
    'mend',
    'Changes fields of a held or failed action, by their names in the request, and tries it again. Input: [index, {"field": "value"}]',
  ),
  skip: steering('skip', 'Goes on without a held action. Input: [index]'),
  runNow: steering('runNow', 'Runs a scheduled action now. Input: [index]'),
  cancelAction: steering('cancelAction', 'Cancels one action; what stands behind it goes on. Input: [index]'),
  reschedule: steering('reschedule', 'Moves a scheduled action. Input: [index, seconds from now]'),
};
export type SteeringName = keyof typeof steeringSignals;

function steering(name: string, description: string) {
  return { ...defineSignal<[unknown]>(name), description };
}

export function signalOf(verb: SteeringVerb) {
  return steeringSignals[verb === 'cancel' ? 'cancelAction' : verb];
}

export function verbOf(name: SteeringName): SteeringVerb {
  return name === 'cancelAction' ? 'cancel' : name;
}

/** To every workflow that waits for a pause, when it has ended: look again. */
export const resumeSignal = defineSignal('resume');

/** A chain as it stands. */
export type ChainView = Pick<ChainResource, 'status' | 'ignored' | 'historyFull'> & { actions: ActionStatus[] };
export const statusQuery = defineQuery<ChainView>('status');

/** Of an action, by its index: the changes to its fields that hold, all together; null where it was not mended. */
export const changesQuery = defineQuery<Fields | null, [unknown]>('changes');

export const progressQuery = defineQuery<BulkProgress>('progress');

type ReportedNotice = Pick<ChainNotice, 'kind' | 'index'>;

/** From a `DelayedAction` to its chain: how its actions stand, and about which of them people are to be told. */
export interface Report {
  actions: ActionStatus[];
  notices?: ReportedNotice[];
  ignored?: string; // a signal that had no effect, with why
}
export const reportSignal = defineSignal<[Report]>('report');

export const newsSignal = defineSignal<[News]>('news');
export const overSignal = defineSignal<[Over]>('over');

/** Reads a signal's argument as a report; undefined where it is none, since one that somebody typed must not stop the chain. */
export function readReport(argument: unknown, hasAction: (index: number) => boolean): Report | undefined {
  if (!isShallow(argument, 5)) return undefined;
  const { actions, notices = [], ignored } = fieldsOf(argument);
  const isStatus = (value: unknown): value is ActionStatus => isActionStatus(value) && hasAction(value.index);
  const isNotice = (value: unknown): value is ReportedNotice => {
    const { kind, index } = fieldsOf(value);
    return noticeKinds.some((known) => known === kind) && typeof index === 'number' && hasAction(index);
  };
  if (!isListOf(actions, isStatus) || !isListOf(notices, isNotice)) return undefined;
  return ignored === undefined || isText(ignored) ? { actions, notices, ignored: ignored && cutShort(ignored, 500) } : undefined;
}

const times = ['runAt', 'startedAt', 'endedAt', 'nextAttemptAt', 'heldUntil', 'pausedSince'];
const optionalTexts = ['comment', 'assignmentId', 'workflowId', 'reason', ...times];

/** In UTF-16 units: more than any action makes, and so little that a chain's result, with the statuses of all, is not too large. */
const mostStatusLength = 40_000;

function isActionStatus(value: unknown): value is ActionStatus {
  const { index, action, relayId, state, attempts, error, result, deliveries, mends, steered, ...rest } = fieldsOf(value);
  const isOptional = (fact: unknown, is: (fact: unknown) => boolean) => fact === undefined || is(fact);
  const isListWith = (list: unknown, ...names: string[]) =>
    Array.isArray(list) && list.every((item) => names.every((name) => isText(fieldsOf(item)[name])));
  return (
    typeof index === 'number' &&
    [action, relayId].every(isText) &&
    actionStates.some((known) => known === state) &&
    optionalTexts.every((name) => isOptional(rest[name], isText)) &&
    isOptional(attempts, (count) => typeof count === 'number') &&
    isOptional(error, (failure) => isListWith([failure], 'type', 'message')) &&
    isOptional(result, (said) => isOptional(fieldsOf(said).recipients, (count) => typeof count === 'number')) &&
    isOptional(deliveries, (list) => isListWith(list, 'recipient')) &&
    isOptional(mends, (list) => Array.isArray(list) && list.every(Number.isSafeInteger)) &&
    isOptional(steered, (list) => isListWith(list, 'at', 'by', 'verb')) &&
    JSON.stringify(value).length <= mostStatusLength
  );
}

function isListOf<Item>(list: unknown, is: (item: unknown) => item is Item): list is Item[] {
  return Array.isArray(list) && list.every(is);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Whether it has no more levels of objects than these: what reads it level by level, as JSON does, has a stack for it. */
export function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export interface Steering {
  index: number;
  seconds?: number; // from now; for `reschedule` alone
  by?: string; // who asked, where the API says so
}

/** A person's correction of an action. */
export interface Mend extends Steering {
  fields: Fields;
  /** Whoever asks knows that the last try may have taken effect. */
  confirmUnknown?: boolean;
  /** Its number in the chain, which gives it. */
  number?: number;
}

/** Reads a signal's argument in any of its forms; undefined where it is none of them. */
export function readSteering(argument: unknown): Steering | undefined {
  const list = [argument].flat();
  if (list.length > 2) return undefined;
  const { index = list[0], seconds = list[1], by } = fieldsOf(argument);
  const whole = (value: unknown) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value);
  const [at, after] = [whole(index), whole(seconds)];
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0) return undefined;
  if (after !== undefined && (typeof after !== 'number' || !(after >= 0) || after > maxDelaySeconds)) return undefined;
  return { index: at, ...(after !== undefined && { seconds: after }), ...(typeof by === 'string' && { by: cutShort(by) }) };
}

/** In UTF-16 units of JSON: more than the API takes, and so little that Temporal takes it again in another signal. */
const mostMendLength = 300_000;

/** Reads the argument of `mend` in either of its forms; undefined where it is none of them. */
export function readMend(argument: unknown): Mend | undefined {
  if (!isShallow(argument, 3)) return undefined;
  const [index, fields, options] = Array.isArray(argument) ? argument : [];
  const given: Fields = Array.isArray(argument) ? { ...fieldsOf(options), index, fields } : fieldsOf(argument);
  const steering = readSteering({ index: given.index, by: given.by });
  const isList = Array.isArray(given.fields) || (Array.isArray(argument) && argument.length > 3);
  if (!steering || isList || typeof given.fields !== 'object' || given.fields === null) return undefined;
  if (JSON.stringify(given.fields).length > mostMendLength) return undefined;
  const { number } = given;
  return {
    ...steering,
    fields: fieldsOf(given.fields),
    ...(given.confirmUnknown === true && { confirmUnknown: true }),
    ...(typeof number === 'number' && Number.isSafeInteger(number) && { number }),
  };
}
