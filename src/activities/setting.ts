/** The company and the rule of an action as they stand now, and how an activity calls an outside system. */

import { activityInfo } from '@temporalio/activity';
import { type Chain, idempotencyKey } from '../chain/chain.js';
import type { Call } from '../connectors/call.js';
import type { Company, Rule } from '../store/store.js';
import type { ActionRef } from './activities.js';
import type { Deps } from './deps.js';
import { mistake, useOrdinary } from './failure.js';

export interface Setting {
  company: Company;
  rule: Rule;
}

/**
 * Reads the company and the rule.
 * @returns what to do it with; or why nothing is to be done: the rule is disabled, or gone.
 * @throws ApplicationFailure `ConfigurationMistake` where the company is gone; `UseOrdinary` where the rule forbids a local try.
 */
export async function readSetting(
  { store }: Pick<Deps, 'store'>,
  { companyId, relayId }: ActionRef,
): Promise<Setting | { skipped: string }> {
  const [company, rule] = await Promise.all([store.companies.get(companyId), store.rules.get(companyId, relayId)]);
  if (!company) throw mistake('ConfigurationMistake', `there is no company ${companyId} any more: make it again, then retry`);
  if (!rule) return { skipped: `there is no rule ${relayId} any more` };
  if (!rule.enabled) return { skipped: `rule ${relayId} is disabled` };
  if (rule.onUnknown === 'hold' && activityInfo().isLocal) throw useOrdinary();
  return { company, rule };
}

/** A call that ends before the activity's time is over, under the key of the action's effect. */
export function effectCall(ref: Pick<Chain, 'companyId' | 'chainId'> & { index: number }): Call {
  return { idempotencyKey: idempotencyKey(ref, ref.index), timeoutMs: callTimeout() };
}

/** Milliseconds for one call: what the activity has, less what reading the settings and answering takes; at most 20 seconds. */
export function callTimeout(): number {
  return Math.min(activityInfo().startToCloseTimeoutMs - 300, 20_000);
}
