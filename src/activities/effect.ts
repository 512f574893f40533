/** What all effects have in common: settings as they stand now, a call under the action's key, the report of a failure. */

import { activityInfo } from '@temporalio/activity';
import { idempotencyKey } from '../chain/chain.js';
import { type Connector, type Pause, pauseOf, pauseText } from '../chain/pause.js';
import type { Call } from '../connectors/call.js';
import type { Connectors } from '../connectors/connectors.js';
import type { ActionRef, EffectResult } from '../contract/activities.js';
import type { Company } from '../contract/company.js';
import { DecryptionError } from '../contract/encryption.js';
import type { Rule } from '../contract/rule.js';
import type { DeliveryDeps } from '../notices/deliver.js';
import type { Tracing } from '../service/tracing.js';
import type { CompanySettings } from '../store/settings.js';
import type { Store } from '../store/store.js';
import { effectFailure, mistake, notTried, useOrdinary } from './failure.js';
import type { InFlight } from './in-flight.js';
import { stopwatch } from './stopwatch.js';

/** What the activities work with; made once by each worker. */
export interface Deps extends DeliveryDeps {
  store: Pick<Store, 'settings' | 'companies' | 'rules' | 'pauses' | 'causes' | 'usage'>;
  connectors: Connectors;
  inFlight: InFlight;
  tracing?: Tracing; // absent: nothing is traced
  /** Failures for the same reason within this time become one notice, after a first one at once; 0: a notice for each. */
  noticeDigestSeconds: number;
}

/**
 * Makes the activity of an effect. It throws ApplicationFailures: those of `readActionContext`, `InFlight.run`, `effectFailure`,
 * `Paused`, and under `onUnknown: "hold"` also `UseOrdinary` and, where an earlier attempt was lost, `OutcomeUnknown`.
 * @param act - does it with one call of the connector; may throw an ApplicationFailure of its own.
 */
export function effectActivity<Input extends ActionRef>(
  deps: Pick<Deps, 'store' | 'inFlight' | 'log'>,
  connector: Connector,
  act: (input: Input, company: Company, call: Call) => Promise<{ recipients?: number } | undefined>,
): (input: Input, begun?: number) => Promise<EffectResult> {
  return async (input, activityBegun) => {
    const elapsed = stopwatch();
    const { attempt, isLocal } = activityInfo();
    const result = () => ({ attempts: attempt, tookMs: elapsed() });
    const context = await readActionContext(deps, input, activityBegun);
    if ('skipped' in context) return { ...result(), skipped: context.skipped };
    const { company, rule, pauses } = context;
    const once = rule.onUnknown === 'hold';
    // Temporal repeats it only where it was lost: a person has to look what it did. A pause would say that nothing was tried.
    if (once && attempt > 1) {
      const lost = 'whether it was done is not known: a worker was lost while it was being done; look before you retry';
      throw notTried('OutcomeUnknown', lost, { unknown: true });
    }
    assertNotPaused(pauses, connector);
    if (once && isLocal) throw useOrdinary('the rule says onUnknown: "hold"', false);
    try {
      const call = { idempotencyKey: idempotencyKey(input, input.index, input.mends), timeoutMs: callTimeoutMs(activityBegun) };
      const done = await deps.inFlight.run(company.companyId, connector, () => act(input, company, call));
      return { ...done, ...result() };
    } catch (error) {
      throw effectFailure(connector, error, input, { once });
    }
  };
}

/** Reading and one call fit into an activity's 30 seconds, so that a database that hangs does not look like a lost effect. */
const longestReadMs = 8_000;

/** @throws ApplicationFailure `ConfigurationMistake` where the company is gone, `NotTried` where the settings cannot be read. */
export async function readActionContext(
  { store, log }: Pick<Deps, 'store' | 'log'>,
  { companyId, relayId }: ActionRef,
  activityBegun?: number,
): Promise<{ company: Company; rule: Rule; pauses: readonly Pause[] } | { skipped: string }> {
  const read = async () => {
    const settings = await store.settings.of(companyId);
    if (settings?.rules.get(relayId)?.enabled && settings.pauses.length === 0) return { settings };
    // What keeps the effect from being tried may have been changed by another process a moment ago.
    await store.settings.refresh();
    const now = await store.settings.of(companyId);
    return { settings: now, skipped: now && (await skipReason(store, { companyId, relayId }, now.rules.get(relayId))) };
  };
  const inTime = new Promise<{ settings?: CompanySettings; skipped?: string }>((resolve, reject) => {
    const tooLate = setTimeout(
      () => reject(new Error('no answer in time')),
      Math.min(callTimeoutMs(activityBegun), longestReadMs),
    );
    void read()
      .then(resolve, reject)
      .finally(() => clearTimeout(tooLate));
  });
  const { settings, skipped } = await inTime.catch((error: unknown) => {
    log.warn({ err: error, companyId, relayId }, 'an effect waits: the settings of its company cannot be read');
    const unreadable = error instanceof DecryptionError;
    const why = unreadable ? error.message : "the relay's own database does not answer: see `relay health`";
    throw notTried('NotTried', why);
  });
  // Of a deleted company, the id is given again only to who asks for that.
  const again = 'make it again with --reuse-id, then retry; or cancel the chain';
  if (!settings) throw mistake('ConfigurationMistake', `there is no company ${companyId} any more: ${again}`);
  const { company, pauses } = settings;
  if (skipped !== undefined) return { skipped };
  const rule = settings.rules.get(relayId);
  if (rule) return { company, rule, pauses };
  const lost = `the database does not know rule ${relayId}, which nobody deleted: was it restored from a backup?`;
  throw mistake('ConfigurationMistake', `${lost} Make the rule again with this id and its token, then retry`);
}

/** Why nothing is done for a rule that is disabled, or was deleted; undefined for one that the database has lost, too. */
export async function skipReason(
  { rules }: Pick<Deps['store'], 'rules'>,
  { companyId, relayId }: Pick<ActionRef, 'companyId' | 'relayId'>,
  rule: Rule | undefined,
): Promise<string | undefined> {
  if (rule) return rule.enabled ? undefined : `rule ${relayId} is disabled`;
  return (await rules.wasDeleted(companyId, relayId)) ? `there is no rule ${relayId} any more` : undefined;
}

export function assertNotPaused(pauses: readonly Pause[], connector: Connector): void {
  const pause = pauseOf(pauses, connector);
  if (pause) throw notTried('Paused', pauseText(pause), { paused: connector });
}

/** Milliseconds for one call: what an activity that began then has left, less what answering takes; at most 20 seconds. */
export function callTimeoutMs(begun = performance.now()): number {
  return Math.min(begun + activityInfo().startToCloseTimeoutMs - 300 - performance.now(), 20_000);
}
