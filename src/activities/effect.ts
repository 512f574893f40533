/** The common part of all effects: read the settings, make one call with the idempotency key, and report a failure. */

import { activityInfo } from '@temporalio/activity';
import { idempotencyKey } from '../chain/chain.js';
import { type Connector, type Pause, pauseOf, pauseText } from '../chain/pause.js';
import { timesIn } from '../chain/timestamp/local.js';
import type { Bounds, Call } from '../connectors/call.js';
import type { Connectors } from '../connectors/connectors.js';
import type { ActionRef, EffectResult } from '../contract/activities.js';
import type { Company } from '../contract/company.js';
import { DecryptionError } from '../contract/encryption.js';
import type { Rule } from '../contract/rule.js';
import type { DeliveryDeps } from '../notices/deliver.js';
import type { Tracing } from '../service/tracing.js';
import type { Store } from '../store/store.js';
import { effectFailure, mistake, notTried, useOrdinary } from './failure.js';
import type { InFlight } from './in-flight.js';
import { inTime } from './in-time.js';
import { keptBefore, recordKept, withKept } from './kept.js';
import { leased } from './leases.js';
import { assertFirstAttempt } from './local-try.js';
import { stopwatch } from './stopwatch.js';

export interface Deps extends DeliveryDeps {
  store: Pick<
    Store,
    'settings' | 'companies' | 'rules' | 'pauses' | 'causes' | 'notices' | 'contacts' | 'usage' | 'leases' | 'chains'
  >;
  connectors: Connectors;
  inFlight: InFlight;
  tracing?: Tracing; // absent if tracing is off
  recipientsPerDay: number; // the daily limit of e-mail recipients for companies without their own limit
  /** For this time after a failure, one notice collects further failures with the same reason. 0: a notice for each failure. */
  noticeDigestSeconds: number;
}

type Done = Pick<EffectResult, 'recipients' | 'note'>;

/**
 * Creates the activity of an effect. The activity throws `Paused`, and the errors of `readActionContext`, `InFlight.run` and
 * `effectFailure`. With `onUnknown: "hold"`, it also throws `OutcomeUnknown` if an earlier attempt was lost. A local activity
 * throws `UseOrdinary` if the rule says `onUnknown: "hold"`, or if the system needs several calls.
 * @param systemOf - returns the connector of the company. Throws a ConnectorError if the company has none.
 * @param act - makes the calls of the effect. The function may also throw an ApplicationFailure.
 */
export function effectActivity<Input extends ActionRef, System extends Bounds>(
  deps: Pick<Deps, 'store' | 'inFlight' | 'log' | 'client'>,
  connector: Connector,
  systemOf: (company: Company) => System,
  act: (system: System, input: Input, company: Company, call: Call) => Promise<Done | undefined>,
): (input: Input, begun?: number) => Promise<EffectResult> {
  return (input, begun) => withKept(input, oneAttempt(input, begun));

  async function oneAttempt(input: Input, activityBegun?: number): Promise<EffectResult> {
    const [elapsed, begun] = [stopwatch(), activityBegun ?? performance.now()];
    const { attempt, isLocal } = activityInfo();
    const result = () => ({ attempts: attempt, tookMs: elapsed() });
    if (activityBegun === undefined) await assertFirstAttempt(deps, input); // `doEffects` checks only its first effect.
    const context = await readActionContext(deps, input, activityBegun);
    if ('skipped' in context) return { ...result(), skipped: context.skipped };
    const { company, rule, pauses } = context;
    let system: System;
    try {
      system = systemOf(company);
    } catch (error) {
      throw effectFailure(connector, error, input);
    }
    // A connector with several calls may try again, because the connector asks the system whether an earlier attempt succeeded.
    const once = rule.onUnknown === 'hold' && !system.severalCalls;
    // A second attempt means that the first attempt was lost, so a person must check the result. Check this before the pause,
    // because `Paused` says that nothing was tried.
    if (once && attempt > 1) {
      const lost = 'an earlier attempt was lost, and may have done the step; check the other system before you retry';
      throw notTried('OutcomeUnknown', lost, { unknown: true });
    }
    assertNotPaused(pauses, connector, company);
    if (once && isLocal) throw useOrdinary('the rule says onUnknown: "hold"', false);
    if (system.severalCalls && isLocal) throw useOrdinary('this kind of system needs several calls', true);
    let kept = keptBefore(input);
    const keep = async (data: unknown) => {
      const before = kept;
      kept = data;
      if (!isLocal) await recordKept(deps, data, before);
    };
    const key = idempotencyKey(input, input.index, input.mends);
    const call = () => ({ idempotencyKey: key, timeoutMs: callTimeoutMs(begun), attempt, kept, keep });
    const run = () => leased(deps, company.companyId, connector, system, () => act(system, input, company, call()));
    try {
      const done = await deps.inFlight.run(company.companyId, connector, run);
      return { ...done, ...(kept !== undefined && { kept }), ...result() };
    } catch (error) {
      throw effectFailure(connector, error, input, { once, kept });
    }
  }
}

/** The time limit for reading the settings. The remaining part of the activity's 30 seconds is for one call. */
const longestReadMs = 8_000;

/** @throws ApplicationFailure `ConfigurationMistake` if the company or rule is lost, `NotTried` if the settings cannot be read. */
export async function readActionContext(
  { store, log }: Pick<Deps, 'store' | 'log'>,
  { companyId, relayId }: ActionRef,
  activityBegun?: number,
): Promise<{ company: Company; rule: Rule; pauses: readonly Pause[] } | { skipped: string }> {
  const read = async () => {
    const settings = await store.settings.of(companyId);
    if (settings?.rules.get(relayId)?.enabled && settings.pauses.length === 0) return { settings };
    // Another process may have just enabled the rule or ended the pause, so read all changes.
    await store.settings.refresh();
    const now = await store.settings.of(companyId);
    return { settings: now, skipped: now && (await skipReason(store, { companyId, relayId }, now.rules.get(relayId))) };
  };
  const asked = inTime(read(), Math.min(callTimeoutMs(activityBegun), longestReadMs));
  const { settings, skipped } = await asked.catch((error: unknown) => {
    log.warn({ err: error, companyId, relayId }, 'an effect waits: the settings of its company cannot be read');
    const unreadable = error instanceof DecryptionError;
    const why = unreadable ? error.message : "the relay's own database does not answer (for the operator: `relay health`)";
    throw notTried('NotTried', why);
  });
  // Without `--reuse-id`, the API refuses the id of a deleted company.
  const again = 'create it again with --reuse-id, then retry; or cancel the chain';
  if (!settings) throw mistake('ConfigurationMistake', `there is no company ${companyId} any more: ${again}`);
  const { company, pauses } = settings;
  if (skipped !== undefined) return { skipped };
  const rule = settings.rules.get(relayId);
  if (rule) return { company, rule, pauses };
  const lost = `rule ${relayId} is missing from the database, but nobody deleted this rule. Was the database restored from a backup?`;
  throw mistake('ConfigurationMistake', `${lost} Create the rule again with this id and its token, then retry`);
}

/** @returns the reason to skip the action if its rule is disabled or deleted. Undefined if the rule is enabled or lost. */
export async function skipReason(
  { rules }: Pick<Deps['store'], 'rules'>,
  { companyId, relayId }: Pick<ActionRef, 'companyId' | 'relayId'>,
  rule: Rule | undefined,
): Promise<string | undefined> {
  if (rule) return rule.enabled ? undefined : `rule ${relayId} is disabled`;
  return (await rules.wasDeleted(companyId, relayId)) ? `there is no rule ${relayId} any more` : undefined;
}

export function assertNotPaused(pauses: readonly Pause[], connector: Connector, { timeZone }: Pick<Company, 'timeZone'>): void {
  const pause = pauseOf(pauses, connector);
  if (pause) throw notTried('Paused', pauseText(pause, timesIn(timeZone)), { paused: connector });
}

/** Returns the time limit of one call: the activity's remaining time, minus 300 ms for the answer, but at most 20 seconds. */
export function callTimeoutMs(begun = performance.now()): number {
  return Math.min(begun + activityInfo().startToCloseTimeoutMs - 300 - performance.now(), 20_000);
}
