/** How the API shows chains, actions, and the steering of many chains. */

import { z } from 'zod';
import { actionErrorSchema, actionStatusSchema } from '../chain/action-status.js';
import type { Correction } from '../chain/correct.js';
import { bulkVerbs, chainStatuses } from '../chain/outcome.js';

export const actionSchema = actionStatusSchema
  .extend({ error: actionErrorSchema.omit({ paused: true }).optional().describe('The last error; kept after a recovery.') })
  .meta({ id: 'Action' });
export type ActionResource = z.infer<typeof actionSchema>;

const chainFacts = {
  chainId: z.string(),
  workflowId: z.string(),
  status: z.enum(chainStatuses),
  receivedAt: z.string().describe('When the request came in: what delays are measured from.'),
  closedAt: z.string().optional().describe('Absent: it is open.'),
};
const links = z.object({ chain: z.string(), webUi: z.string().optional().describe("The chain in Temporal's Web UI.") });

export const chainSchema = z
  .object({
    ...chainFacts,
    tokenIds: z
      .array(z.string())
      .optional()
      .describe('The tokens that started it, of very many the first; absent where somebody sent a refused request again.'),
    actions: z.array(actionSchema),
    ignored: z.array(z.string()).optional().describe('The last signals that had no effect, with why.'),
    historyFull: z.literal(true).optional().describe('It takes neither `retry` nor `reschedule` any more: send it again.'),
    partial: z.boolean().optional().describe('No worker answered in time: this is what the Temporal server knows.'),
    links,
  })
  .meta({ id: 'Chain' });
export type ChainResource = z.infer<typeof chainSchema>;

/** What a workflow says of itself. */
export const viewSchema = chainSchema.pick({ status: true, actions: true, ignored: true, historyFull: true });

/** What a notice says, in words. */
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
    assignmentIds: z.array(z.string()).describe('Those of its actions; of very many only the first.'),
    relayIds: z.array(z.string()).describe('The rules of its actions.'),
    failureTypes: z.array(z.string()).optional().describe('For which it needs attention or has failed, such as `PlatformError`.'),
    paused: z.literal(true).optional().describe('An action of it waits for the end of a pause.'),
    summary: z.string().optional(),
    links,
  })
  .meta({ id: 'ListedChain' });
export type ListedChain = z.infer<typeof listedChainSchema>;

export const chainListSchema = z.object({ items: z.array(listedChainSchema), nextCursor: z.string().optional() });
export type ChainList = z.infer<typeof chainListSchema>;

export const chainCountsSchema = z
  .record(z.enum(chainStatuses), z.int())
  .describe('How many chains have each status. A reset leaves a terminated run behind.');
export type ChainCounts = z.infer<typeof chainCountsSchema>;

/** The answer to a chain that will run. */
export const acceptedSchema = z
  .object({
    chainId: z.string(),
    workflowId: z.string(),
    receivedAt: z.iso.datetime().describe('What delays are measured from.'),
    actions: z.array(z.object({ index: z.int(), action: z.string(), relayId: z.string(), runAt: z.iso.datetime() })),
    warnings: z
      .array(z.object({ pointer: z.string(), detail: z.string() }))
      .describe('What is worth knowing and did not keep the chain from being accepted.'),
    links: z.object({
      chain: z.url(),
      webUi: z.url().optional().describe('Where the admin token or a company key came with it.'),
    }),
  })
  .meta({ id: 'Accepted' });
export type Accepted = z.infer<typeof acceptedSchema>;

export const correctionSchema = z
  .strictObject({
    field: z.string().min(1).max(100).describe('By its name in the request. Of a list, each text is corrected.'),
    replace: z
      .strictObject({ from: z.string().min(1).max(1000), to: z.string().max(1000) })
      .optional()
      .describe('First: every occurrence.'),
    trim: z.boolean().optional().describe('Then: without white space at both ends.'),
    default: z.string().max(10_000).optional().describe('Then: in place of what is blank, missing or not substituted.'),
  })
  .meta({ id: 'Correction' }) satisfies z.ZodType<Correction>;

export const bulkPreviewSchema = z.object({
  verb: z.enum(bulkVerbs),
  count: z.int().describe('How many chains it would concern. To do it, send the same again with this as `confirm`.'),
  first: z.array(listedChainSchema).describe('The first ten.'),
  mends: z
    .array(
      z.object({
        chainId: z.string(),
        index: z.int(),
        before: z.unknown().optional().describe('The field as it is.'),
        after: z.unknown().optional().describe('As it becomes; absent: it stays, and the action is left alone.'),
        problem: z.string().optional().describe('Why it is left alone all the same.'),
      }),
    )
    .optional()
    .describe('Of `mend`: what becomes of the field in each action of the first ten.'),
});

const bulkProgressSchema = z.object({
  done: z.int().describe('Chains that have been looked at.'),
  steered: z.int().describe('Chains of which at least one action was steered.'),
  actions: z.int().describe('Actions that were steered.'),
  unchanged: z.int().describe('Chains in which there was nothing to do any more.'),
  failed: z.int().describe('Chains that did not answer.'),
  failures: z.array(z.object({ workflowId: z.string(), error: z.string() })).describe('The first ten of those.'),
});
export type BulkProgress = z.infer<typeof bulkProgressSchema>;

export const bulkSchema = z
  .object({
    bulkId: z.string(),
    workflowId: z.string(),
    status: z.enum(['running', 'completed', 'failed', 'cancelled', 'terminated']),
    verb: z.enum(bulkVerbs),
    filter: z.record(z.string(), z.unknown()),
    count: z.int().describe('Chains.'),
    by: z.string(),
    startedAt: z.string(),
    closedAt: z.string().optional(),
    progress: bulkProgressSchema.optional().describe('Absent: no worker answers at the moment.'),
    links: z.object({ bulk: z.string(), webUi: z.string().optional() }),
  })
  .meta({ id: 'Bulk' });
export type Bulk = z.infer<typeof bulkSchema>;
