/** What all effects have in common: settings as they stand now, a call under the action's key, the report of a failure. */

import { activityInfo } from '@temporalio/activity';
import { idempotencyKey } from '../chain/chain.js';
import type { Connector } from '../chain/connector.js';
import type { Call } from '../connectors/call.js';
import type { ActionRef, EffectResult } from '../contract/activities.js';
import type { Company } from '../contract/company.js';
import { type ActionContext, assertNotPaused, callTimeoutMs, earlierAttemptLost, readActionContext } from './action-context.js';
import type { Deps } from './deps.js';
import { effectFailure, lostAttempt, useOrdinary } from './failure.js';

/**
 * Makes the activity of an effect.
 * @param connector - the outside system that `act` calls.
 * @param act - does it with one call; may throw an ApplicationFailure of its own.
 * @returns the activity. Its result says `skipped` where the rule is disabled or gone. It throws ApplicationFailures: those of
 * `readActionContext` and `effectFailure`, `Paused`, and in a local try `UseOrdinary`; under a rule with `onUnknown: "hold"` also
 * `OutcomeUnknown` where an earlier attempt was lost.
 */
export function effectActivity<Input extends ActionRef>(
  deps: Pick<Deps, 'store' | 'localTries'>,
  connector: Connector,
  act: (input: Input, company: Company, call: Call) => Promise<{ recipients?: number } | undefined>,
): (input: Input) => Promise<EffectResult> {
  return async (input) => {
    const begun = Date.now();
    const result = () => ({ attempts: activityInfo().attempt, tookMs: Date.now() - begun });
    const context = await readActionContext(deps, input);
    if ('skipped' in context) return { ...result(), skipped: context.skipped };
    assertMayTry(context, connector);
    const { company, rule } = context;
    try {
      const call = { idempotencyKey: idempotencyKey(input, input.index), timeoutMs: callTimeoutMs() };
      const done = await deps.localTries.run(company.companyId, connector, () => act(input, company, call));
      return { ...done, ...result() };
    } catch (error) {
      throw effectFailure(connector, error, input, { once: rule.onUnknown === 'hold' });
    }
  };
}

/** A lost attempt comes before a pause: a person has to look at what it did, and a pause says that nothing was tried. */
function assertMayTry({ rule, pauses }: ActionContext, connector: Connector): void {
  const once = rule.onUnknown === 'hold';
  if (once && earlierAttemptLost()) throw lostAttempt();
  assertNotPaused(pauses, connector);
  if (once && activityInfo().isLocal) throw useOrdinary('the rule says onUnknown: "hold"', false);
}
