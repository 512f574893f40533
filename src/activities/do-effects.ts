/** Runs several effects in order. Each effect works as if it had its own activity. */

import { ApplicationFailure } from '@temporalio/common';
import type { Activities, EffectActivities, EffectInput, EffectOutcome, FailureDetails, SomeOf } from '../contract/activities.js';
import { effectActivities } from '../contract/activities.js';

/** No effect begins after this time, so that each effect has at least a second before the time limit of the activity. */
const longestRowMs = 700;

export function doEffects(effects: EffectActivities): Activities['doEffects'] {
  return async ([first, ...others]) => {
    const begun = performance.now();
    let last = await tryOne(first);
    const outcomes: SomeOf<EffectOutcome> = [last];
    for (const input of others) {
      if ('failure' in last || performance.now() - begun > longestRowMs) break;
      last = await tryOne(input, begun);
      outcomes.push(last);
    }
    return outcomes;
  };

  async function tryOne(input: EffectInput, begun?: number): Promise<EffectOutcome> {
    try {
      return await effects[effectActivities[input.action.action]](input as never, begun);
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      const [details] = error.details as [FailureDetails];
      return { failure: { type: error.type ?? '', message: error.message, details } };
    }
  }
}
