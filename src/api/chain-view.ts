/** How the API shows chains and actions. */

import { z } from 'zod';

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
  type: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  unknown: z.boolean().optional(),
  retryAfterSeconds: z.number().optional(),
});

export const actionSchema = z.object({
  index: z.int(),
  action: z.string(),
  relayId: z.string(),
  comment: z.string().optional(),
  assignmentId: z.string().optional(),
  state: z.enum(actionStates),
  workflowId: z.string().optional(),
  runAt: z.string().optional(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  attempts: z.number().optional(),
  error: troubleSchema.optional(),
  reason: z.string().optional(),
  result: z.object({ recipients: z.number().optional() }).optional(),
  deliveries: z.array(z.object({ recipient: z.string(), sent: z.boolean(), error: z.string().optional() })).optional(),
  nextAttemptAt: z.string().optional(),
  heldUntil: z.string().optional(),
});
export type ShownAction = z.infer<typeof actionSchema>;

/** What a workflow says of itself. */
export const viewSchema = z.object({ status: z.enum(chainStatuses), actions: z.array(actionSchema) });

export const chainSchema = z.object({
  chainId: z.string(),
  workflowId: z.string(),
  status: z.enum(chainStatuses),
  receivedAt: z.string(),
  closedAt: z.string().optional(),
  actions: z.array(actionSchema),
  /** No worker answered in time: this is what the server knows. */
  partial: z.boolean().optional(),
  links: z.object({ chain: z.string(), webUi: z.string().optional() }),
});
export type ShownChain = z.infer<typeof chainSchema>;
