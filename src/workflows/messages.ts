/**
 * The signals and queries of a chain. Each signal takes one JSON argument, since tctl sends no more:
 * an index, `[index]`, `{"index": 1}`, and for `reschedule` `[index, seconds from now]` or `{"index": 1, "seconds": 60}`.
 * They go to the chain's workflow, which passes them on.
 */

import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { NoticeKind } from '../chain/notice.js';
import type { ActionStatus, ChainStatus } from '../chain/outcome.js';

export const steeringSignals = {
  /** Do a held action again, or write to those whom a partly failed e-mail missed. */
  retry: defineSignal<[unknown]>('retry'),
  /** End a held action as `skipped`; what stands behind it goes on. */
  skip: defineSignal<[unknown]>('skip'),
  /** Run a scheduled action now. */
  runNow: defineSignal<[unknown]>('runNow'),
  /** End an action as `cancelled`; what stands behind it goes on. */
  cancelAction: defineSignal<[unknown]>('cancelAction'),
  /** Run a scheduled action so many seconds from now. */
  reschedule: defineSignal<[unknown]>('reschedule'),
};
export type SteeringName = keyof typeof steeringSignals;

/** A chain as it stands: `{ status, actions }`. */
export interface ChainView {
  status: ChainStatus;
  actions: ActionStatus[];
}
export const statusQuery = defineQuery<ChainView>('status');

/** From a `DelayedAction` to its chain: how its actions stand; `notice` asks the chain to tell people about one of them. */
export interface Report {
  actions: ActionStatus[];
  notice?: { kind: NoticeKind; index: number };
}
export const reportSignal = defineSignal<[Report]>('report');

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
  if (after !== undefined && (typeof after !== 'number' || !(after >= 0) || after > 366 * 24 * 3600)) return undefined;
  return { index: at, ...(after !== undefined && { seconds: after }), ...(typeof by === 'string' && { by }) };
}
