/** How the API shows chains, actions and bulk orders. */

import { z } from 'zod';
import { actionErrorSchema, actionStatusSchema } from '../chain/action-status.js';
import { bulkVerbs } from '../chain/allowed-verbs.js';
import type { Correction } from '../chain/correct.js';
import { actionStates, chainStatuses } from '../chain/outcome.js';
import { anyObject, issues, named, namedStrict, onlyTrue } from './named.js';

export const actionSchema = named('Action', {
  ...actionStatusSchema.shape,
  error: actionErrorSchema.omit({ paused: true }).optional().describe('The last error, even after a later success.'),
  fields: anyObject
    .optional()
    .describe(
      'Fields of the action by their names in the request, without long texts and edited fields. Only `getChain` has them.',
    ),
});
export type ActionResource = z.infer<typeof actionSchema>;

const texts = z.array(z.string());

const ranRule = z
  .object({ relayId: z.string(), version: z.int(), eventId: z.string() })
  .optional()
  .describe('The rule and version that made this chain from an event. Absent if the request was a list of actions.');

const chainFacts = {
  chainId: z.string(),
  workflowId: z.string(),
  status: z
    .enum(chainStatuses)
    .describe('`forgotten`: Temporal lost the open chain, for example when a backup was restored. The chain does not run.'),
  receivedAt: z.string().describe('When the request arrived. Delays start at this time.'),
  closedAt: z.string().optional().describe('When the chain ended. Absent while the chain is open.'),
  rule: ranRule,
};
const links = z.object({
  chain: z.string(),
  webUi: z.string().optional().describe("The link to the chain in Temporal's Web UI, for operators."),
});

export const chainSchema = named('Chain', {
  ...chainFacts,
  tokenIds: texts
    .optional()
    .describe('The ids of the tokens in the request. A very long list is cut. Absent if a person sent a refused request again.'),
  warnings: issues.optional().describe('The warnings when the relay accepted the chain. A very long list is cut.'),
  actions: z.array(actionSchema),
  ignored: texts.optional().describe('The last signals that had no effect, each with the reason.'),
  historyFull: onlyTrue.describe(
    "The chain's history is full: `retry`, `mend` and `reschedule` are not possible. Send the request again.",
  ),
  partial: z.boolean().optional().describe('No worker answered in time: the answer has only what the Temporal server knows.'),
  forgotten: onlyTrue.describe('Temporal has deleted the chain: the answer has only what the relay kept. No verb is possible.'),
  links,
});
export type ChainResource = z.infer<typeof chainSchema>;
export const viewSchema = chainSchema.pick({ status: true, actions: true, ignored: true, historyFull: true });

export const noticeTextSchema = named('NoticeText', {
  headline: z.string(),
  sentence: z.string(),
  sections: z.array(z.object({ title: z.string(), lines: z.array(z.string()) })),
});
export type NoticeText = z.infer<typeof noticeTextSchema>;

export const listedChainSchema = named('ListedChain', {
  companyId: z.string(),
  ...chainFacts,
  assignmentIds: texts.describe('The assignments of the actions in the chain. A very long list is cut.'),
  relayIds: texts.describe('The rules of the actions in the chain.'),
  failureTypes: texts.optional().describe('The types of the failures in the chain, such as `PlatformError`.'),
  paused: onlyTrue.describe('`true` if an action of the chain waits for the end of a pause.'),
  summary: z.string().optional(),
  next: actionSchema
    .pick({ index: true, action: true, comment: true, fields: true })
    .extend({
      at: z.string().optional().describe('When the action is due. Absent while the action waits for a pause without an end.'),
    })
    .optional()
    .describe('The next delayed action of an open chain. Only with `steps=true`.'),
  problems: texts.optional().describe('Why actions of the chain need attention, in words. Only with `steps=true`.'),
  nobodyFound: onlyTrue.describe('The last send of an assignment found no technician.'),
  links,
});
export type ListedChain = z.infer<typeof listedChainSchema>;
export const chainListSchema = z.object({ items: z.array(listedChainSchema), nextCursor: z.string().optional() });
export type ChainList = z.infer<typeof chainListSchema>;
export const chainCountsSchema = z.record(z.enum(chainStatuses), z.int()).describe('The number of chains by status.');
export type ChainCounts = z.infer<typeof chainCountsSchema>;

export const acceptedSchema = named('Accepted', {
  chainId: z.string(),
  workflowId: z.string(),
  receivedAt: z.iso.datetime().describe('When the request arrived. Delays start at this time.'),
  actions: z.array(z.object({ index: z.int(), action: z.string(), relayId: z.string(), runAt: z.iso.datetime() })),
  warnings: issues.describe('Mistakes that the relay tolerates.'),
  links: z.object({
    chain: z.url(),
    webUi: z.url().optional().describe("The link to Temporal's Web UI. Only requests with an admin token get this link."),
  }),
});
export type Accepted = z.infer<typeof acceptedSchema>;

/** Where the open actions of a chain contain the assignment id of an action. */
export const namesOfAssignment = z.object({
  sameAssignment: z.array(z.int()).describe('The indexes of the other open actions with the same assignment.'),
  naming: z
    .array(z.object({ index: z.int(), field: z.string(), fixed: onlyTrue.describe('`texts` does not change this field.') }))
    .describe('The texts of open actions that contain the assignment id. An edit of the id changes them only with `texts`.'),
});

export const correctionSchema = namedStrict('Correction', {
  field: z.string().min(1).max(100).describe('The name of the field. In a list field, the relay edits every text.'),
  replace: z
    .strictObject({ from: z.string().min(1).max(1000), to: z.string().max(1000) })
    .optional()
    .describe('First: replaces every occurrence of `from` with `to`.'),
  trim: z.boolean().optional().describe('Second: removes white space at both ends.'),
  default: z
    .string()
    .max(10_000)
    .optional()
    .describe(
      'Third: gives the field this value if the field is blank or missing, or still contains a variable such as `${name}`.',
    ),
  texts: z
    .boolean()
    .optional()
    .describe('Only for `platformAssignmentId`: also edits other actions and texts of each chain, like `texts` of `mendAction`.'),
}) satisfies z.ZodType<Correction>;

export const bulkPreviewSchema = z.object({
  verb: z.enum(bulkVerbs),
  count: z.int().describe('The number of chains. To run the order, send the order again with this number as `confirm`.'),
  first: z.array(listedChainSchema).describe('The first ten chains.'),
  mends: z
    .array(
      z.object({
        chainId: z.string(),
        index: z.int(),
        before: z
          .unknown()
          .optional()
          .describe('The current value of the field. A long text is cut to 500 characters, a long list to ten entries.'),
        after: z.unknown().optional().describe('The new value, cut in the same way. Absent if the action is not edited.'),
        problem: z.string().optional().describe('Why the action is not edited.'),
        ...namesOfAssignment.partial().shape,
      }),
    )
    .optional()
    .describe('Only for `mend`: the field before and after the edit, for each action of the first ten chains.'),
});

const bulkProgressSchema = z.object({
  done: z.int().describe('The number of chains that the order has handled.'),
  steered: z.int().describe('The number of chains in which the order had an effect.'),
  actions: z.int().describe('The number of actions on which the order had an effect.'),
  unchanged: z.int().describe('The number of chains in which there was nothing to do.'),
  failed: z.int().describe('The number of chains that did not answer.'),
  refused: z
    .int()
    .default(0)
    .describe(
      'The number of actions that were not edited: the edit was invalid or over the daily limit, or the outcome is unknown.',
    ),
  outcomes: z
    .partialRecord(z.enum(actionStates), z.int())
    .optional()
    .describe('The steered actions by state, up to 3 seconds after the decision. `needs-attention`: the action failed again.'),
  nobodyFound: z.int().optional().describe('The number of retried sends that found no technician. Their state is `done`.'),
  failures: z
    .array(z.object({ workflowId: z.string(), error: z.string() }))
    .describe('The first ten problems, each with the reason: a chain did not answer, or an action was refused or failed again.'),
});
export type BulkProgress = z.infer<typeof bulkProgressSchema>;

export const bulkSchema = named('Bulk', {
  bulkId: z.string(),
  workflowId: z.string(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled', 'terminated']),
  verb: z.enum(bulkVerbs),
  filter: anyObject,
  count: z.int().describe('The number of chains in the order.'),
  by: z.string(),
  startedAt: z.string(),
  closedAt: z.string().optional(),
  progress: bulkProgressSchema.optional().describe('The progress so far. Absent if no worker answers now.'),
  links: z.object({ bulk: z.string(), webUi: z.string().optional() }),
});
export type Bulk = z.infer<typeof bulkSchema>;
