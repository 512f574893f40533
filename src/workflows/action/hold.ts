/** A held action waits until somebody decides, the relay tries it again, or the attention window ends. */

import type { ActionError } from '../../chain/action-status.js';
import { historyFull } from '../../chain/allowed-verbs.js';
import type { Later } from '../../chain/attempt.js';
import { type Hold, isTriedAgain } from '../../chain/hold.js';
import { longestLook } from '../../chain/pause.js';
import { shownTime } from '../../chain/web-ui.js';
import type { RulePolicy } from '../../contract/activities.js';
import type { Act } from './act.js';
import { readPauses } from './pause.js';

/** @returns `retry` if a person wants new attempts with the full retry budget, or `own` if the relay itself tries once. */
export async function untilDecided(
  act: Act,
  hold: Hold,
  failure: ActionError,
  { onUnknown }: RulePolicy,
): Promise<'retry' | 'own' | 'ended' | 'given-up' | Later> {
  const { engine, states } = act;
  for (;;) {
    const decided = await decide(act);
    if (decided) return decided;
    const automatic = states.hasRoomForOwn && isTriedAgain(failure, onUnknown);
    const { tries, wait } = hold.next(engine.now, failure, automatic);
    const heldUntil = new Date(hold.until).toISOString();
    const nextAttemptAt = tries ? engine.time(wait) : undefined;
    act.update({ state: 'needs-attention', heldUntil, nextAttemptAt, reason: states.isFull ? historyFull : undefined });
    // People may rely on the relay's own tries, so they get another notice when these tries end.
    if (hold.goesOn === undefined || (hold.goesOn && !automatic)) act.notify('needs-attention');
    hold.goesOn = automatic;

    const next = nextAttemptAt ? `, next try at ${shownTime(nextAttemptAt)}` : ` until ${shownTime(heldUntil)}`;
    hold.late(await act.wait(wait, `needs attention${next}`));
    if (act.decision) continue;
    if (tries) {
      hold.tries += 1;
      return 'own';
    }
    if (hold.until <= engine.now) {
      const { current, seconds } = await readPauses(act, new Date(hold.since).toISOString());
      // The attention window never ends during a pause.
      hold.paused(seconds, current.length > 0 ? engine.now + longestLook(states.hasRoomForOwn) * 1000 : undefined);
    }
    if (hold.until <= engine.now && !act.decision) return 'given-up';
  }
}

/** Applies the decision, if any. @returns undefined if there is no decision, or if the decision has no effect. */
export async function decide(act: Act): Promise<'retry' | 'ended' | Later | undefined> {
  const { decision } = act;
  act.decision = undefined;
  if (decision?.verb === 'retry') return 'retry';
  if (decision?.verb === 'skip') {
    act.end({ state: 'skipped', reason: `skipped by ${decision.by}` });
    return 'ended';
  }
  return decision && act.mend(decision.mends);
}
