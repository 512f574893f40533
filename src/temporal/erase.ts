/** Counts a company's data in Temporal (chains, delayed actions, notices, bulk orders), and deletes closed runs. */

import { setTimeout } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { Remains } from '../contract/company.js';
import { readPayload } from '../service/payloads.js';
import { quoted, runsOf, visibilityQuery } from './list.js';

const isOpen = "ExecutionStatus = 'Running'";
const isClosed = "ExecutionStatus != 'Running'";
const ofCompany = (companyId: string) => `RelayCompanyId = ${quoted(companyId)}`;

const count = async (client: Client, ...conditions: string[]) => (await client.workflow.count(conditions.join(' AND '))).count;

/** The answer comes from Temporal's visibility, and is about a second old. */
export function countOpenChains(client: Client, companyId: string): Promise<number> {
  return count(client, visibilityQuery({}, companyId, [isOpen]));
}

/** @returns undefined if Temporal has no data of the company. */
export async function remainsOf(client: Client, companyId: string): Promise<Remains | undefined> {
  const [open, closed] = await Promise.all([isOpen, isClosed].map((state) => count(client, ofCompany(companyId), state)));
  if (!open && !closed) return undefined;
  const { namespace } = client.options;
  const { config } = await client.workflowService.describeNamespace({ namespace });
  const retentionSeconds = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  return {
    open: open ?? 0,
    closed: closed ?? 0,
    retentionDays: retentionSeconds / 86_400,
    until: new Date(Date.now() + retentionSeconds * 1000).toISOString(),
  };
}

const erasedAtOnce = 200; // one call deletes at most this many runs, so that the call ends soon
const deletedTogether = 20;
const vanishesWithinMs = 3_000; // deleted runs may stay visible for this time

/** Deletes some closed runs with their histories. @returns the number of deleted runs. More closed runs may be left. */
export async function eraseClosed(client: Client, companyId: string): Promise<number> {
  const closed = () => count(client, ofCompany(companyId), isClosed);
  const before = await closed();
  const runs = await closedRuns(client, companyId);
  let erased = 0;
  for (let from = 0; from < runs.length; from += deletedTogether) {
    const deleted = await Promise.all(runs.slice(from, from + deletedTogether).map((run) => deleteRun(client, run)));
    erased += deleted.filter(Boolean).length;
  }
  const latest = Date.now() + vanishesWithinMs;
  while (erased > 0 && Date.now() < latest && (await closed()) > before - erased) await setTimeout(100);
  return erased;
}

type Run = { workflowId?: string | null; runId?: string | null };

/** Finds some closed runs of the company. Compares the company ids again, because some visibility stores ignore case. */
async function closedRuns(client: Client, companyId: string): Promise<Run[]> {
  const found: Run[] = [];
  for await (const run of runsOf(client, `${ofCompany(companyId)} AND ${isClosed}`, erasedAtOnce)) {
    const company = run.searchAttributes?.indexedFields?.RelayCompanyId;
    if (run.execution && run.closeTime && company && (await readPayload(client, company)) === companyId)
      found.push(run.execution);
    if (found.length >= erasedAtOnce) break;
  }
  return found;
}

/** @returns false if the run does not exist any more. */
async function deleteRun(client: Client, workflowExecution: Run): Promise<boolean> {
  try {
    await client.workflowService.deleteWorkflowExecution({ namespace: client.options.namespace, workflowExecution });
    return true;
  } catch (error) {
    // 5 is the gRPC status NOT_FOUND.
    if (isGrpcServiceError(error) && error.code === 5) return false;
    throw error;
  }
}
