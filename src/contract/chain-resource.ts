/** How the API shows chains and actions. */

import { z } from 'zod';
import { steeringVerbs } from '../chain/outcome.js';

export const actionStates = [
  'pending',
  'scheduled',
  'running',
  'retrying',
  'needs-attention',
  'done',
  'skipped',
  'failed',
  'partly-failed',
  'not-run',
  'cancelled',
] as const;
export const chainStatuses = ['running', 'needs-attention', 'completed', 'failed', 'cancelled', 'terminated'] as const;

const troubleSchema = z.object({
  type: z.string().describe('The kind of failure, such as `PlatformError`.'),
  message: z.string().describe('What was wrong, where, and what to do.'),
  retryable: z.boolean().describe('Whether trying again without changing anything can help.'),
  unknown: z.boolean().optional().describe('Nobody can say whether the effect took place.'),
  retryAfterSeconds: z.number().optional().describe("The other side's `Retry-After`."),
});

export const actionSchema = z
  .object({
    index: z.int().describe('Zero-based place in the chain.'),
    action: z.string(),
    relayId: z.string().describe('The rule.'),
    comment: z.string().optional(),
    assignmentId: z.string().optional(),
    state: z.enum(actionStates),
    workflowId: z.string().optional().describe("The workflow of a delayed action; absent: it runs in the chain's own."),
    runAt: z.string().optional().describe('When it is or was due.'),
    startedAt: z.string().optional(),
    endedAt: z.string().optional(),
    attempts: z.number().optional(),
    error: troubleSchema.optional().describe('The last error; kept after a recovery.'),
    reason: z.string().optional().describe('Why it was skipped, failed, cancelled or not run.'),
    result: z.object({ recipients: z.number().optional().describe('How many the other side says it reached.') }).optional(),
    deliveries: z
      .array(z.object({ recipient: z.string(), sent: z.boolean(), error: z.string().optional() }))
      .optional()
      .describe('What became of each recipient of an e-mail.'),
    nextAttemptAt: z.string().optional().describe('When the relay tries it again by itself.'),
    heldUntil: z.string().optional().describe('When it ends `failed` for want of a decision.'),
    pausedSince: z.string().optional().describe('Since when it waits, `pending`, for the end of a pause, which `reason` names.'),
    steered: z
      .array(z.object({ at: z.string(), by: z.string(), verb: z.enum(steeringVerbs) }))
      .optional()
      .describe(
        'Who decided what about it, the latest last: `admin`, `key <name>`, or `hand` for a signal that did not come from the API.',
      ),
  })
  .meta({ id: 'Action' });
export type ActionResource = z.infer<typeof actionSchema>;

/** What a workflow says of itself. */
const ignored = z.array(z.string()).optional().describe('The last signals that had no effect, with why.');
export const viewSchema = z.object({ status: z.enum(chainStatuses), actions: z.array(actionSchema), ignored });

export const chainSchema = z
  .object({
    chainId: z.string(),
    workflowId: z.string(),
    status: z.enum(chainStatuses),
    receivedAt: z.string().describe('When the request came in: what delays are measured from.'),
    closedAt: z.string().optional().describe('Absent: it is open.'),
    actions: z.array(actionSchema),
    ignored,
    partial: z.boolean().optional().describe('No worker answered in time: this is what the Temporal server knows.'),
    links: z.object({ chain: z.string(), webUi: z.string().optional().describe("The chain in Temporal's Web UI.") }),
  })
  .meta({ id: 'Chain' });
export type ChainResource = z.infer<typeof chainSchema>;

/** A chain as a list shows it. */
export const listedChainSchema = z
  .object({
    companyId: z.string(),
    chainId: z.string(),
    workflowId: z.string(),
    status: z.enum(chainStatuses),
    receivedAt: z.string(),
    closedAt: z.string().optional().describe('Absent: it is open.'),
    assignmentIds: z.array(z.string()).describe('Those of its actions; of very many only the first.'),
    relayIds: z.array(z.string()).describe('The rules of its actions.'),
    failureTypes: z.array(z.string()).optional().describe('For which it needs attention or has failed, such as `PlatformError`.'),
    paused: z.literal(true).optional().describe('An action of it waits for the end of a pause.'),
    summary: z.string().optional(),
    links: z.object({ chain: z.string(), webUi: z.string().optional().describe("The chain in Temporal's Web UI.") }),
  })
  .meta({ id: 'ListedChain' });
export type ListedChain = z.infer<typeof listedChainSchema>;

export const chainListSchema = z.object({ items: z.array(listedChainSchema), nextCursor: z.string().optional() });
export type ChainList = z.infer<typeof chainListSchema>;
