/** What all effects have in common: settings as they stand now, a call under the action's key, the report of a failure. */

import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { idempotencyKey } from '../chain/chain.js';
import { type Connector, type Pause, pauseOf, pauseText } from '../chain/pause.js';
import type { Call } from '../connectors/call.js';
import type { ActionRef, EffectResult } from '../contract/activities.js';
import type { Company } from '../contract/company.js';
import type { Rule } from '../contract/rule.js';
import type { CompanySettings } from '../store/settings.js';
import type { Deps } from './deps.js';
import { effectFailure, lostAttempt, mistake, notTried, paused, useOrdinary } from './failure.js';

/**
 * Makes the activity of an effect.
 * @param connector - the outside system that `act` calls.
 * @param act - does it with one call; may throw an ApplicationFailure of its own.
 * @returns the activity. Its result says `skipped` where the rule is disabled or gone. It throws ApplicationFailures: those of
 * `readActionContext`, `InFlight.run` and `effectFailure`, `Paused`, and in a local try `UseOrdinary`; under a rule with `onUnknown: "hold"` also
 * `OutcomeUnknown` where an earlier attempt was lost.
 */
export function effectActivity<Input extends ActionRef>(
  deps: Pick<Deps, 'store' | 'inFlight' | 'log'>,
  connector: Connector,
  act: (input: Input, company: Company, call: Call) => Promise<{ recipients?: number } | undefined>,
): (input: Input, begun?: number) => Promise<EffectResult> {
  return async (input, activityBegun) => {
    const begun = Date.now();
    const result = () => ({ attempts: activityInfo().attempt, tookMs: Date.now() - begun });
    const context = await readActionContext(deps, input);
    if ('skipped' in context) return { ...result(), skipped: context.skipped };
    assertMayTry(context, connector);
    const { company, rule } = context;
    try {
      const call = { idempotencyKey: idempotencyKey(input, input.index), timeoutMs: callTimeoutMs(activityBegun) };
      const done = await deps.inFlight.run(company.companyId, connector, () => act(input, company, call));
      return { ...done, ...result() };
    } catch (error) {
      throw effectFailure(connector, error, input, { once: rule.onUnknown === 'hold' });
    }
  };
}

/**
 * Under `onUnknown: "hold"` Temporal repeats an attempt only where it was lost. That comes before a pause: a person has to look at
 * what it did, and a pause says that nothing was tried.
 */
function assertMayTry({ rule, pauses }: ActionContext, connector: Connector): void {
  const once = rule.onUnknown === 'hold';
  if (once && activityInfo().attempt > 1) throw lostAttempt();
  assertNotPaused(pauses, connector);
  if (once && activityInfo().isLocal) throw useOrdinary('the rule says onUnknown: "hold"', false);
}

export interface ActionContext {
  company: Company;
  rule: Rule;
  /** The company's pauses that are on. */
  pauses: readonly Pause[];
}

/** Reading and one call fit into an activity's 30 seconds, so that a database that hangs does not look like a lost effect. */
const longestReadMs = 8_000;

/**
 * Reads the company, the rule and the pauses; or why nothing is to be done, because the rule is disabled or gone.
 * @throws ApplicationFailure `ConfigurationMistake` where the company is gone, `NotTried` where they cannot be read.
 */
export async function readActionContext(
  { store, log }: Pick<Deps, 'store' | 'log'>,
  { companyId, relayId }: ActionRef,
): Promise<ActionContext | { skipped: string }> {
  const wantsLook = ({ rules, pauses }: CompanySettings) => !rules.get(relayId)?.enabled || pauses.length > 0;
  const read = async () => {
    const settings = await store.settings.of(companyId);
    if (settings && !wantsLook(settings)) return settings;
    // What keeps the effect from being tried may have been changed by another process a moment ago.
    await store.settings.refresh();
    return store.settings.of(companyId);
  };
  const longest = Math.min(callTimeoutMs(), longestReadMs);
  const tooLate = sleep(longest).then(() => {
    throw new Error('no answer in time');
  });
  const settings = await Promise.race([read(), tooLate]).catch((error: unknown) => {
    log.warn({ err: error, companyId, relayId }, 'an effect waits: the settings of its company cannot be read');
    throw notTried("the relay's own database does not answer: see `relay health`");
  });
  if (!settings) throw mistake('ConfigurationMistake', `there is no company ${companyId} any more: make it again, then retry`);
  const { company, pauses } = settings;
  const rule = settings.rules.get(relayId);
  return rule?.enabled ? { company, rule, pauses } : { skipped: skipReason(rule, relayId) };
}

/** Why nothing is done for a rule that is disabled, or gone. */
export function skipReason(rule: Rule | undefined, relayId: string): string {
  return rule ? `rule ${relayId} is disabled` : `there is no rule ${relayId} any more`;
}

/** @throws ApplicationFailure `Paused` */
export function assertNotPaused(pauses: readonly Pause[], connector: Connector): void {
  const pause = pauseOf(pauses, connector);
  if (pause) throw paused(connector, pauseText(pause));
}

/**
 * Milliseconds for one call: what the activity has, less what reading the settings and answering takes; at most 20 seconds.
 * @param begun - when the activity began, in Unix milliseconds, if it has done something else before.
 */
export function callTimeoutMs(begun = Date.now()): number {
  return Math.min(begun + activityInfo().startToCloseTimeoutMs - 300 - Date.now(), 20_000);
}
