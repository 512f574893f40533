/** The chains of a company that wait for the end of a pause. */

import type { Client } from '@temporalio/client';
import { resumeSignal } from '../contract/messages.js';
import { quoted } from './filter.js';

/** Tells every workflow of the company that waits for a pause to look again. */
export async function resumeChains(client: Client, companyId: string): Promise<void> {
  const query = `RelayCompanyId = ${quoted(companyId)} AND RelayPaused = true AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    // One that has just closed waits for nothing.
    await client.workflow
      .getHandle(workflowId)
      .signal(resumeSignal)
      .catch(() => {});
  }
}
