/** The result of an effect, with the attempt that brought it. */

import { activityInfo } from '@temporalio/activity';
import type { EffectResult } from '../contract/activities.js';

export function effectResult(facts: Omit<EffectResult, 'attempts'> = {}): EffectResult {
  return { attempts: activityInfo().attempt, ...facts };
}
