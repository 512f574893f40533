/** Runs actions strictly in order, and does what people decide about them: shared by `RuleChain` and `DelayedAction`. */

import { isCancellation, patched } from '@temporalio/workflow';
import type { Chain, ChainAction } from '../chain/chain.js';
import { hasEnded, isToRedo } from '../chain/outcome.js';
import type { EffectOutcome, RulePolicy } from '../contract/activities.js';
import { ActionRun, type Decision, type Notify, type RetryMode } from './action-run.js';
import type { ActionStates } from './action-states.js';
import { attempt } from './attempt.js';
import { wasTried } from './failures.js';
import { Hold, waitAWhile, waitForPauseEnd } from './hold.js';
import type { Lock } from './lock.js';
import { Mends } from './mends.js';

export class ActionRunner {
  readonly mends: Mends;
  readonly #runs = new Map<number, ActionRun>();
  readonly #early = new Map<number, EffectOutcome>();
  #cancelled = false;

  constructor(
    readonly chain: Chain,
    readonly states: ActionStates,
    readonly lock: Lock,
    private readonly notify: Notify,
    runLater: (actions: ChainAction[], dueAt: number) => void,
  ) {
    this.mends = new Mends(chain, states, lock, runLater);
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  get mayBeRetried(): boolean {
    return !this.#cancelled && this.states.actions.some(({ state }) => isToRedo(state));
  }

  /** Runs the actions; `actions` may lose members meanwhile. */
  async run(actions: ChainAction[]): Promise<void> {
    for (let action = actions.shift(); action && !this.#cancelled; action = actions.shift())
      if (!hasEnded(this.states.of(action.index).state)) await this.#runOne(action, actions);
  }

  decide(index: number, decision: Decision): void {
    this.#runs.get(index)?.decide(decision);
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

  resume(): void {
    for (const run of this.#runs.values()) run.resume();
  }

  async #runOne(sent: ChainAction, behind: readonly ChainAction[]): Promise<void> {
    const { chain, states, lock, mends } = this;
    const action = states.of(sent.index).mends ? await mends.current(sent) : sent;
    const run = new ActionRun(chain, action, behind, this.#early, states, lock, mends, this.notify);
    this.#runs.set(action.index, run);
    try {
      await toEnd(run);
    } catch (error) {
      if (!isCancellation(error)) throw error;
      const by = run.cancelled?.by;
      run.end({ state: run.reachedSome ? 'partly-failed' : 'cancelled', reason: by && `cancelled by ${by}` });
    } finally {
      this.#runs.delete(action.index);
    }
    const { index, state } = run.status;
    if (run.decision?.verb === 'mend') states.ignore(`mend [${index}]: action ${index} is ${state}`);
  }
}

const heldByDefault: RulePolicy = { onFailure: 'hold', onUnknown: 'hold' };

async function toEnd(run: ActionRun): Promise<void> {
  const hold = new Hold(run);
  for (let mode: RetryMode | undefined = 'budget'; mode; ) {
    // The relay's own try leaves a held action held: people may still decide, and nobody is told anything new.
    const held = mode === 'once' && run.status.state === 'needs-attention';
    const begun = { state: 'running', startedAt: run.lock.time(), heldUntil: undefined, reason: undefined } as const;
    run.update({ ...(!held && begun), nextAttemptAt: undefined });
    const { attempts, failure, skipped, recipients } = await attempt(run, mode);
    const tried = !failure || wasTried(failure);
    run.update({ attempts: (run.status.attempts ?? 0) + attempts, ...(failure && tried && { error: failure }) });

    if (!tried && (!held || run.reachedSome) && (failure.paused || run.states.hasRoomForOwn)) {
      run.made += attempts;
      run.waits += 1;
      if (failure.paused) await waitForPauseEnd(run, failure.paused);
      else await waitAWhile(run, failure.message);
      continue;
    }
    run.made = 0;
    run.waits = 0;
    const recovered = mode === 'once' ? 'recovered' : undefined;
    if (skipped !== undefined)
      return run.end({ state: run.reachedSome ? 'partly-failed' : 'skipped', reason: skipped }, recovered);
    if (!failure) return run.end({ state: 'done', ...(recipients !== undefined && { result: { recipients } }) }, recovered);
    const { message: reason } = failure;
    if (run.reachedSome) return run.end({ state: 'partly-failed', reason }, 'partly-failed');
    const policy = await policyOf(run, held);
    if (policy.skips !== undefined) return run.end({ state: 'skipped', reason: policy.skips }, recovered);
    if (policy.onFailure === 'continue' && tried) return run.end({ state: 'failed', reason }, 'failed');
    mode = await hold.untilDecided(failure, policy, mode);
  }
}

/**
 * Where it cannot be read, that is waited for as it is before an effect: a rule that goes on after a failure must not keep what
 * is behind it from running.
 * @param held - whether the action is held in any case, and stays so.
 */
async function policyOf(run: ActionRun, held: boolean): Promise<RulePolicy> {
  const { companyId, relayId } = run.ref;
  const asks = run.summary(`does rule ${relayId} hold or continue?`);
  for (;;) {
    const policy = await run.ask(asks, (activities) => activities.readPolicy({ companyId, relayId }), undefined);
    if (!policy && !held && run.states.hasRoomForOwn && patched('waits-for-the-policy')) {
      run.waits += 1;
      await waitAWhile(run, 'the relay cannot read whether its rule holds the chain now or goes on');
      continue;
    }
    run.waits = 0;
    return policy ?? heldByDefault;
  }
}
