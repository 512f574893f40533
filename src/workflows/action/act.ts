/** An `Act` belongs to one action. It starts, awaits and cancels work, and receives people's decisions about the action. */

import { CancellationScope, CancelledFailure, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import type { ActionStatus } from '../../chain/action-status.js';
import type { Later } from '../../chain/attempt.js';
import { retryPolicy } from '../../chain/backoff.js';
import type { Chain, ChainAction } from '../../chain/chain.js';
import type { Change } from '../../chain/statuses.js';
import { summaryOf } from '../../chain/web-ui.js';
import { type ActionRef, type Activities, type Call, type EffectOutcome, refOf, type Timed } from '../../contract/activities.js';
import { type Decision, type NumberedMend, together } from '../../contract/messages.js';
import type { NoticeKind } from '../../contract/notices.js';
import { type Alarm, Engine, Places } from '../engine/engine.js';
import type { ChainNotices } from '../notices.js';
import { Mends } from './mends.js';
import { ActionStates } from './states.js';

export abstract class Shared<Notices extends ChainNotices = ChainNotices> {
  readonly engine: Engine;
  readonly states: ActionStates;
  readonly mends: Mends;
  readonly notices: Notices;
  readonly places = new Places();
  /** Outcomes of effects that a local activity tried together with an earlier action. The key is the action's index. */
  readonly early = new Map<number, EffectOutcome>();
  /** Decisions that wait for the turn of their action. The key is the action's index. */
  readonly decisions = new Map<number, Decision>();

  constructor(
    readonly chain: Chain,
    Notices: new (states: ActionStates, engine: Engine) => Notices,
  ) {
    const publish = () => {
      this.states.publish();
      this.notices.publish();
      this.wakeEmpty();
    };
    this.engine = new Engine(publish, () => this.states.show());
    this.states = new ActionStates(chain, this.engine);
    this.mends = new Mends(this.states, this.engine);
    this.notices = new Notices(this.states, this.engine);
  }

  /** Called whenever all code of the workflow waits. */
  protected abstract wakeEmpty(): void;
}

export class Act {
  decision: Decision | undefined;
  waitsForPause = false;
  /** Whether a person wants overdue actions to run immediately. */
  overdueNow = false;
  /** `why` is absent if the whole chain was cancelled. */
  cancelled: { why?: string } | undefined;
  readonly chain: Chain;
  readonly states: ActionStates;
  readonly engine: Engine;
  readonly #alarm: Alarm = {};
  #scope: CancellationScope | undefined;

  constructor(
    readonly shared: Shared,
    /** The action. After a mend, it has the edited fields. */
    public action: ChainAction,
    readonly behind: readonly ChainAction[],
  ) {
    ({ chain: this.chain, states: this.states, engine: this.engine } = shared);
    this.decision = shared.decisions.get(action.index);
    shared.decisions.delete(action.index);
  }

  get status(): ActionStatus {
    return this.states.of(this.action.index);
  }

  get ref(): ActionRef {
    return { ...refOf(this.chain, this.action, this.status), isFirstAttempt: this.engine.isFirstAttempt };
  }

  update(change: Change): void {
    this.states.update(this.action.index, change);
  }

  end(change: Change, kind?: NoticeKind): undefined {
    this.states.end(this.action.index, change);
    this.notify(kind);
  }

  notify(kind: NoticeKind | undefined): void {
    if (kind) this.shared.notices.tell(kind, this.action.index);
  }

  /** Stores the data of a try. The next try with the same idempotency key receives this data. */
  keep(kept: unknown): void {
    if (kept !== undefined) this.update({ kept });
  }

  summary(doing?: string): string {
    return summaryOf([this.action], doing);
  }

  /** @throws CancelledFailure */
  local<Value extends Timed>(summary: string, call: Call<Value>, maximumAttempts?: number): Promise<Value> {
    this.#assertWanted();
    return this.engine.local(summary, call, maximumAttempts);
  }

  /** Reads settings, with two attempts. @returns `otherwise` if both attempts fail. @throws CancelledFailure */
  async ask<Value extends Timed, Other>(asks: string, call: Call<Value>, otherwise: Other): Promise<Value | Other> {
    try {
      return await this.local(asks, call, 2);
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn('the settings of a company could not be read', { asks, error });
      return otherwise;
    }
  }

  /** Returns ordinary, not local, activities. Call each activity in `begin` or `outside`. `name` is part of the replay contract. */
  ordinary(name: string, doing: string | undefined, attempts: number, made: number): Activities {
    return proxyActivities<Activities>({
      // A cancellation waits for the outcome of a running effect.
      cancellationType: 'WAIT_CANCELLATION_COMPLETED',
      activityId: `${this.action.index}/${name}`,
      startToCloseTimeout: '30 seconds',
      retry: retryPolicy(attempts, made),
      summary: this.summary(doing),
    });
  }

  /** Starts work. A cancellation of the action also cancels this work. @throws CancelledFailure */
  begin<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#assertWanted();
    this.#scope ??= new CancellationScope();
    return this.#scope.run(work);
  }

  outside<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.engine.cancellable(this.begin(work));
  }

  /** Starts `count` activities together, when enough places are free. @throws CancelledFailure */
  async inPlaces<Value>(count: number, work: () => Promise<Value>): Promise<Value> {
    const { places } = this.shared;
    while (!places.take(count, this.#alarm)) {
      await this.engine.wait(this.#alarm);
      this.#assertWanted();
    }
    try {
      return await this.engine.cancellable(work());
    } finally {
      places.free(count);
    }
  }

  /** A cancellation, the end of a pause, or a decision can end the wait early. @returns how many ms late the timer was. */
  async wait(milliseconds: number, doing: string): Promise<number> {
    this.#assertWanted();
    const due = this.engine.now + milliseconds;
    await this.engine.wait(this.#alarm, milliseconds, this.summary(doing));
    this.#assertWanted();
    return Math.max(0, this.engine.now - due);
  }

  /** If the action is held, the decision takes effect immediately. Otherwise the decision waits for the next try or hold. */
  decide(decision: Decision): void {
    this.decision = together(this.decision, decision);
    if (this.status.state === 'needs-attention') this.#alarm.ring?.();
  }

  /** @returns undefined if no mend was applied. */
  async mend(asked: readonly NumberedMend[]): Promise<'retry' | Later | undefined> {
    const { mends } = this.shared;
    const taken = [];
    for (const mend of asked) if (await mends.take(mend)) taken.push(mend);
    this.action = mends.actions.get(this.action.index) ?? this.action;
    const dueAt = Math.max(0, ...taken.map((mend) => mends.dueAfter(mend)));
    if (dueAt > 0) return { dueAt, alone: true };
    return taken.length > 0 ? 'retry' : undefined;
  }

  resume(overdueNow: boolean): void {
    if (!this.waitsForPause) return;
    this.overdueNow ||= overdueNow;
    this.#alarm.ring?.();
  }

  cancel(why?: string): void {
    this.cancelled ??= { why };
    this.#alarm.ring?.();
    this.engine.cancel(this.#scope);
  }

  #assertWanted(): void {
    if (this.cancelled) throw new CancelledFailure('the action was cancelled');
  }
}
