/** Lets a worker check whether a company's systems answer. */

import { proxyActivities } from '@temporalio/workflow';
import type { Activities, SettingsCheckInput } from '../contract/activities.js';
import type { Checked } from '../contract/company.js';

/** Makes only one attempt, because a person waits for the answer. */
export function SettingsCheck(input: SettingsCheckInput): Promise<Checked[]> {
  const { checkSettings } = proxyActivities<Activities>({
    startToCloseTimeout: '20 seconds',
    retry: { maximumAttempts: 1 },
    summary: 'settings',
  });
  return checkSettings(input);
}
