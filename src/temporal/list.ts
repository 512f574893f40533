/** Lists chains from Temporal's visibility for bulk orders, which need the states in Temporal. The answers are about a second old. */

import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { chainLinks, chainOfWorkflow, type Links, relayIdPattern, relayIdRule } from '../chain/chain.js';
import { chainStatuses } from '../chain/outcome.js';
import { type ListedChain, listedChainSchema } from '../contract/chain-resource.js';
import { DecryptionError } from '../contract/encryption.js';
import { readPayload } from '../service/payloads.js';
import { isoTime, statusOf } from './read.js';

/** A text that all visibility stores can search. SQLite reads text after a quotation mark as a query, and splits texts at `♡`. */
const searchable = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^"\\♡\p{Cc}]*$/u, 'must have no quotation marks, backslashes or control characters: Temporal cannot search for them');
const time = z.iso.datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-07-01T12:00:00Z' });

export const chainFilterSchema = z.strictObject({
  status: z.enum(chainStatuses).optional(),
  assignmentId: searchable.optional().describe('Only chains with an action for this assignment.'),
  relayId: z.string().regex(relayIdPattern, relayIdRule).optional().describe('Only chains with an action of this rule.'),
  reason: z
    .string()
    .regex(/^[A-Za-z]{1,64}$/, 'must be a type of failure, such as PlatformError')
    .optional()
    .describe('Only chains that need attention or failed because of this type of failure, such as `PlatformError`.'),
  since: time
    .optional()
    .describe('Only chains received at this time or later. For a reopened chain, the time of the reopening counts.'),
  until: time.optional().describe('Only chains received before this time.'),
});
export type ChainFilter = Omit<z.infer<typeof chainFilterSchema>, 'status'> & {
  status?: keyof typeof statusQueries | undefined;
};

export const statusQueries = {
  running: "ExecutionStatus = 'Running' AND RelayNeedsAttention = false",
  'needs-attention': "ExecutionStatus = 'Running' AND RelayNeedsAttention = true",
  failed: "ExecutionStatus IN ('Failed', 'TimedOut')",
};

export function visibilityQuery(filter: ChainFilter, companyId: string | undefined, more: readonly string[] = []): string {
  const { status, assignmentId, relayId, reason, since, until } = filter;
  return [
    "WorkflowType = 'RuleChain'",
    companyId !== undefined && `RelayCompanyId = ${quoted(companyId)}`,
    status !== undefined && statusQueries[status],
    assignmentId !== undefined && `RelayAssignmentIds = ${quoted(assignmentId)}`,
    relayId !== undefined && `RelayRuleIds = ${quoted(relayId)}`,
    reason !== undefined && `RelayFailureTypes = ${quoted(reason)}`,
    since !== undefined && `StartTime >= ${quoted(new Date(since).toISOString())}`,
    until !== undefined && `StartTime < ${quoted(new Date(until).toISOString())}`,
    ...more,
  ]
    .filter(Boolean)
    .join(' AND ');
}

/** Quotes a text for a query. @throws RangeError if the text is unsafe in some visibility store. */
export function quoted(text: string): string {
  if (!searchable.safeParse(text).success) throw new RangeError('Temporal cannot search for this text');
  return `'${text.replaceAll("'", "''")}'`;
}

/** Without `companyId`, the list has the chains of all companies. `more` has further conditions in Temporal's query language. */
interface ListRequest {
  filter: ChainFilter;
  companyId?: string | undefined;
  more?: readonly string[];
  limit: number;
}

const largestPage = 1000; // a Temporal server returns at most this many runs in a page
const answerTimeoutMs = 10_000;

/** Lists each chain once: first open chains (newest first), then closed chains (last closed first). */
export async function listChains(client: Client, links: Links, request: ListRequest): Promise<ListedChain[]> {
  const { filter, companyId, more, limit } = request;
  const { assignmentId, relayId } = filter;
  const query = visibilityQuery(filter, companyId, more);
  const items: ListedChain[] = [];
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const pageSize = Math.min(limit - items.length, largestPage);
    const ask = { namespace: client.options.namespace, query, pageSize, nextPageToken };
    const page = await client.withDeadline(Date.now() + answerTimeoutMs, () =>
      client.workflowService.listWorkflowExecutions(ask),
    );
    const shown = await Promise.all((await withoutOldRuns(client, page.executions)).map((run) => listed(client, run, links)));
    // SQLite ignores case in lists of keywords. MySQL also ignores case in the company id.
    const chains = shown.flatMap((chain) => (chain && has([chain.companyId], companyId) ? chain : []));
    items.push(...chains.filter((chain) => has(chain.assignmentIds, assignmentId) && has(chain.relayIds, relayId)));
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0 && items.length < limit);
  return items;
}

/** Returns the runs of a query, one by one. Fetches the next page only when the caller needs its runs. */
export async function* runsOf(client: Client, query: string, pageSize = largestPage): AsyncGenerator<Run> {
  const { namespace } = client.options;
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await client.workflowService.listWorkflowExecutions({ namespace, query, pageSize, nextPageToken });
    yield* page.executions;
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
}

const has = (ids: readonly string[], wanted: string | undefined) => wanted === undefined || ids.includes(wanted);

export type Run = Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>['executions'][number];

/** Removes old runs of reopened chains. After a reset, Temporal still lists the old run as closed. */
async function withoutOldRuns(client: Client, runs: Run[]): Promise<Run[]> {
  const closed = new Set(runs.flatMap(({ closeTime, execution }) => (closeTime && execution?.workflowId) || []));
  if (closed.size === 0) return runs;
  const last = new Map<string, { runId: unknown; began: string }>();
  const query = `WorkflowId IN (${[...closed].map(quoted).join(', ')})`;
  await client.withDeadline(Date.now() + answerTimeoutMs, async () => {
    for await (const { execution, startTime } of runsOf(client, query)) {
      const [workflowId, began] = [execution?.workflowId ?? '', isoTime(startTime) ?? ''];
      if (began > (last.get(workflowId)?.began ?? '')) last.set(workflowId, { runId: execution?.runId, began });
    }
  });
  return runs.filter(
    ({ closeTime, execution }) => !closeTime || last.get(execution?.workflowId ?? '')?.runId === execution?.runId,
  );
}

export const searchAttributesSchema = z.object({
  RelayNeedsAttention: z.boolean().optional(),
  RelayAssignmentIds: z.array(z.string()).default([]),
  RelayRuleIds: z.array(z.string()).default([]),
  RelayFailureTypes: z.array(z.string()).optional(),
  RelayPaused: z.boolean().optional(),
  RelayAttentionSince: z.coerce
    .date()
    .transform((date) => date.toISOString())
    .optional(),
});
export const memoSchema = z.object({
  receivedAt: z.string().optional(),
  summary: z.string().optional(),
  rule: listedChainSchema.shape.rule,
});

/** @throws DecryptionError */
export const readMemo = (client: Client, { memo, execution }: Run) => read(client, memo?.fields, execution?.workflowId);

/** Reads the company from the workflow id: a chain started by hand may have no attributes. Undefined if the run is no chain. */
export async function listed(
  client: Client,
  run: Run,
  links: Links,
  memo = readMemo(client, run),
): Promise<ListedChain | undefined> {
  const { execution, status, startTime, closeTime, searchAttributes } = run;
  const chain = chainOfWorkflow(execution?.workflowId ?? '');
  if (chain === undefined) return undefined;
  const {
    receivedAt = isoTime(startTime) ?? '',
    summary,
    rule,
  } = memoSchema.parse(
    await memo.catch((error: unknown) => {
      if (!(error instanceof DecryptionError)) throw error;
      return { summary: `cannot be read: ${error.message}` }; // One unreadable chain must not hide the others.
    }),
  );
  const known = searchAttributesSchema.parse(await read(client, searchAttributes?.indexedFields));
  return {
    ...chain,
    workflowId: execution?.workflowId ?? '',
    status: !closeTime && known.RelayNeedsAttention ? 'needs-attention' : statusOf(status ?? 0),
    receivedAt,
    closedAt: isoTime(closeTime),
    rule,
    assignmentIds: known.RelayAssignmentIds,
    relayIds: known.RelayRuleIds,
    failureTypes: known.RelayFailureTypes,
    paused: !closeTime && known.RelayPaused ? true : undefined,
    summary,
    links: chainLinks(links, chain, execution?.runId ?? undefined),
  };
}

export async function read(client: Client, fields: NonNullable<Run['memo']>['fields'], workflowId?: string | null) {
  const entries = Object.entries(fields ?? {});
  const values = entries.map(async ([name, payload]) => [name, await readPayload(client, payload, workflowId ?? '')] as const);
  // The description of a workflow has null for a removed search attribute.
  return Object.fromEntries((await Promise.all(values)).filter(([, value]) => value !== null));
}
