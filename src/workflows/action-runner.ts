/** Runs actions strictly in order, and does what people decide about them: shared by `RuleChain` and `DelayedAction`. */

import { isCancellation } from '@temporalio/workflow';
import type { Chain, ChainAction } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import type { EffectOutcome } from '../contract/activities.js';
import { ActionRun, type Notify, type RetryMode } from './action-run.js';
import type { ActionStates } from './action-states.js';
import { attempt } from './attempt.js';
import { shownFailure, wasTried } from './failures.js';
import { Hold, readPolicy } from './hold.js';
import type { Lock } from './lock.js';
import { waitAWhile, waitForPauseEnd } from './pause.js';

export class ActionRunner {
  readonly #runs = new Map<number, ActionRun>();
  /** What became of effects that were tried together with one before them, by index. */
  readonly #early = new Map<number, EffectOutcome>();
  #cancelled = false;

  constructor(
    private readonly chain: Chain,
    private readonly states: ActionStates,
    private readonly lock: Lock,
    private readonly notify: Notify,
  ) {}

  /** Whether everything was cancelled. */
  get cancelled(): boolean {
    return this.#cancelled;
  }

  /**
   * Runs the actions; `actions` may lose members meanwhile. What comes after one that ended for want of a decision is not run.
   */
  async run(actions: ChainAction[]): Promise<void> {
    for (let action = actions.shift(); action && !this.#cancelled; action = actions.shift()) {
      if (hasEnded(this.states.of(action.index).state)) continue;
      const gaveUp = await this.#runOne(action, actions);
      if (gaveUp === undefined) continue;
      // Those behind it first: a chain hears of its delayed actions as soon as one has failed, and a retry then does them all.
      for (const { index } of actions.splice(0)) {
        if (!hasEnded(this.states.of(index).state))
          this.states.end(index, { state: 'not-run', reason: `action ${action.index} before it failed` });
      }
      this.states.end(action.index, { state: 'failed', reason: gaveUp });
      this.notify('gave-up', action.index);
    }
  }

  /** Tries a held action again. */
  retry(index: number): void {
    this.#runs.get(index)?.decide({ verb: 'retry' });
  }

  /** Ends a held action as `skipped`; what stands behind it goes on. */
  skip(index: number, by: string): void {
    this.#runs.get(index)?.decide({ verb: 'skip', by });
  }

  /** Ends an action as `cancelled`, once the outcome of an effect in flight is known; what stands behind it goes on. */
  cancel(index: number, by: string): void {
    const run = this.#runs.get(index);
    if (run) run.cancel(by);
    else this.states.end(index, { state: 'cancelled', reason: `cancelled by ${by}` });
  }

  cancelAll(): void {
    this.#cancelled = true;
    for (const run of this.#runs.values()) run.cancel();
  }

  /** A pause has ended: whoever waits for that looks again. */
  resume(): void {
    for (const run of this.#runs.values()) if (run.waitsForPause) run.wake();
  }

  /** @returns why it is to end `failed` and what stands behind it `not-run`; undefined: that goes on. */
  async #runOne(action: ChainAction, behind: readonly ChainAction[]): Promise<string | undefined> {
    const run = new ActionRun(this.chain, action, behind, this.#early, this.states, this.lock);
    this.#runs.set(action.index, run);
    try {
      return await this.#toEnd(run);
    } catch (error) {
      if (!isCancellation(error)) throw error;
      const by = run.cancelledBy;
      run.end({ state: run.reachedSome ? 'partly-failed' : 'cancelled', reason: by && `cancelled by ${by}` });
      return undefined;
    } finally {
      this.#runs.delete(action.index);
    }
  }

  async #toEnd(run: ActionRun): Promise<string | undefined> {
    const { index } = run.action;
    const hold = new Hold(run, this.notify);
    let mode: RetryMode = 'budget';
    let waits = 0;
    for (;;) {
      // The relay's own try leaves a held action held: people may still decide, and nobody is told anything new.
      const held = mode === 'once' && run.status.state === 'needs-attention';
      const begun = { state: 'running', startedAt: run.time(), heldUntil: undefined, reason: undefined } as const;
      run.update({ ...(!held && begun), nextAttemptAt: undefined });
      const { attempts, failure, skipped, recipients } = await attempt(run, mode);
      const tried = !failure || wasTried(failure);
      run.update({
        attempts: (run.status.attempts ?? 0) + attempts,
        ...(failure && tried && { error: shownFailure(failure) }),
      });

      if (!tried && (!held || run.reachedSome)) {
        run.made += attempts;
        waits += 1;
        if (failure.paused) await waitForPauseEnd(run, failure.paused);
        else await waitAWhile(run, failure.message, waits);
        continue;
      }
      run.made = 0;
      waits = 0;
      if (!failure) {
        if (skipped !== undefined) run.end({ state: run.reachedSome ? 'partly-failed' : 'skipped', reason: skipped });
        else run.end({ state: 'done', ...(recipients !== undefined && { result: { recipients } }) });
        if (mode === 'once') this.notify('recovered', index);
        return undefined;
      }
      if (run.reachedSome) {
        run.end({ state: 'partly-failed', reason: failure.message });
        this.notify('partly-failed', index);
        return undefined;
      }
      const policy = await readPolicy(run);
      if (policy.skips !== undefined) {
        run.end({ state: 'skipped', reason: policy.skips });
        if (mode === 'once') this.notify('recovered', index);
        return undefined;
      }
      if (policy.onFailure === 'continue' && tried) {
        run.end({ state: 'failed', reason: failure.message });
        this.notify('failed', index);
        return undefined;
      }

      const next = await hold.untilDecided(failure, policy, mode);
      if (next === 'skipped') return undefined;
      if (typeof next === 'object') return next.gaveUp;
      mode = next;
    }
  }
}
