/** Records attempts at activities in metrics, in the log and in traces. */

import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import type { ActionRef, EffectResult } from '../contract/activities.js';
import { failureType } from '../service/telemetry.js';
import type { Deps } from './effect.js';
import { stopwatch } from './stopwatch.js';

type Observers = Pick<Deps, 'log' | 'metrics' | 'tracing'>;
type Run = (...input: unknown[]) => Promise<unknown>;

/** Counts every attempt, and adds the duration to a failure. @param tell - gets the result of each attempt. */
export function observed<Activities extends object>(
  { metrics }: Pick<Observers, 'metrics'>,
  activities: Activities,
  tell: (activity: string, input: unknown, result: string, milliseconds: number) => void = () => {},
): Activities {
  const wrapped = Object.entries<Run>(activities as Record<string, Run>).map(([activity, run]) => [
    activity,
    async (...input: unknown[]) => {
      const elapsed = stopwatch();
      const ended = (result: string) => {
        metrics.activities.inc({ activity, result });
        tell(activity, input[0], result, elapsed());
      };
      try {
        const result = await run(...input);
        ended(isSkipped(result) ? 'skipped' : 'ok');
        return result;
      } catch (error) {
        ended(failureType(error));
        if (error instanceof ApplicationFailure && error.details?.[0]) Object.assign(error.details[0], { tookMs: elapsed() });
        throw error;
      }
    },
  ]);
  return Object.fromEntries(wrapped);
}

const isSkipped = (result: unknown) => (result as Partial<EffectResult> | undefined)?.skipped !== undefined;

export function observedEffects<Activities extends object>(deps: Observers, activities: Activities): Activities {
  const { log, metrics, tracing } = deps;
  return observed(deps, activities, (activity, input, result, ms) => {
    const { companyId, chainId, index, relayId, dueAt, traceparent: parent } = input as ActionRef;
    const { attempt } = activityInfo();
    log.info({ companyId, chainId, index, relayId, activity, attempt, result, ms }, 'effect attempted');
    const isDone = result === 'ok';
    if (isDone && dueAt !== undefined)
      metrics.effectDelay.observe({ activity }, Math.max(0, Date.now() - Date.parse(dueAt)) / 1000);
    const attributes = {
      'relay.company_id': companyId,
      'relay.chain_id': chainId,
      'relay.action_index': index,
      'relay.rule_id': relayId,
      'relay.attempt': attempt,
      'relay.result': result,
    };
    const failed = isDone || result === 'skipped' ? undefined : result;
    tracing?.begin(activity, { kind: 'consumer', parent, begun: Date.now() - ms }).end({ attributes, failed });
  });
}
