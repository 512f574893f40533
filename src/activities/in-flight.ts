/** Bounds on the calls of one company under way in a worker, so that one whose systems are slow leaves slots to the others. */

import { activityInfo } from '@temporalio/activity';
import type { Connector } from '../chain/pause.js';
import { ConnectorError } from '../connectors/call.js';
import { Shares } from '../service/shares.js';
import type { Log, Metrics } from '../service/telemetry.js';
import { notTried, useOrdinary } from './failure.js';

/** Calls of one company under way in one worker: a quarter of its slots. */
const mostOfCompany = 100;
/** Of these in local tries, each of which also holds a slot for workflow tasks while it waits for its answer. */
const mostLocal = 50;
/** How long a system that did not answer in time is not tried locally, in milliseconds. */
const silentMs = 30_000;

/** How often a company at its bound is logged. */
const saidEveryMs = 60_000;

export class InFlight {
  readonly #said = new Shares(1, saidEveryMs);
  readonly #companies = new Map<string, { all: number; local: number }>();
  /** Until when no local try is made, in milliseconds of `performance.now()`, by company and connector. */
  readonly #silentUntil = new Map<string, number>();

  constructor(private readonly told: { log: Log; metrics: Pick<Metrics, 'boundsMet'> }) {}

  /** @throws ApplicationFailure instead of making the call, `NotTried` or, where a local try may not be one, `UseOrdinary`. */
  async run<Result>(companyId: string, connector: Connector, call: () => Promise<Result>): Promise<Result> {
    const { isLocal } = activityInfo();
    const company = this.#companies.get(companyId) ?? { all: 0, local: 0 };
    if (company.all >= mostOfCompany) {
      this.#tell(companyId);
      throw notTried('NotTried', `${mostOfCompany} calls of the company are under way, as many as may be at once`);
    }
    const system = `${companyId}/${connector}`;
    if (isLocal && company.local >= mostLocal) throw useOrdinary('the company has as many local tries under way as it may', true);
    if (isLocal && (this.#silentUntil.get(system) ?? 0) > performance.now())
      throw useOrdinary(`the ${connector} of the company did not answer a moment ago`, true);
    this.#companies.set(companyId, company);
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
      if (company.all === 0) this.#companies.delete(companyId);
    }
  }

  #tell(companyId: string): void {
    const bound = 'calls';
    this.told.metrics.boundsMet.inc({ bound });
    if (this.#said.take(companyId)) this.told.log.warn({ bound, companyId }, 'a bound is met: effects wait');
  }
}
