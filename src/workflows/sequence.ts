/**
 * Runs actions in order: the one function that `RuleChain` and `DelayedAction` share. What cannot be done is held until somebody decides, the relay's own
 * retry comes through, or the attention window is over.
 */

import { CancellationScope, condition, isCancellation, log, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities, RulePolicy } from '../activities/activities.js';
import type { Chain, ChainAction } from '../chain/chain.js';
import { asksIncomingValue, evaluateCondition } from '../chain/condition.js';
import type { NoticeKind } from '../chain/notice.js';
import { hasEnded, type Trouble } from '../chain/outcome.js';
import { automaticRetrySeconds } from '../chain/retry.js';
import { actionTitle } from '../chain/summary.js';
import type { Board } from './board.js';
import { checkCondition, type Doing, type Done, type Effort, perform } from './effects.js';

/** What a sequence works with. */
export interface Floor {
  chain: Chain;
  board: Board;
  /** Asks that people be told; never waits. */
  notice(kind: NoticeKind, index: number): void;
  /** What people decided about held actions; taken out when acted upon. */
  decisions: Map<number, Decision>;
  /** The actions under way, to be cancelled one by one. */
  scopes: Map<number, CancellationScope>;
}

/** A person's word on a held action. */
export type Decision = { kind: 'retry' } | { kind: 'skip'; by?: string };

/** Runs the actions strictly in order. `actions` may lose members meanwhile. Throws only the cancellation of the workflow. */
export async function runSequence(actions: ChainAction[], floor: Floor): Promise<void> {
  for (let action = actions.shift(); action; action = actions.shift()) {
    if (hasEnded(floor.board.of(action.index).state)) continue;
    const goesOn = await runAction(action, floor);
    if (goesOn) continue;
    for (const { index } of actions.splice(0)) {
      if (!hasEnded(floor.board.of(index).state))
        end(floor, index, { state: 'not-run', reason: `action ${action.index} before it failed` });
    }
  }
}

/** Runs one action to its end. @returns whether what stands behind it goes on. */
export async function runAction(action: ChainAction, floor: Floor): Promise<boolean> {
  const scope = new CancellationScope();
  floor.scopes.set(action.index, scope);
  try {
    return await scope.run(() => runToEnd(action, floor));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    end(floor, action.index, { state: 'cancelled' });
    if (CancellationScope.current().consideredCancelled) throw error;
    return true;
  } finally {
    floor.scopes.delete(action.index);
    floor.decisions.delete(action.index);
  }
}

async function runToEnd(action: ChainAction, floor: Floor): Promise<boolean> {
  const { board } = floor;
  const hold = new Hold(action, floor);
  let effort: Effort = 'budget';
  for (;;) {
    board.update(action.index, { state: 'running', startedAt: now(), nextAttemptAt: undefined, reason: undefined });
    const done = await attempt(action, floor, effort);
    const before = board.of(action.index).attempts ?? 0;
    board.update(action.index, {
      attempts: before + done.attempts,
      ...(done.deliveries && { deliveries: done.deliveries }),
      ...(done.failure && { error: trouble(done.failure) }),
    });

    if (!done.failure) {
      const partly = board.of(action.index).deliveries?.some(({ sent }) => !sent);
      if (done.skipped !== undefined)
        end(floor, action.index, { state: partly ? 'partly-failed' : 'skipped', reason: done.skipped });
      else
        end(floor, action.index, {
          state: 'done',
          ...(done.recipients !== undefined && { result: { recipients: done.recipients } }),
        });
      if (effort === 'once') floor.notice('recovered', action.index);
      return true;
    }
    if (done.deliveries?.some(({ sent }) => sent)) {
      end(floor, action.index, { state: 'partly-failed', reason: done.failure.message });
      floor.notice('partly-failed', action.index);
      return true;
    }
    const policy = await readPolicy(action, floor);
    if (policy.onFailure === 'continue') {
      end(floor, action.index, { state: 'failed', reason: done.failure.message });
      floor.notice('failed', action.index);
      return true;
    }

    const next = await hold.untilDecided(done.failure, policy, effort);
    if (next === 'skip') return true;
    if (next === 'give-up') return false;
    effort = next;
  }
}

/** One try: the condition, then the effect. */
async function attempt(action: ChainAction, floor: Floor, effort: Effort): Promise<Done> {
  const { board, chain } = floor;
  if (action.undecided) return dataMistake(action.undecided);
  const doing: Doing = {
    chain,
    action,
    effort,
    deliveries: board.of(action.index).deliveries ?? [],
    onRetrying: (failure, nextAttemptAt) =>
      board.update(action.index, { state: 'retrying', error: trouble(failure), nextAttemptAt }),
  };
  if (action.condition) {
    const asked = asksIncomingValue(action.condition)
      ? { verdict: evaluateCondition(action.condition, action) }
      : await checkCondition(doing);
    if ('failure' in asked) return { attempts: asked.failure.attempts, failure: asked.failure };
    if (!asked.verdict.holds) return { attempts: 0, skipped: asked.verdict.reason };
  }
  return action.mistake ? dataMistake(action.mistake) : perform(doing);
}

/** A held action: who may end the hold, and when. */
class Hold {
  #heldUntil = 0;
  #automaticRetries = 0;

  constructor(
    private readonly action: ChainAction,
    private readonly floor: Floor,
  ) {}

  /** Holds until there is something to do next. A person's failed retry begins a new window and is noticed; an automatic one does neither. */
  async untilDecided(failure: Trouble, policy: RulePolicy, after: Effort): Promise<Effort | 'skip' | 'give-up'> {
    const { action, floor } = this;
    if (after === 'budget') {
      this.#heldUntil = Date.now() + floor.chain.attentionWindowSeconds * 1000;
      this.#automaticRetries = 0;
    }
    const automatic = failure.retryable && !(failure.unknown && policy.onUnknown === 'hold');
    const wait = Math.max(automaticRetrySeconds(this.#automaticRetries + 1), failure.retryAfterSeconds ?? 0) * 1000;
    const left = Math.max(0, this.#heldUntil - Date.now());
    const tries = automatic && wait < left;
    floor.board.update(action.index, {
      state: 'needs-attention',
      heldUntil: iso(this.#heldUntil),
      nextAttemptAt: tries ? iso(Date.now() + wait) : undefined,
    });
    if (after === 'budget') floor.notice('needs-attention', action.index);

    const summary = `${actionTitle(action)}: ${tries ? 'held, next try by itself' : 'held, until the attention window is over'}`;
    await condition(() => floor.decisions.has(action.index), tries ? wait : left, { summary });
    const decision = floor.decisions.get(action.index);
    floor.decisions.delete(action.index);
    if (decision?.kind === 'retry') return 'budget';
    if (decision?.kind === 'skip') {
      end(floor, action.index, { state: 'skipped', reason: `skipped by ${decision.by ?? 'hand'}` });
      return 'skip';
    }
    if (tries) {
      this.#automaticRetries += 1;
      return 'once';
    }
    end(floor, action.index, { state: 'failed', reason: `nobody decided until ${iso(this.#heldUntil)}` });
    floor.notice('gave-up', action.index);
    return 'give-up';
  }
}

/** Ends an action: the facts of a hold or a wait go, the last error stays. */
export function end(floor: Pick<Floor, 'board'>, index: number, change: Parameters<Board['update']>[1]): void {
  floor.board.update(index, { heldUntil: undefined, nextAttemptAt: undefined, endedAt: now(), ...change });
}

/** The rule's policy now; where it cannot be read, an action is rather held than passed over. */
async function readPolicy(action: ChainAction, { chain }: Floor): Promise<RulePolicy> {
  const activities = proxyLocalActivities<Activities>({ startToCloseTimeout: '2 seconds', retry: { maximumAttempts: 2 } });
  try {
    return await activities.readPolicy({ companyId: chain.companyId, relayId: action.relayId });
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('the policy of a rule could not be read: its action is held', { relayId: action.relayId, error });
    return { onFailure: 'hold', onUnknown: 'hold' };
  }
}

function dataMistake(message: string): Done {
  return { attempts: 0, failure: { type: 'DataMistake', message, retryable: false } };
}

function trouble({ type, message, retryable, unknown, retryAfterSeconds }: Trouble): Trouble {
  return { type, message, retryable, ...(unknown && { unknown }), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

const iso = (milliseconds: number) => new Date(milliseconds).toISOString();
const now = () => iso(Date.now());
