/** How the API shows chains, actions and bulk orders. */

import { z } from 'zod';
import { actionErrorSchema, actionStatusSchema } from '../chain/action-status.js';
import { bulkVerbs } from '../chain/allowed-verbs.js';
import type { Correction } from '../chain/correct.js';
import { actionStates, chainStatuses } from '../chain/outcome.js';

export const actionSchema = actionStatusSchema
  .extend({ error: actionErrorSchema.omit({ paused: true }).optional().describe('The last error. It stays after a recovery.') })
  .meta({ id: 'Action' });
export type ActionResource = z.infer<typeof actionSchema>;

const chainFacts = {
  chainId: z.string(),
  workflowId: z.string(),
  status: z.enum(chainStatuses),
  receivedAt: z.string().describe('When the request arrived. Delays start then.'),
  closedAt: z.string().optional().describe('Absent: the chain is open.'),
};
const links = z.object({
  chain: z.string(),
  webUi: z.string().optional().describe("For operators: the chain in Temporal's Web UI."),
});

export const chainSchema = z
  .object({
    ...chainFacts,
    tokenIds: z
      .array(z.string())
      .optional()
      .describe(
        'The tokens that started it (only the first if there are very many). Absent: a person sent a refused request again.',
      ),
    warnings: z
      .array(z.object({ pointer: z.string(), detail: z.string() }))
      .optional()
      .describe('The warnings when it was accepted (only the first if there are very many).'),
    actions: z.array(actionSchema),
    ignored: z.array(z.string()).optional().describe('The last signals that had no effect, with the reason.'),
    historyFull: z
      .literal(true)
      .optional()
      .describe('Its history is full: `retry` and `reschedule` are not possible any more. Send the request again.'),
    partial: z.boolean().optional().describe('No worker answered in time: this is the state on the Temporal server.'),
    links,
  })
  .meta({ id: 'Chain' });
export type ChainResource = z.infer<typeof chainSchema>;

export const viewSchema = chainSchema.pick({ status: true, actions: true, ignored: true, historyFull: true });

export const noticeTextSchema = z
  .object({
    headline: z.string(),
    sentence: z.string(),
    sections: z.array(z.object({ title: z.string(), lines: z.array(z.string()) })),
  })
  .meta({ id: 'NoticeText' });
export type NoticeText = z.infer<typeof noticeTextSchema>;

export const listedChainSchema = z
  .object({
    companyId: z.string(),
    ...chainFacts,
    assignmentIds: z.array(z.string()).describe('The assignments of its actions (only the first if there are very many).'),
    relayIds: z.array(z.string()).describe('The rules of its actions.'),
    failureTypes: z.array(z.string()).optional().describe('The types of its failures, such as `PlatformError`.'),
    paused: z.literal(true).optional().describe('One of its actions waits for the end of a pause.'),
    summary: z.string().optional(),
    links,
  })
  .meta({ id: 'ListedChain' });
export type ListedChain = z.infer<typeof listedChainSchema>;

export const chainListSchema = z.object({ items: z.array(listedChainSchema), nextCursor: z.string().optional() });
export type ChainList = z.infer<typeof chainListSchema>;

export const chainCountsSchema = z
  .record(z.enum(chainStatuses), z.int())
  .describe('The number of chains by status. A reset in Temporal adds a terminated run.');
export type ChainCounts = z.infer<typeof chainCountsSchema>;

export const acceptedSchema = z
  .object({
    chainId: z.string(),
    workflowId: z.string(),
    receivedAt: z.iso.datetime().describe('Delays start then.'),
    actions: z.array(z.object({ index: z.int(), action: z.string(), relayId: z.string(), runAt: z.iso.datetime() })),
    warnings: z.array(z.object({ pointer: z.string(), detail: z.string() })).describe('The chain is accepted anyway.'),
    links: z.object({
      chain: z.url(),
      webUi: z.url().optional().describe('Only if the request has an admin token.'),
    }),
  })
  .meta({ id: 'Accepted' });
export type Accepted = z.infer<typeof acceptedSchema>;

export const correctionSchema = z
  .strictObject({
    field: z.string().min(1).max(100).describe('The name of the field in the request. In a list, every text is edited.'),
    replace: z
      .strictObject({ from: z.string().min(1).max(1000), to: z.string().max(1000) })
      .optional()
      .describe('First: replace every occurrence.'),
    trim: z.boolean().optional().describe('Then: remove white space at both ends.'),
    default: z.string().max(10_000).optional().describe('Then: the value if the field is blank, missing or not substituted.'),
  })
  .meta({ id: 'Correction' }) satisfies z.ZodType<Correction>;

export const bulkPreviewSchema = z.object({
  verb: z.enum(bulkVerbs),
  count: z.int().describe('The number of chains. To run the order, send it again with this number as `confirm`.'),
  first: z.array(listedChainSchema).describe('The first ten.'),
  mends: z
    .array(
      z.object({
        chainId: z.string(),
        index: z.int(),
        before: z
          .unknown()
          .optional()
          .describe('The current field: the first 500 characters of a long text, the first ten of a long list.'),
        after: z.unknown().optional().describe('The new field, cut in the same way. Absent: the action is not edited.'),
        problem: z.string().optional().describe('Why the action is not edited.'),
      }),
    )
    .optional()
    .describe('Only for `mend`: the field before and after, in each action of the first ten chains.'),
});

const bulkProgressSchema = z.object({
  done: z.int().describe('Chains that are finished.'),
  steered: z.int().describe('Chains where the order had an effect.'),
  actions: z.int().describe('Actions where the order had an effect.'),
  unchanged: z.int().describe('Chains with nothing left to do.'),
  failed: z.int().describe('Chains that did not answer.'),
  refused: z.int().default(0).describe('Actions that were not edited: the edit is invalid, or over the daily limit.'),
  outcomes: z
    .partialRecord(z.enum(actionStates), z.int())
    .optional()
    .describe('The states of these actions up to 3 seconds later, with counts. `needs-attention`: failed again.'),
  failures: z
    .array(z.object({ workflowId: z.string(), error: z.string() }))
    .describe('The first ten chains that did not answer, and actions that were refused or failed again, with the reason.'),
});
export type BulkProgress = z.infer<typeof bulkProgressSchema>;

export const bulkSchema = z
  .object({
    bulkId: z.string(),
    workflowId: z.string(),
    status: z.enum(['running', 'completed', 'failed', 'cancelled', 'terminated']),
    verb: z.enum(bulkVerbs),
    filter: z.record(z.string(), z.unknown()),
    count: z.int().describe('The number of chains.'),
    by: z.string(),
    startedAt: z.string(),
    closedAt: z.string().optional(),
    progress: bulkProgressSchema.optional().describe('Absent: no worker answers now.'),
    links: z.object({ bulk: z.string(), webUi: z.string().optional() }),
  })
  .meta({ id: 'Bulk' });
export type Bulk = z.infer<typeof bulkSchema>;
