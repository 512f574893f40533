/** Looks at the settings, for which nothing is done to the world. */

import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../contract/activities.js';
import type { Floor } from './sequence.js';

/** Activities for a look, local ones where that is safe. */
export function look({ quiet }: Pick<Floor, 'quiet'>, summary: string): Activities {
  const options = { retry: { maximumAttempts: 2 }, summary };
  return quiet()
    ? proxyLocalActivities<Activities>({ ...options, startToCloseTimeout: '2 seconds' })
    : proxyActivities<Activities>({ ...options, startToCloseTimeout: '10 seconds' });
}
