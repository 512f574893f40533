/**
 * Runs actions in order: the one function that `RuleChain` and `DelayedAction` share. What cannot be done is held until somebody decides, the relay's own
 * retry comes through, or the attention window is over.
 */

import { CancellationScope, condition, isCancellation, log, workflowInfo } from '@temporalio/workflow';
import type { Trouble } from '../chain/action-status.js';
import type { Chain, ChainAction } from '../chain/chain.js';
import { asksIncomingValue, evaluateCondition } from '../chain/condition.js';
import { hasEnded } from '../chain/outcome.js';
import { automaticRetrySeconds } from '../chain/retry.js';
import { shownTime, summaryOf } from '../chain/summary.js';
import type { RulePolicy } from '../contract/activities.js';
import type { NoticeKind } from '../notices/chain-notice.js';
import type { Board } from './board.js';
import { checkCondition, type Doing, type Done, type Effort, perform } from './effects.js';
import { look } from './look.js';
import { waitOut, windowEnd } from './pause.js';

/** What a sequence works with. */
export interface Floor {
  chain: Chain;
  board: Board;
  /** Asks that people be told; never waits. */
  notice(kind: NoticeKind, index: number): void;
  /** Tells whoever looks at the chain of a signal that had no effect, with why. */
  ignored(signal: string): void;
  /** What people decided about held actions; taken out when acted upon. */
  decisions: Map<number, Decision>;
  /** How to cancel the actions under way, one by one; with the name of who wants it. */
  cancels: Map<number, (by: string) => void>;
  /**
   * Whether nothing else goes on in the workflow, so that a local activity is safe. Temporal may tell the workflow of its end only after later events, where
   * somebody asks the workflow at that moment, but before them when the history is replayed: what these had brought about would then stand in another order.
   */
  quiet(): boolean;
  /** How often it was told that a pause has ended. */
  resumes: number;
  /** Since when one local try may have followed the other, in Unix milliseconds. */
  localSince: number;
}

/** So long queries, signals and a cancel wait for a row of slow local tries at most, beside the last try: then an ordinary activity lets them in. */
const longestLocalMs = 2000;

/** A person's word on a held action. */
export type Decision = { kind: 'retry' } | { kind: 'skip'; by?: string };

/** Runs the actions strictly in order. `actions` may lose members meanwhile. Throws only the cancellation of the workflow. */
export async function runSequence(actions: ChainAction[], floor: Floor): Promise<void> {
  floor.localSince = Date.now();
  for (let action = actions.shift(); action; action = actions.shift()) {
    if (hasEnded(floor.board.of(action.index).state)) continue;
    const gaveUp = await runAction(action, floor);
    if (gaveUp === undefined) continue;
    // Those behind it first: a chain is told of its delayed actions as soon as one has failed, and a retry then does them all.
    for (const { index } of actions.splice(0)) {
      if (!hasEnded(floor.board.of(index).state))
        end(floor, index, { state: 'not-run', reason: `action ${action.index} before it failed` });
    }
    end(floor, action.index, { state: 'failed', reason: gaveUp });
    floor.notice('gave-up', action.index);
  }
}

/** Runs one action to its end. @returns why it is to end `failed`, and what stands behind it `not-run`; undefined: that goes on. */
async function runAction(action: ChainAction, floor: Floor): Promise<string | undefined> {
  const scope = new CancellationScope();
  let by: string | undefined;
  floor.cancels.set(action.index, (who) => {
    by = who;
    scope.cancel();
  });
  try {
    return await scope.run(() => runToEnd(action, floor));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    end(floor, action.index, {
      state: reachedSome(action, floor) ? 'partly-failed' : 'cancelled',
      ...(by && { reason: `cancelled by ${by}` }),
    });
    if (CancellationScope.current().consideredCancelled) throw error;
    return undefined;
  } finally {
    floor.cancels.delete(action.index);
    floor.decisions.delete(action.index);
  }
}

async function runToEnd(action: ChainAction, floor: Floor): Promise<string | undefined> {
  const { board } = floor;
  const hold = new Hold(action, floor);
  let effort: Effort = 'budget';
  for (;;) {
    // The relay's own try leaves a held action held: people may still decide, and a chain is told nothing new of its delayed actions.
    const held = effort === 'once' && board.of(action.index).state === 'needs-attention';
    const begun = { state: 'running', startedAt: now(), heldUntil: undefined, reason: undefined } as const;
    board.update(action.index, { ...(!held && begun), nextAttemptAt: undefined });
    const done = await attempt(action, floor, effort);
    const paused = done.failure?.paused;
    const before = board.of(action.index).attempts ?? 0;
    board.update(action.index, {
      attempts: before + done.attempts,
      ...(done.failure && !paused && { error: trouble(done.failure) }),
    });

    // What is held already stays so: people may still decide.
    if (paused && (!held || reachedSome(action, floor))) {
      await waitOut(action, floor, paused);
      continue;
    }
    if (!done.failure) {
      if (done.skipped !== undefined)
        end(floor, action.index, { state: reachedSome(action, floor) ? 'partly-failed' : 'skipped', reason: done.skipped });
      else
        end(floor, action.index, {
          state: 'done',
          ...(done.recipients !== undefined && { result: { recipients: done.recipients } }),
        });
      if (effort === 'once') floor.notice('recovered', action.index);
      return undefined;
    }
    if (reachedSome(action, floor)) {
      end(floor, action.index, { state: 'partly-failed', reason: done.failure.message });
      floor.notice('partly-failed', action.index);
      return undefined;
    }
    const policy = await readPolicy(action, floor);
    if (policy.skips !== undefined) {
      end(floor, action.index, { state: 'skipped', reason: policy.skips });
      if (effort === 'once') floor.notice('recovered', action.index);
      return undefined;
    }
    if (policy.onFailure === 'continue' && !paused) {
      end(floor, action.index, { state: 'failed', reason: done.failure.message });
      floor.notice('failed', action.index);
      return undefined;
    }

    const next = await hold.untilDecided(done.failure, policy, effort);
    if (next === 'skip') return undefined;
    if (typeof next === 'object') return next.gaveUp;
    effort = next;
  }
}

/** One try: the condition, then the effect. */
async function attempt(action: ChainAction, floor: Floor, effort: Effort): Promise<Done> {
  const { board, chain } = floor;
  if (action.cannotSchedule) return dataMistake(action.cannotSchedule);
  const local = effort === 'budget' && floor.quiet() && Date.now() - floor.localSince < longestLocalMs;
  if (!local) floor.localSince = Date.now();
  const doing: Doing = {
    chain,
    action,
    effort,
    local,
    deliveries: board.of(action.index).deliveries ?? [],
    earlierAttempts: board.of(action.index).attempts ?? 0,
    onDelivered: (deliveries) => board.update(action.index, { deliveries }),
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
  if (action.invalidData) return dataMistake(action.invalidData);
  return perform(doing);
}

/** The relay's own tries leave the larger part of what Temporal allows, 50 MiB and 51,200 events, to people. */
const longestHistory = { bytes: 20_000_000, events: 20_000 };

/** A held action: who may end the hold, and when. */
class Hold {
  #heldSince = 0;
  #heldUntil = 0;
  #automaticRetries = 0;
  /** Whether people know that the relay goes on trying by itself. */
  #goesOn = false;

  constructor(
    private readonly action: ChainAction,
    private readonly floor: Floor,
  ) {}

  /** Holds until there is something to do next. A person's failed retry begins a new window and is noticed; an automatic one does neither. */
  async untilDecided(failure: Trouble, policy: RulePolicy, after: Effort): Promise<Effort | 'skip' | { gaveUp: string }> {
    const { action, floor } = this;
    if (after === 'budget') {
      this.#heldSince = Date.now();
      this.#heldUntil = this.#heldSince + floor.chain.attentionWindowSeconds * 1000;
      this.#automaticRetries = 0;
    }
    // A history that grew for days by large messages would be ended by the server.
    const { historySize, historyLength } = workflowInfo();
    const roomy = historySize < longestHistory.bytes && historyLength < longestHistory.events;
    const automatic = roomy && (failure.retryable || failure.paused) && !(failure.unknown && policy.onUnknown === 'hold');
    const wait = Math.max(automaticRetrySeconds(this.#automaticRetries + 1), failure.retryAfterSeconds ?? 0) * 1000;
    const left = Math.max(0, this.#heldUntil - Date.now());
    const tries = automatic && wait < left;
    floor.board.update(action.index, {
      state: 'needs-attention',
      heldUntil: iso(this.#heldUntil),
      nextAttemptAt: tries ? iso(Date.now() + wait) : undefined,
    });
    // People are told again where they rely on the relay's own tries and these end.
    if (after === 'budget' || (this.#goesOn && !automatic)) floor.notice('needs-attention', action.index);
    this.#goesOn = Boolean(automatic);

    const next = tries
      ? `held, tried again at ${shownTime(iso(Date.now() + wait))}`
      : `held until ${shownTime(iso(this.#heldUntil))}`;
    const summary = summaryOf([action], next);
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
    this.#heldUntil = await windowEnd(floor, this.#heldSince);
    if (this.#heldUntil > Date.now() || floor.decisions.has(action.index)) return this.untilDecided(failure, policy, 'once');
    return { gaveUp: `nobody decided until ${shownTime(iso(this.#heldUntil))}` };
  }
}

/** Whether an e-mail has reached somebody, in this try or an earlier one. */
function reachedSome({ index }: ChainAction, { board }: Floor): boolean {
  return board.of(index).deliveries?.some(({ sent }) => sent) ?? false;
}

/** Ends an action: the facts of a hold or a wait go, the last error stays. */
export function end(floor: Pick<Floor, 'board'>, index: number, change: Parameters<Board['update']>[1]): void {
  const over = { heldUntil: undefined, nextAttemptAt: undefined, pausedSince: undefined, reason: undefined };
  floor.board.update(index, { ...over, endedAt: now(), ...change });
}

/** The rule's policy now; where it cannot be read, an action is rather held than passed over. */
async function readPolicy(action: ChainAction, floor: Floor): Promise<RulePolicy> {
  const { chain } = floor;
  try {
    const { readPolicy } = look(floor, summaryOf([action], `does rule ${action.relayId} hold or continue?`));
    return await readPolicy({ companyId: chain.companyId, relayId: action.relayId });
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
