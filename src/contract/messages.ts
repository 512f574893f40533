/**
 * The signals and queries of a chain. Each signal takes one JSON argument, since tctl sends no more:
 * an index, `[index]`, `{"index": 1}`, and for `reschedule` `[index, seconds from now]` or `{"index": 1, "seconds": 60}`.
 * They go to the chain's workflow, which passes them on.
 */

import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';
import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { maxDelaySeconds } from '../chain/chain.js';
import { actionStates, type SteeringVerb } from '../chain/outcome.js';
import type { BulkProgress, ChainResource } from './chain-resource.js';
import type { News, NoticeKind, Over } from './notices.js';

export const steeringSignals = {
  retry: defineSignal<[unknown]>('retry'),
  skip: defineSignal<[unknown]>('skip'),
  runNow: defineSignal<[unknown]>('runNow'),
  cancelAction: defineSignal<[unknown]>('cancelAction'),
  reschedule: defineSignal<[unknown]>('reschedule'),
};
export type SteeringName = keyof typeof steeringSignals;

export function signalOf(verb: SteeringVerb) {
  return steeringSignals[verb === 'cancel' ? 'cancelAction' : verb];
}

/** What the Web UI says of each where it lets people choose one. */
export const steeringHelp: Record<SteeringName, string> = {
  retry: 'Tries a held action again, or sends an e-mail to those whom it missed. Input: [index]',
  skip: 'Goes on without a held action. Input: [index]',
  runNow: 'Runs a scheduled action now. Input: [index]',
  cancelAction: 'Cancels one action; what stands behind it goes on. Input: [index]',
  reschedule: 'Moves a scheduled action. Input: [index, seconds from now]',
};

/** To every workflow that waits for a pause, when it has ended: look again. */
export const resumeSignal = defineSignal('resume');

/** A chain as it stands. */
export interface ChainView extends Pick<ChainResource, 'status' | 'ignored'> {
  actions: ActionStatus[];
}
export const statusQuery = defineQuery<ChainView>('status');

/** How far a `BulkSteering` is. */
export const progressQuery = defineQuery<BulkProgress>('progress');

/** On the timer of a chain that was opened again: to open it once more, it is reset to where it began to wait. */
export const reopenedSummary = 'opened again: waits to be told what to do';

/** From a `DelayedAction` to its chain: how its actions stand, and about which of them people are to be told. */
export interface Report {
  actions: ActionStatus[];
  notices?: { kind: NoticeKind; index: number }[];
  /** A signal that had no effect, with why. */
  ignored?: string;
}
export const reportSignal = defineSignal<[Report]>('report');

/** To a `Notifier`. */
export const newsSignal = defineSignal<[News]>('news');
export const overSignal = defineSignal<[Over]>('over');

/**
 * Reads a signal's argument as a report; undefined where it is none, since one that somebody typed must not stop the chain.
 * @param known - whether the chain has such an action.
 */
export function readReport(argument: unknown, known: (index: number) => boolean): Report | undefined {
  const { actions, notices = [], ignored } = fieldsOf(argument);
  const isStatus = (value: unknown): value is ActionStatus => isActionStatus(value) && known(value.index);
  if (!Array.isArray(actions) || !actions.every(isStatus) || !Array.isArray(notices)) return undefined;
  const isNotice = (value: unknown): value is NonNullable<Report['notices']>[number] => {
    const { kind, index } = fieldsOf(value);
    return noticeKinds.some((known) => known === kind) && typeof index === 'number' && known(index);
  };
  if (!notices.every(isNotice) || (ignored !== undefined && typeof ignored !== 'string')) return undefined;
  return { actions, notices, ignored };
}

const noticeKinds: readonly NoticeKind[] = ['needs-attention', 'failed', 'partly-failed', 'gave-up', 'recovered'];
const texts = [
  'comment',
  'assignmentId',
  'workflowId',
  'runAt',
  'startedAt',
  'endedAt',
  'reason',
  'nextAttemptAt',
  'heldUntil',
  'pausedSince',
];

function isActionStatus(value: unknown): value is ActionStatus {
  const { index, action, relayId, state, attempts, error, result, deliveries, steered, ...rest } = fieldsOf(value);
  const isText = (text: unknown) => typeof text === 'string';
  const isOptional = (fact: unknown, is: (fact: unknown) => boolean) => fact === undefined || is(fact);
  const areAll = (list: unknown, names: string[]) =>
    Array.isArray(list) && list.every((item) => names.every((name) => isText(fieldsOf(item)[name])));
  return (
    typeof index === 'number' &&
    [action, relayId].every(isText) &&
    actionStates.some((known) => known === state) &&
    texts.every((name) => isOptional(rest[name], isText)) &&
    isOptional(attempts, (count) => typeof count === 'number') &&
    isOptional(error, (failure) => areAll([failure], ['type', 'message'])) &&
    isOptional(result, (said) => typeof said === 'object' && said !== null) &&
    isOptional(deliveries, (list) => areAll(list, ['recipient'])) &&
    isOptional(steered, (list) => areAll(list, ['at', 'by', 'verb']))
  );
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export interface Steering {
  index: number;
  /** For `reschedule`: seconds from now. */
  seconds?: number;
  /** Who asked, where the API says so. */
  by?: string;
}

/** Reads a signal's argument in any of its forms; undefined where it is none of them. */
export function readSteering(argument: unknown): Steering | undefined {
  if (Array.isArray(argument) && argument.length > 2) return undefined;
  const [index, seconds, by] =
    typeof argument === 'object' && argument !== null && !Array.isArray(argument)
      ? ['index', 'seconds', 'by'].map((name) => Reflect.get(argument, name))
      : [argument].flat();
  const whole = (value: unknown) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value);
  const [at, after] = [whole(index), whole(seconds)];
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0) return undefined;
  if (after !== undefined && (typeof after !== 'number' || !(after >= 0) || after > maxDelaySeconds)) return undefined;
  return { index: at, ...(after !== undefined && { seconds: after }), ...(typeof by === 'string' && { by }) };
}

/**
 * Temporal's, save that a payload that cannot be read is `undefined`, which every handler ignores with a warning: an error would
 * stop the whole workflow until somebody resets it, for a signal that was mistyped in the Web UI.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: defaultPayloadConverter.toPayload.bind(defaultPayloadConverter),
  fromPayload: (payload, context, hint) => {
    try {
      return defaultPayloadConverter.fromPayload(payload, context, hint);
    } catch {
      return undefined as never;
    }
  },
};
