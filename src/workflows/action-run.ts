/** One action under way: what it waits for, and what people have said about it meanwhile. */

import {
  ActivityCancellationType,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  log,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { ActionError, ActionStatus } from '../chain/action-status.js';
import type { Chain, ChainAction } from '../chain/chain.js';
import { attemptsWithin, retryPolicy } from '../chain/retry.js';
import { summaryOf } from '../chain/web-ui.js';
import type { ActionRef, Activities, EffectOutcome, EffectResult, Timed } from '../contract/activities.js';
import type { NoticeKind } from '../contract/notices.js';
import type { ActionStates, Change } from './action-states.js';
import type { Alarm, Lock } from './lock.js';
import type { Mends, NumberedMend } from './mends.js';

/** How hard to try: through the retry budget, or once, as an ordinary activity (the relay's own try during a hold). */
export type RetryMode = 'budget' | 'once';

export interface AttemptResult extends Omit<EffectResult, keyof Timed> {
  failure?: ActionError;
}

export type Notify = (kind: NoticeKind, index: number) => void;

/** A person's word on a held action. */
export type Decision = { verb: 'retry' } | { verb: 'mend'; mends: NumberedMend[] } | { verb: 'skip'; by: string };

/** Cancelling waits for an effect in flight: its outcome counts. */
const waitForOutcome = { cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED };

export class ActionRun {
  decision: Decision | undefined;
  waitsForPause = false;
  /** Attempts made through the budget before a wait in which nothing was tried: they count. */
  made = 0;
  /** Waits in a row in which nothing was tried. */
  waits = 0;
  /** `by` is absent where that was the whole chain. */
  cancelled: { by?: string } | undefined;
  readonly #alarm: Alarm = {};
  #scope: CancellationScope | undefined;

  constructor(
    readonly chain: Chain,
    /** As it stands: it may be mended. */
    public action: ChainAction,
    readonly behind: readonly ChainAction[],
    /** What became of effects that were tried together with one before them, by index. */
    readonly early: Map<number, EffectOutcome>,
    readonly states: ActionStates,
    readonly lock: Lock,
    private readonly mends: Mends,
    private readonly tell: Notify,
  ) {}

  get status(): ActionStatus {
    return this.states.of(this.action.index);
  }

  get ref(): ActionRef {
    const { companyId, chainId, retryBudgetSeconds, traceparent } = this.chain;
    const { index, relayId } = this.action;
    const mends = this.status.mends?.length;
    return { companyId, chainId, retryBudgetSeconds, index, relayId, dueAt: this.status.runAt, traceparent, mends };
  }

  /** Whether an e-mail has reached somebody, now or in an earlier attempt. */
  get reachedSome(): boolean {
    return this.status.deliveries?.some(({ sent }) => sent) ?? false;
  }

  update(change: Change): void {
    this.states.update(this.action.index, change);
  }

  end(change: Change, kind?: NoticeKind): void {
    this.states.end(this.action.index, change);
    this.notify(kind);
  }

  notify(kind: NoticeKind | undefined): void {
    if (kind) this.tell(kind, this.action.index);
  }

  attemptsLeft(mode: RetryMode): number {
    return mode === 'once' ? 1 : Math.max(1, attemptsWithin(this.chain.retryBudgetSeconds) - this.made);
  }

  summary(doing?: string): string {
    return summaryOf([this.action], doing);
  }

  /** A local activity. It keeps the lock, and queries and signals wait: hence two seconds. @throws CancelledFailure */
  local<Value>(summary: string, call: (activities: Activities) => Promise<Value>, maximumAttempts = 1): Promise<Value> {
    this.#assertWanted();
    const options = { ...waitForOutcome, startToCloseTimeout: 2000, retry: { maximumAttempts }, summary };
    return call(proxyLocalActivities<Activities>(options));
  }

  /**
   * About the settings, by a local activity that is attempted twice.
   * @returns what it says, or `otherwise` where nobody can. @throws CancelledFailure
   */
  async ask<Value>(asks: string, call: (activities: Activities) => Promise<Value>, otherwise: Value): Promise<Value> {
    try {
      return await this.local(asks, call, 2);
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn('the settings of a company could not be read', { asks, error });
      return otherwise;
    }
  }

  /** Activities visible in the Web UI, to be begun with `begin` or `outside`. @param made - attempts made just before. */
  ordinary(name: string, doing: string | undefined, attempts: number, made = 0): Activities {
    return proxyActivities<Activities>({
      ...waitForOutcome,
      activityId: `${this.action.index}/${name}`,
      startToCloseTimeout: '30 seconds',
      retry: retryPolicy(attempts, this.made + made),
      summary: this.summary(doing),
    });
  }

  /** Begins what is cancelled with the action. @throws CancelledFailure */
  begin<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#assertWanted();
    this.#scope ??= new CancellationScope();
    return this.#scope.run(work);
  }

  outside<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.lock.outside(this.begin(work));
  }

  /**
   * Waits so many milliseconds, or until somebody decides or a pause may have ended.
   * @returns by how many milliseconds it was late. @throws CancelledFailure
   */
  async wait(milliseconds: number, doing: string): Promise<number> {
    this.#assertWanted();
    const due = this.lock.now + milliseconds;
    await this.lock.wait(this.#alarm, milliseconds, this.summary(doing));
    this.#assertWanted();
    return Math.max(0, this.lock.now - due);
  }

  decide(decision: Decision): void {
    const mends = this.decision?.verb === 'mend' ? this.decision.mends : [];
    if (decision.verb === 'mend') this.decision = { verb: 'mend', mends: [...mends, ...decision.mends] };
    else if (decision.verb === 'skip' || mends.length === 0) this.decision = decision;
    this.#alarm.ring?.();
  }

  /** @returns when to try it: now, or when it is due by then; undefined: what was asked for is not taken. */
  async mend(mends: readonly NumberedMend[]): Promise<'now' | 'later' | undefined> {
    const taken = [];
    for (const mend of mends) if (await this.mends.take(mend)) taken.push(mend);
    this.action = this.mends.of(this.action.index) ?? this.action;
    if (taken.length === 0) return undefined;
    return taken.some((mend) => this.mends.postpone(mend)) ? 'later' : 'now';
  }

  resume(): void {
    if (this.waitsForPause) this.#alarm.ring?.();
  }

  cancel(by?: string): void {
    this.cancelled ??= { by };
    this.#alarm.ring?.();
    this.lock.cancel(this.#scope);
  }

  #assertWanted(): void {
    if (this.cancelled) throw new CancelledFailure('the action was cancelled');
  }
}
