/**
 * Which calls may be made in a local try. A local try holds one of the worker's slots for workflow tasks while it waits for an
 * answer, so a company whose system is slow gets a bounded share of them, and none for a while after a call without an answer.
 * What is not tried locally goes on at once as an ordinary activity, and costs neither attempt nor budget.
 */

import { activityInfo } from '@temporalio/activity';
import type { Connector } from '../chain/pause.js';
import { ConnectorError } from '../connectors/call.js';
import { useOrdinary } from './failure.js';

/** Local tries of one company under way in one worker. */
const mostOfCompany = 50;
/** How long a system that did not answer in time is not tried locally, in milliseconds. */
const silentMs = 30_000;

export class LocalTries {
  readonly #underWay = new Map<string, number>();
  /** Until when no local try is made, in Unix milliseconds, by company and connector. */
  readonly #silentUntil = new Map<string, number>();

  /** Makes the call. @throws ApplicationFailure `UseOrdinary` instead where this is a local try and may not be one. */
  async run<Result>(companyId: string, connector: Connector, call: () => Promise<Result>): Promise<Result> {
    const system = `${companyId}/${connector}`;
    const underWay = this.#underWay.get(companyId) ?? 0;
    const { isLocal } = activityInfo();
    if (isLocal && underWay >= mostOfCompany) throw useOrdinary('the company has as many local tries under way as it may', true);
    if (isLocal && (this.#silentUntil.get(system) ?? 0) > Date.now())
      throw useOrdinary(`the ${connector} of the company did not answer a moment ago`, true);
    if (isLocal) this.#underWay.set(companyId, underWay + 1);
    try {
      const result = await call();
      this.#silentUntil.delete(system);
      return result;
    } catch (error) {
      if (error instanceof ConnectorError && error.facts.unanswered) this.#silentUntil.set(system, Date.now() + silentMs);
      throw error;
    } finally {
      if (isLocal) this.#leave(companyId);
    }
  }

  #leave(companyId: string): void {
    const left = (this.#underWay.get(companyId) ?? 1) - 1;
    if (left > 0) this.#underWay.set(companyId, left);
    else this.#underWay.delete(companyId);
  }
}
