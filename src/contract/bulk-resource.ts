/** How the API shows the steering of many chains. */

import { z } from 'zod';
import { bulkVerbs } from './bulk.js';
import { listedChainSchema } from './chain-resource.js';

export const bulkPreviewSchema = z.object({
  verb: z.enum(bulkVerbs),
  count: z.int().describe('How many chains it would concern. To do it, send the same again with this as `confirm`.'),
  first: z.array(listedChainSchema).describe('The first ten.'),
});

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
    progress: z
      .object({
        done: z.int().describe('Chains that have been looked at.'),
        steered: z.int().describe('Chains of which at least one action was steered.'),
        actions: z.int().describe('Actions that were steered.'),
        unchanged: z.int().describe('Chains in which there was nothing to do any more.'),
        failed: z.int().describe('Chains that did not answer.'),
        failures: z.array(z.object({ workflowId: z.string(), error: z.string() })).describe('The first ten of those.'),
      })
      .optional()
      .describe('Absent: no worker answers at the moment.'),
    links: z.object({ bulk: z.string(), webUi: z.string().optional() }),
  })
  .meta({ id: 'Bulk' });
export type Bulk = z.infer<typeof bulkSchema>;
