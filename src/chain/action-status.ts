/**
 * What became of an action, as queries, signals and results carry it, and what its rule says about that. Workflows import only
 * the types, since zod has no place in their bundle.
 */

import { z } from 'zod';
import { actionStates, steeringVerbs } from './outcome.js';
import { connectors } from './pause.js';

export const actionErrorSchema = z.object({
  type: z.string().describe('The kind of failure, such as `PlatformError`.'),
  message: z.string().describe('What was wrong, where, and what to do.'),
  retryable: z.boolean().describe('Whether trying again without changing anything can help.'),
  unknown: z.boolean().optional().describe('Nobody can say whether the effect took place.'),
  retryAfterSeconds: z.number().optional().describe("The other side's `Retry-After`."),
  paused: z.enum(connectors).optional().describe('Nothing was tried: this connector is paused.'),
});
export type ActionError = z.infer<typeof actionErrorSchema>;
export const steeredSchema = z.object({
  at: z.string(),
  by: z.string(),
  verb: z.enum(steeringVerbs),
  fields: z.array(z.string()).optional().describe('The names of those that were mended.'),
});
export type Steered = z.infer<typeof steeredSchema>;

/** One action of a chain. Times are ISO 8601 in UTC. */
export const actionStatusSchema = z.object({
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
  error: actionErrorSchema.optional().describe('The last error; kept after a recovery.'),
  reason: z.string().optional().describe('Why it was skipped, failed, cancelled or not run.'),
  result: z.object({ recipients: z.number().optional().describe('How many the other side says it reached.') }).optional(),
  deliveries: z
    .array(
      z.object({
        recipient: z.string(),
        sent: z.boolean(),
        error: z.string().optional(),
        unknown: z.boolean().optional().describe('Nobody can say whether it has a copy.'),
      }),
    )
    .optional()
    .describe('What became of each recipient of an e-mail.'),
  nextAttemptAt: z.string().optional().describe('When the relay tries it again by itself.'),
  heldUntil: z.string().optional().describe('When it ends `failed` for want of a decision.'),
  pausedSince: z.string().optional().describe('Since when it waits, `pending`, for the end of a pause, which `reason` names.'),
  mends: z
    .array(z.int())
    .optional()
    .describe('The numbers in the chain of what was mended: with so many, the key of its effect ends in `/m2`.'),
  steered: z
    .array(steeredSchema)
    .optional()
    .describe(
      'Who decided what about it, the latest last: `admin`, `key <name>`, or `hand` for a signal that did not come from the API.',
    ),
});
export type ActionStatus = z.infer<typeof actionStatusSchema>;

export const onFailureSchema = z
  .enum(['hold', 'continue'])
  .describe('Whether what stands behind an action that cannot be done waits until somebody decides, or runs.');

export const onUnknownSchema = z
  .enum(['resend', 'hold'])
  .describe('Whether an effect of which nobody knows whether it took place is done again under the same key, or held.');
