/** What an action waits for: people, while it is held; or where nothing was tried, which costs no attempt, a pause or a while. */

import type { ActionError } from '../chain/action-status.js';
import { hasEnded } from '../chain/outcome.js';
import { type Connector, type Pauses, pauseOf, pauseText } from '../chain/pause.js';
import { automaticRetrySeconds } from '../chain/retry.js';
import { historyFull } from '../chain/room.js';
import { shownTime } from '../chain/web-ui.js';
import type { RulePolicy } from '../contract/activities.js';
import type { ActionRun, RetryMode } from './action-run.js';
import { wasTried } from './failures.js';

/** A wait in one piece: that no worker ran is known by a timer which is late. Part of the replay contract. */
const longestWaitMs = 6 * 3600 * 1000;

/** By so much a timer is late where workers are only busy. Part of the replay contract. */
const busyMs = 60_000;

export class Hold {
  /** Unix milliseconds. */
  #heldSince = 0;
  #heldUntil = 0;
  /** Milliseconds of the window in which no worker ran. */
  #away = 0;
  #automaticRetries = 0;
  /** Whether people know that the relay goes on trying by itself. */
  #goesOn = false;

  constructor(private readonly run: ActionRun) {}

  /**
   * A person's failed retry begins a new window and is noticed; an automatic one does neither.
   * @returns how to try again; undefined: the action has ended.
   */
  async untilDecided(failure: ActionError, policy: RulePolicy, after: RetryMode): Promise<RetryMode | undefined> {
    const { run } = this;
    const { lock } = run;
    if (after === 'budget') {
      this.#heldSince = lock.now;
      this.#heldUntil = lock.now + run.chain.attentionWindowSeconds * 1000;
      this.#away = 0;
      this.#automaticRetries = 0;
    }
    const { isFull, hasRoomForOwn } = run.states;
    const automatic =
      hasRoomForOwn && (failure.retryable || !wasTried(failure)) && !(failure.unknown && policy.onUnknown === 'hold');
    const wait = Math.max(automaticRetrySeconds(this.#automaticRetries + 1), failure.retryAfterSeconds ?? 0) * 1000;
    const left = Math.max(0, this.#heldUntil - lock.now);
    const tries = automatic && wait < left;
    const heldUntil = new Date(this.#heldUntil).toISOString();
    const nextAttemptAt = tries ? run.lock.time(wait) : undefined;
    run.update({ state: 'needs-attention', heldUntil, nextAttemptAt, reason: isFull ? historyFull : undefined });
    // People hear of it again where they rely on the relay's own tries and these end.
    if (after === 'budget' || (this.#goesOn && !automatic)) run.notify('needs-attention');
    this.#goesOn = automatic;

    const next = nextAttemptAt ? `held, tried again at ${shownTime(nextAttemptAt)}` : `held until ${shownTime(heldUntil)}`;
    if (!run.decision) this.#extend(await run.wait(tries ? wait : Math.min(left, longestWaitMs), next));
    const { decision } = run;
    run.decision = undefined;
    if (decision?.verb === 'retry') return 'budget';
    if (decision?.verb === 'mend') {
      const when = await run.mend(decision.mends);
      if (when) return when === 'now' ? 'budget' : undefined;
      return this.untilDecided(failure, policy, 'once');
    }
    if (decision) {
      run.end({ state: 'skipped', reason: `skipped by ${decision.by}` });
      return undefined;
    }
    if (tries) {
      this.#automaticRetries += 1;
      return 'once';
    }
    if (this.#heldUntil <= lock.now) this.#heldUntil = await windowEnd(run, this.#heldSince, this.#away);
    if (this.#heldUntil > lock.now || run.decision) return this.untilDecided(failure, policy, 'once');
    this.#giveUp();
    return undefined;
  }

  /** Time without workers counts in no window. */
  #extend(lateMs: number): void {
    if (lateMs < busyMs) return;
    this.#away += lateMs;
    this.#heldUntil += lateMs;
  }

  #giveUp(): void {
    const { run } = this;
    // Those behind it first: a chain hears of its delayed actions as soon as one has failed, and a retry then does them all.
    for (const { index } of run.behind)
      if (!hasEnded(run.states.of(index).state))
        run.states.end(index, { state: 'not-run', reason: `action ${run.action.index} before it failed` });
    const until = shownTime(new Date(this.#heldUntil).toISOString());
    run.end({ state: 'failed', reason: `nobody decided until ${until}` }, 'gave-up');
  }
}

/**
 * Seconds between two looks at a pause, which somebody may end without telling the workflow: 30 at first, doubled up to this.
 * Part of the replay contract.
 */
function longestLook({ states }: ActionRun): number {
  return states.hasRoomForOwn ? 600 : 24 * 3600;
}

/** Waits 1 second, 2, 4, … 120 by the number of waits in a row, and up to as many more, so that not all come at once. */
export async function waitAWhile(run: ActionRun, reason: string): Promise<void> {
  const wait = Math.round(Math.min(2 ** (run.waits - 1), 120) * 1000 * (1 + Math.random()));
  const nextAttemptAt = run.lock.time(wait);
  run.update({ state: 'pending', reason, nextAttemptAt });
  await run.wait(wait, `not tried, tries again at ${shownTime(nextAttemptAt)}`);
}

/** Waits until the connector is paused no longer; no attention window runs out meanwhile. */
export async function waitForPauseEnd(run: ActionRun, connector: Connector): Promise<void> {
  const since = run.lock.time();
  for (let seconds = 30; ; seconds = Math.min(2 * seconds, longestLook(run))) {
    const { current } = await readPauses(run, since, connector);
    const pause = pauseOf(current, connector);
    if (!pause) break;
    const left = pause.until === undefined ? longestLook(run) : Math.max(1, (Date.parse(pause.until) - run.lock.now) / 1000);
    const wait = Math.min(seconds, left) * 1000;
    const nextAttemptAt = run.lock.time(wait);
    run.update({ state: 'pending', pausedSince: since, reason: pauseText(pause), nextAttemptAt });
    run.waitsForPause = true;
    await run.wait(wait, `${connector} paused, looks again at ${shownTime(nextAttemptAt)}`);
    run.waitsForPause = false;
  }
  run.update({ pausedSince: undefined, reason: undefined, nextAttemptAt: undefined });
}

/** @returns when an attention window ends, in Unix milliseconds: later by the time that was paused or without workers, and not during a pause. */
async function windowEnd(run: ActionRun, since: number, away: number): Promise<number> {
  const { current, seconds } = await readPauses(run, new Date(since).toISOString());
  const end = since + away + (run.chain.attentionWindowSeconds + seconds) * 1000;
  return current.length > 0 ? Math.max(end, run.lock.now + longestLook(run) * 1000) : end;
}

/** Where nobody can say, what waits rather goes on waiting. */
function readPauses(run: ActionRun, since: string, connector?: Connector): Promise<Pauses> {
  const { companyId, relayId } = run.ref;
  const waiting = connector && { relayId, connector };
  const unknown = { what: 'all', since, reason: 'the relay cannot read whether this has ended' } as const;
  return run.ask(
    connector ? `is the ${connector} still paused?` : 'how long was the company paused?',
    (activities) => activities.readPauses({ companyId, since, waiting }),
    { current: [unknown], seconds: 0 },
  );
}
