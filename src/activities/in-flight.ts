/** Limits how many calls one company makes at the same time in a worker, so that other companies also have slots. */

import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import type { Connector } from '../chain/pause.js';
import { ConnectorError } from '../connectors/call.js';
import { Shares } from '../service/shares.js';
import type { Log, Metrics } from '../service/telemetry.js';
import { notTried, useOrdinary } from './failure.js';

const mostOfCompany = 100; // the maximum number of calls of one company in one worker: a quarter of the worker's slots
const mostLocal = 50; // the maximum number of local tries among these calls. Each local try also uses a workflow task slot.
const mostNotices = 20; // the maximum number of notices of one company in one worker. Notices do not count as calls.
const silentMs = 30_000; // after a time-out, the relay makes no local tries to the system for this time

const saidEveryMs = 60_000; // a company at its limit gets at most one log line a minute

export class InFlight {
  readonly #said = new Shares(1, saidEveryMs);
  readonly #companies = new Map<string, { all: number; local: number }>();
  /** The key: company and connector. Local tries are allowed again at the time in the value (`performance.now()`). */
  readonly #silentUntil = new Map<string, number>();

  constructor(private readonly told: { log: Log; metrics: Pick<Metrics, 'boundsMet'> }) {}

  /** @throws ApplicationFailure `NotTried` at the limit of calls or notices, `UseOrdinary` if no local try is allowed now. */
  async run<Result>(companyId: string, connector: Connector | 'notices', call: () => Promise<Result>): Promise<Result> {
    const { isLocal } = activityInfo();
    const [share, most] = connector === 'notices' ? [`${companyId}/notices`, mostNotices] : [companyId, mostOfCompany];
    const company = this.#companies.get(share) ?? { all: 0, local: 0 };
    if (company.all >= most) {
      this.#tell(companyId);
      const why = `the company has reached its limit of ${most} ${connector === 'notices' ? connector : 'calls to systems'} at the same time`;
      throw connector === 'notices' ? ApplicationFailure.retryable(why, 'NotTried') : notTried('NotTried', why);
    }
    const system = `${companyId}/${connector}`;
    if (isLocal && company.local >= mostLocal) throw useOrdinary('the company has reached its limit of local tries', true);
    if (isLocal && (this.#silentUntil.get(system) ?? 0) > performance.now())
      throw useOrdinary(`the ${connector} of the company did not answer a moment ago`, true);
    this.#companies.set(share, company);
    company.all += 1;
    if (isLocal) company.local += 1;
    try {
      const result = await call();
      this.#silentUntil.delete(system);
      return result;
    } catch (error) {
      if (error instanceof ConnectorError && error.facts.unanswered) this.#silentUntil.set(system, performance.now() + silentMs);
      throw error;
    } finally {
      company.all -= 1;
      if (isLocal) company.local -= 1;
      if (company.all === 0) this.#companies.delete(share);
    }
  }

  #tell(companyId: string): void {
    const bound = 'calls';
    this.told.metrics.boundsMet.inc({ bound });
    if (this.#said.take(companyId)) this.told.log.warn({ bound, companyId }, 'a limit is reached: effects wait');
  }
}
