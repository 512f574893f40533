/** Which chains: filters as the API takes them, and as Temporal's visibility is asked. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { relayIdPattern, relayIdRule } from '../chain/chain.js';
import { chainStatuses } from '../chain/outcome.js';

/**
 * Not with characters that a visibility store reads as its own: SQLite's would take what stands behind a quotation mark for a
 * query, and splits at the heart.
 */
const searchable = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^"\\♡\p{Cc}]*$/u, 'must not contain quotation marks, backslashes or control characters: it cannot be searched for');
const time = z.iso.datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-07-01T12:00:00Z' });

export const chainFilterSchema = z.strictObject({
  status: z.enum(chainStatuses).optional(),
  assignmentId: searchable.optional().describe('With an action for this assignment.'),
  relayId: z.string().regex(relayIdPattern, relayIdRule).optional().describe('With an action of this rule.'),
  reason: z
    .string()
    .regex(/^[A-Za-z]{1,64}$/, 'must be a type of failure, such as PlatformError')
    .optional()
    .describe('That need attention, or have failed, for this type of failure, such as `PlatformError`.'),
  since: time.optional().describe('Received then or later; a chain that was opened again counts as received then.'),
  until: time.optional().describe('Received before.'),
});
export type ChainFilter = z.infer<typeof chainFilterSchema>;

const statusQueries: Record<(typeof chainStatuses)[number], string> = {
  running: "ExecutionStatus = 'Running' AND RelayNeedsAttention = false",
  'needs-attention': "ExecutionStatus = 'Running' AND RelayNeedsAttention = true",
  completed: "ExecutionStatus = 'Completed'",
  failed: "ExecutionStatus IN ('Failed', 'TimedOut')",
  cancelled: "ExecutionStatus = 'Canceled'",
  terminated: "ExecutionStatus = 'Terminated'",
};

/** @param more - further conditions, in the language of visibility. */
export function visibilityQuery(filter: ChainFilter, companyId: string | undefined, more: readonly string[] = []): string {
  const { status, assignmentId, relayId, reason, since, until } = filter;
  return [
    "WorkflowType = 'RuleChain'",
    ...(companyId === undefined ? [] : [`RelayCompanyId = ${quoted(companyId)}`]),
    ...(status === undefined ? [] : [statusQueries[status]]),
    ...(assignmentId === undefined ? [] : [`RelayAssignmentIds = ${quoted(assignmentId)}`]),
    ...(relayId === undefined ? [] : [`RelayRuleIds = ${quoted(relayId)}`]),
    ...(reason === undefined ? [] : [`RelayFailureTypes = ${quoted(reason)}`]),
    ...(since === undefined ? [] : [`StartTime >= ${quoted(new Date(since).toISOString())}`]),
    ...(until === undefined ? [] : [`StartTime < ${quoted(new Date(until).toISOString())}`]),
    ...more,
  ].join(' AND ');
}

/** A text that may come from anywhere; `searchable` has refused what quoting does not make harmless in every visibility store. */
export function quoted(text: string): string {
  if (!searchable.safeParse(text).success) throw new RangeError('this text cannot be searched for');
  return `'${text.replaceAll("'", "''")}'`;
}

/** Tells one query from another, for cursors. */
export function hashOfQuery(query: string): string {
  return createHash('sha256').update(query).digest('hex').slice(0, 8);
}
