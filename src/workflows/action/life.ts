/** Runs one action from its turn to its end. Comments in the code name the action's states (see docs/how-it-works.md). */

import type { Later } from '../../chain/attempt.js';
import { Hold } from '../../chain/hold.js';
import { reachedSome, wasTried } from '../../chain/outcome.js';
import { shownTime } from '../../chain/web-ui.js';
import type { RulePolicy } from '../../contract/activities.js';
import type { Act } from './act.js';
import { decide, untilDecided } from './hold.js';
import { pauseEnd } from './pause.js';
import { tryAction } from './tries.js';

/** @returns the new due time if the action must wait, or undefined if the action has ended. */
export async function live(act: Act): Promise<Later | undefined> {
  const { states, engine } = act;
  let made = 0; // the number of attempts before the latest waits; these attempts count toward the retry budget
  let waits = 0; // consecutive waits without a try
  /** The current hold. After a person's decision, the next failure begins a new hold. */
  let hold: Hold | undefined;
  let policy: RulePolicy | undefined;
  let own = false; // whether the relay tries a held action by itself

  for (;;) {
    // pending: first applies decisions that arrived before the action's turn, or during a wait.
    const early = await decide(act);
    if (early === 'ended') return undefined;
    if (typeof early === 'object') return early;

    // running: the try begins. But if the relay itself tries a held action, the state stays needs-attention, without a notice.
    const isHeld = own && act.status.state === 'needs-attention';
    const begun = { state: 'running', startedAt: engine.time(), heldUntil: undefined, reason: undefined } as const;
    act.update({ ...(!isHeld && begun), nextAttemptAt: undefined });
    const { attempts, failure, skipped, recipients, note } = await tryAction(act, { own, made, waits });
    const tried = !failure || wasTried(failure);
    act.update({ attempts: (act.status.attempts ?? 0) + attempts, ...(failure && tried && { error: failure }) });

    // pending: nothing was tried now. The action waits for the end of the pause, or for some time.
    if (!tried && (!isHeld || reachedSome(act.status)) && (failure.paused || states.hasRoomForOwn)) {
      made += attempts;
      waits += 1;
      const later = failure.paused ? await pauseEnd(act, failure.paused) : await waitAWhile(act, waits, failure.message);
      if (later) return later;
      continue;
    }
    made = 0;
    waits = 0;

    // done, skipped, partly-failed
    const recovered = own ? 'recovered' : undefined;
    if (skipped !== undefined)
      return act.end({ state: reachedSome(act.status) ? 'partly-failed' : 'skipped', reason: skipped }, recovered);
    const result = recipients === undefined && note === undefined ? undefined : { recipients, note };
    if (!failure) return act.end({ state: 'done', ...(result && { result }) }, recovered);
    const { message: reason } = failure;
    if (reachedSome(act.status)) return act.end({ state: 'partly-failed', reason }, 'partly-failed');

    // failed, if the rule says `onFailure: "continue"`; the later actions then run
    if (!own || !policy) policy = await policyOf(act);
    if (policy.skips !== undefined) return act.end({ state: 'skipped', reason: policy.skips }, recovered);
    if (policy.onFailure === 'continue' && tried) return act.end({ state: 'failed', reason }, 'failed');

    // needs-attention, until somebody decides or the window ends
    if (!own || !hold) hold = new Hold(engine.now, act.chain.attentionWindowSeconds);
    const decided = await untilDecided(act, hold, failure, policy);
    if (decided === 'given-up') return giveUp(act, hold);
    if (decided === 'ended') return undefined;
    if (typeof decided === 'object') return decided;
    own = decided === 'own';
  }
}

/** Each consecutive wait is longer: 1, 2, 4, … 120 seconds. To spread the load, adds a random time of up to the same length. */
async function waitAWhile(act: Act, waits: number, reason: string): Promise<undefined> {
  const wait = Math.round(Math.min(2 ** (waits - 1), 120) * 1000 * (1 + Math.random()));
  const nextAttemptAt = act.engine.time(wait);
  act.update({ state: 'pending', reason, nextAttemptAt });
  await act.wait(wait, `not tried, next try at ${shownTime(nextAttemptAt)}`);
}

/** Reads the rule before the action is held. Waits if the rule cannot be read, because the rule may say `onFailure: "continue"`. */
async function policyOf(act: Act): Promise<RulePolicy> {
  const { companyId, relayId } = act.ref;
  const asks = act.summary(`does rule ${relayId} hold or continue?`);
  for (let waits = 1; ; waits += 1) {
    const policy = await act.ask(asks, (activities) => activities.readPolicy({ companyId, relayId }), undefined);
    if (policy) return policy;
    if (!act.states.hasRoomForOwn) return { onFailure: 'hold', onUnknown: 'hold' };
    await waitAWhile(act, waits, 'the relay cannot read whether the rule says hold or continue');
  }
}

function giveUp(act: Act, hold: Hold): undefined {
  // First end the later actions. After `act.end`, a retry may come. The retry needs the final states of the later actions.
  const notRun = { state: 'not-run', reason: `action ${act.action.index} before it failed` } as const;
  for (const { index } of act.behind) if (!act.states.hasEnded(index)) act.states.end(index, notRun);
  const until = shownTime(new Date(hold.until).toISOString());
  act.end({ state: 'failed', reason: `nobody decided until ${until}` }, 'gave-up');
}
