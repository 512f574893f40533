/** Starts a check of a company's systems on a worker, because only workers call all these systems. */

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { type SettingsCheckInput, trialTimeoutMs } from '../contract/activities.js';
import type { Checked } from '../contract/company.js';
import { companyKey } from '../contract/search-attributes.js';
import type { SettingsCheck } from '../workflows/settings-check.js';

/** @throws an error if no worker answers in time. */
export function checkSettings(client: Client, taskQueue: string, input: SettingsCheckInput): Promise<Checked[]> {
  const { companyId } = input;
  return client.withDeadline(Date.now() + trialTimeoutMs + 2_000, () =>
    client.workflow.execute<typeof SettingsCheck>('SettingsCheck', {
      workflowId: `relay-check:${companyId}:${randomUUID()}`,
      taskQueue,
      args: [input],
      workflowExecutionTimeout: trialTimeoutMs,
      typedSearchAttributes: [{ key: companyKey, value: companyId }],
      staticSummary: `${companyId}: whether its settings work`,
      priority: { fairnessKey: companyId },
    }),
  );
}
