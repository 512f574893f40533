/** The company and the rule of an action as they stand now, and how an activity calls an outside system. */

import { activityInfo, Context } from '@temporalio/activity';
import { z } from 'zod';
import { type Chain, idempotencyKey } from '../chain/chain.js';
import { type Connector, type Pause, pauseOf, pauseText } from '../chain/pause.js';
import type { Call } from '../connectors/call.js';
import type { ActionRef } from '../contract/activities.js';
import { withTimeout } from '../service/with-timeout.js';
import type { Company, Rule } from '../store/store.js';
import type { Deps } from './deps.js';
import { lostAttempt, mistake, paused, useOrdinary } from './failure.js';

export interface ActionContext {
  company: Company;
  rule: Rule;
}

/**
 * Reads the company and the rule.
 * @returns what to do it with; or why nothing is to be done: the rule is disabled, or gone.
 * @param connector - what the effect needs.
 * @throws ApplicationFailure `ConfigurationMistake` where the company is gone; `Paused` where the connector is paused; and where the rule says
 * `onUnknown: "hold"`, `UseOrdinary` in a local try and `OutcomeUnknown` where an attempt was lost.
 */
export async function readActionContext(
  deps: Pick<Deps, 'store'>,
  ref: ActionRef,
  connector: Connector,
): Promise<ActionContext | { skipped: string }> {
  const stored = await readStoredContext(deps, ref);
  if ('skipped' in stored) return stored;
  const { rule, pauses } = stored;
  if (rule.onUnknown === 'hold' && earlierAttemptLost()) throw lostAttempt();
  assertNotPaused(pauses, connector);
  if (rule.onUnknown === 'hold' && activityInfo().isLocal) throw useOrdinary();
  return stored;
}

/** The company, the rule and the pauses; or why nothing is to be done. @throws ApplicationFailure `ConfigurationMistake` where the company is gone. */
export async function readStoredContext(
  { store }: Pick<Deps, 'store'>,
  { companyId, relayId }: ActionRef,
): Promise<(ActionContext & { pauses: Pause[] }) | { skipped: string }> {
  const reading = Promise.all([
    store.companies.get(companyId),
    store.rules.get(companyId, relayId),
    store.pauses.current(companyId),
  ]);
  const [company, rule, pauses] = await withTimeout(
    Math.min(callTimeout(), longestReadMs),
    reading,
    "the relay's own database did not answer in time",
  ).catch((error: unknown) => {
    const { isLocal, attempt } = activityInfo();
    if (!isLocal) Context.current().heartbeat({ untouched: attempt } satisfies z.infer<typeof untouchedSchema>);
    throw error;
  });
  if (!company) throw mistake('ConfigurationMistake', `there is no company ${companyId} any more: make it again, then retry`);
  return rule?.enabled ? { company, rule, pauses } : { skipped: skipReason(rule, relayId) };
}

/** Why nothing is done for a rule that is disabled, or gone. */
export function skipReason(rule: Rule | undefined, relayId: string): string {
  return rule ? `rule ${relayId} is disabled` : `there is no rule ${relayId} any more`;
}

/**
 * So that the settings and one call fit into an activity's 30 seconds, and a database that hangs does not look like an effect of which nobody knows whether
 * it was done, as the activity's own time-out would.
 */
const longestReadMs = 8_000;

/** What an attempt that ended before it had done anything leaves to the next by its heartbeat: its number. */
const untouchedSchema = z.object({ untouched: z.number() });

/** Whether there was an attempt whose end nobody knows: under `onUnknown: "hold"` every failure of an effect ends its activity. */
function earlierAttemptLost(): boolean {
  const { attempt, heartbeatDetails } = activityInfo();
  return attempt > 1 && untouchedSchema.safeParse(heartbeatDetails).data?.untouched !== attempt - 1;
}

/** @throws ApplicationFailure `Paused` */
export function assertNotPaused(pauses: readonly Pause[], connector: Connector): void {
  const pause = pauseOf(pauses, connector);
  if (pause) throw paused(connector, pauseText(pause));
}

/** A call that ends before the activity's time is over, under the key of the action's effect. */
export function effectCall(ref: Pick<Chain, 'companyId' | 'chainId'> & { index: number }): Call {
  return { idempotencyKey: idempotencyKey(ref, ref.index), timeoutMs: callTimeout() };
}

/** Milliseconds for one call: what the activity has, less what reading the settings and answering takes; at most 20 seconds. */
export function callTimeout(): number {
  return Math.min(activityInfo().startToCloseTimeoutMs - 300, 20_000);
}
