/** Lists of chains, from Temporal's visibility: they need no worker, and are a moment behind. */

import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { z } from 'zod';
import type { ChainList, ListedChain } from '../contract/chain-resource.js';
import { Problem } from '../contract/problem.js';
import { chainLinks, type Links } from '../service/config.js';
import { type ChainFilter, hashOfQuery, quoted, visibilityQuery } from './filter.js';

/** The cursor is not one of a list with these filters. */
export class WrongCursor extends Problem {
  constructor() {
    super('invalid-query', 'cursor must be the nextCursor of the part before, with the same filters.');
  }
}

export interface ListRequest {
  filter: ChainFilter;
  /** Absent: of all companies. */
  companyId?: string | undefined;
  /** Further conditions, in the language of visibility. */
  more?: readonly string[];
  limit: number;
  /** Of the part before. */
  cursor?: string | undefined;
}

/**
 * Open chains first, the newest first; then closed ones, the last to close first. Each chain is there once, also when a reset has
 * left older runs.
 * @throws WrongCursor
 */
export async function listChains(client: Client, links: Links, request: ListRequest): Promise<ChainList> {
  const query = visibilityQuery(request.filter, request.companyId, request.more);
  const items: ListedChain[] = [];
  let token = readCursor(request.cursor, query);
  do {
    const page = await listRuns(client, query, Math.min(request.limit - items.length, largestPage), token);
    const shown = (await withoutOldRuns(client, page.runs)).map((run) => listed(run, links));
    items.push(...shown.filter((chain) => matches(chain, request.filter)));
    token = page.next;
  } while (token && items.length < request.limit);
  return { items, ...(token && { nextCursor: `${hashOfQuery(query)}.${Buffer.from(token).toString('base64url')}` }) };
}

/** SQLite compares lists of keywords without regard to case. */
function matches({ assignmentIds, relayIds }: ListedChain, { assignmentId, relayId }: ChainFilter): boolean {
  return (
    (assignmentId === undefined || assignmentIds.includes(assignmentId)) && (relayId === undefined || relayIds.includes(relayId))
  );
}

/** Of a Temporal server. */
const largestPage = 1000;

type Run = Awaited<ReturnType<typeof listRuns>>['runs'][number];

async function listRuns(client: Client, query: string, pageSize: number, nextPageToken: Uint8Array | undefined) {
  const { namespace } = client.options;
  const list = () => client.workflowService.listWorkflowExecutions({ namespace, query, pageSize, nextPageToken });
  const { executions, nextPageToken: next } = await client.withDeadline(Date.now() + 10_000, list);
  const runs = (executions ?? []).map(({ execution, status, startTime, closeTime, memo, searchAttributes }) => ({
    workflowId: execution?.workflowId ?? '',
    runId: execution?.runId ?? '',
    status: status ?? 0,
    startedAt: milliseconds(startTime) ?? 0,
    closedAt: milliseconds(closeTime),
    memo: decoded(memo?.fields, client.options.loadedDataConverter.payloadConverter),
    searchAttributes: decoded(searchAttributes?.indexedFields, defaultPayloadConverter),
  }));
  return { runs, next: next && next.length > 0 ? next : undefined };
}

/** A reset leaves the older run behind, closed: of closed runs, only a chain's last counts. */
async function withoutOldRuns(client: Client, runs: Run[]): Promise<Run[]> {
  const closed = [...new Set(runs.filter(({ closedAt }) => closedAt !== undefined).map(({ workflowId }) => workflowId))];
  if (closed.length === 0) return runs;
  const last = new Map<string, Run>();
  let token: Uint8Array | undefined;
  do {
    const page = await listRuns(client, `WorkflowId IN (${closed.map(quoted).join(', ')})`, largestPage, token);
    for (const run of page.runs) {
      const known = last.get(run.workflowId);
      if (!known || run.startedAt > known.startedAt) last.set(run.workflowId, run);
    }
    token = page.next;
  } while (token);
  return runs.filter(({ workflowId, runId, closedAt }) => closedAt === undefined || last.get(workflowId)?.runId === runId);
}

const searchAttributesSchema = z.object({
  RelayCompanyId: z.string(),
  RelayChainId: z.string(),
  RelayNeedsAttention: z.boolean().optional(),
  RelayAssignmentIds: z.array(z.string()).default([]),
  RelayRuleIds: z.array(z.string()).default([]),
  RelayFailureTypes: z.array(z.string()).optional(),
  RelayPaused: z.boolean().optional(),
});
const memoSchema = z.object({ receivedAt: z.string().optional(), summary: z.string().optional() });

function listed(run: Run, links: Links): ListedChain {
  const known = searchAttributesSchema.parse(run.searchAttributes);
  const { receivedAt, summary } = memoSchema.parse(run.memo);
  const { RelayCompanyId: companyId, RelayChainId: chainId } = known;
  const open = run.closedAt === undefined;
  return {
    companyId,
    chainId,
    workflowId: run.workflowId,
    status: open && known.RelayNeedsAttention ? 'needs-attention' : (statuses[run.status] ?? 'failed'),
    receivedAt: receivedAt ?? new Date(run.startedAt).toISOString(),
    closedAt: run.closedAt === undefined ? undefined : new Date(run.closedAt).toISOString(),
    assignmentIds: known.RelayAssignmentIds,
    relayIds: known.RelayRuleIds,
    failureTypes: known.RelayFailureTypes,
    paused: open && known.RelayPaused ? true : undefined,
    summary,
    links: chainLinks(links, { companyId, chainId }, run.runId),
  };
}

// temporal.api.enums.v1.WorkflowExecutionStatus
const statuses: Record<number, ListedChain['status']> = { 1: 'running', 2: 'completed', 4: 'cancelled', 5: 'terminated' };

function decoded(
  fields: Record<string, Parameters<typeof defaultPayloadConverter.fromPayload>[0]> | null | undefined,
  converter: Pick<typeof defaultPayloadConverter, 'fromPayload'>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields ?? {}).map(([name, payload]) => [name, converter.fromPayload(payload)]));
}

function milliseconds(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number | undefined {
  return time ? Number(time.seconds) * 1000 + Math.floor((time.nanos ?? 0) / 1e6) : undefined;
}

/** `nextCursor` of a list of chains. */
export const chainCursor = /^([0-9a-f]{8})\.([\w-]{1,2000})$/;

function readCursor(cursor: string | undefined, query: string): Uint8Array | undefined {
  if (cursor === undefined) return undefined;
  const [, hash, token] = chainCursor.exec(cursor) ?? [];
  if (hash === hashOfQuery(query) && token !== undefined) return Buffer.from(token, 'base64url');
  throw new WrongCursor();
}
