/** Lets a worker check whether a company's systems answer. */

import { proxyActivities } from '@temporalio/workflow';
import type { Activities, SettingsCheckInput } from '../contract/activities.js';
import type { Checked } from '../contract/company.js';

/** Makes only one attempt, because a person waits for the answer. */
export function SettingsCheck(input: SettingsCheckInput): Promise<Checked[]> {
  const options = { startToCloseTimeout: '20 seconds', retry: { maximumAttempts: 1 }, summary: 'settings' } as const;
  return proxyActivities<Activities>(options).checkSettings(input);
}
