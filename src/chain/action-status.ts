/** An action's state in queries, signals and results. Workflows import only types from here, because their bundle has no zod. */

import { z } from 'zod';
import { steeringVerbs } from './allowed-verbs.js';
import { actionStates } from './outcome.js';
import { connectors } from './pause.js';

export const optionalText = z.string().optional();
export const actionErrorSchema = z.object({
  type: z.string().describe('The kind of failure, such as `PlatformError`.'),
  message: z.string().describe('What was wrong, where it was wrong, and what to do.'),
  title: optionalText.describe('The failure in one short sentence.'),
  remedy: optionalText.describe('What to do about the failure.'),
  retryable: z.boolean().describe('Whether a retry without changes can help.'),
  unknown: z.boolean().optional().describe('The outcome is unknown: the effect may have happened.'),
  retryAfterSeconds: z.number().optional().describe("The called system's `Retry-After`, in seconds."),
  paused: z.enum(connectors).optional().describe('This connector is paused, so nothing was sent.'),
});
export type ActionError = z.infer<typeof actionErrorSchema>;
export const steeredSchema = z.object({
  at: z.string(),
  by: z.string(),
  verb: z.enum(steeringVerbs),
  fields: z.array(z.string()).optional().describe('The names of the edited fields.'),
});
export type Steered = z.infer<typeof steeredSchema>;

/** Times are ISO 8601 in UTC. */
export const actionStatusSchema = z.object({
  index: z.int().describe('Zero-based place in the chain.'),
  action: z.string(),
  relayId: z.string().describe('The `relayId` of the rule.'),
  comment: optionalText,
  assignmentId: optionalText,
  state: z.enum(actionStates),
  workflowId: optionalText.describe('The workflow of a delayed action. Absent if the action runs in the workflow of the chain.'),
  runAt: optionalText.describe('When the action is or was due. In `getChain`, this time includes current pauses.'),
  startedAt: optionalText,
  endedAt: optionalText,
  attempts: z.number().optional(),
  error: actionErrorSchema.optional().describe('The last error. It stays after a recovery.'),
  reason: optionalText.describe('Why the action waits, failed, did not run, or was skipped or cancelled.'),
  result: z
    .object({
      recipients: z.number().optional().describe('The number of recipients that the called system reports.'),
      note: optionalText.describe('A remark of the connector, for example that the field already had the value.'),
    })
    .optional(),
  deliveries: z
    .array(
      z.object({
        recipient: z.string(),
        sent: z.boolean(),
        error: optionalText,
        unknown: z.boolean().optional().describe('The outcome is unknown: the recipient may have a copy.'),
      }),
    )
    .optional()
    .describe('The result for each recipient of an e-mail.'),
  nextAttemptAt: optionalText.describe('When the relay retries the action automatically.'),
  heldUntil: optionalText.describe('Without a decision, the action becomes `failed` at this time.'),
  pausedSince: optionalText.describe(
    'When the action began to wait for the end of a pause. Its state is then `pending`, and `reason` names the pause.',
  ),
  mends: z
    .array(z.int())
    .optional()
    .describe('The numbers of the edits of this action in the chain. After two edits, the idempotency key ends in `/m2`.'),
  steered: z
    .array(steeredSchema)
    .optional()
    .describe(
      'The decisions about the action, oldest first. `by` is `admin`, `key <name>`, or `hand` for a signal from outside the API.',
    ),
});
/** The values of late texts (see late.ts). All tries with the same idempotency key use the same values. */
export interface LateValues {
  values: Record<string, string>; // The key is a path in the assignment.
  recipients?: string[]; // Only if late texts name the recipients of an e-mail.
}

/**
 * Two fields are not in the API. `kept` is data that an attempt leaves for the next attempt with the same idempotency key. Only
 * the activity reads this data. `late` has the values of the late texts, which are read once for each idempotency key.
 */
export type ActionStatus = z.infer<typeof actionStatusSchema> & { kept?: unknown; late?: LateValues };

export const onFailureSchema = z
  .enum(['hold', 'continue'])
  .describe('If an action fails: `hold` the next actions until a person decides, or `continue` with them.');

export const onUnknownSchema = z
  .enum(['resend', 'hold'])
  .describe('If the outcome of an action is unknown: `resend` it with the same key, or `hold` it until a person decides.');
