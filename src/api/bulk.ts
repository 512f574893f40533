/** Steering many chains at once, of one company or across all: first they are counted; confirmed by that count, it is done. */

import { z } from 'zod';
import { bulkVerbs } from '../chain/outcome.js';
import { findChains, readBulk, steerChains } from '../chains/bulk.js';
import { chainFilterSchema } from '../chains/list.js';
import { type Bulk, bulkPreviewSchema, bulkSchema } from '../contract/chain-resource.js';
import { Problem } from '../contract/problem.js';
import { found } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

const filterSchema = chainFilterSchema.extend({
  status: z
    .enum(
      ['running', 'needs-attention', 'failed'],
      'must be running, needs-attention, or for retry failed: what has ended otherwise cannot be steered',
    )
    .optional(),
});
const bulkRequest = z
  .strictObject({
    verb: z
      .enum(bulkVerbs)
      .describe(
        '`retry` and `skip` what needs attention, `retry` also what has failed (`status: "failed"`: the chains are opened again), ' +
          '`runNow` what is scheduled, `cancel` what has not ended; of a chain of which nothing else is left, the whole.',
      ),
    filter: filterSchema
      .default({})
      .describe('Which chains; `assignmentId`, `relayId` and `reason` also choose among the actions of these chains.'),
    confirm: z.int().min(1).optional().describe('The `count` that was answered. Absent: nothing is done, only counted.'),
  })
  .meta({ id: 'BulkRequest' });
/** Across companies. */
const anyBulkRequest = bulkRequest
  .extend({ filter: filterSchema.extend({ companyId: z.string().max(64).optional() }).default({}) })
  .meta({ id: 'AnyBulkRequest' });

export function bulkRoutes(options: ApiOptions): Route[] {
  return [
    ...routesAt('/co/:companyId', ['steerChains', 'Steer many chains at once'], 'getBulk', bulkRequest, options),
    ...routesAt('', ['steerAllChains', 'Steer many chains across companies'], 'getBulkOfAll', anyBulkRequest, options),
  ];
}

function routesAt(
  base: '/co/:companyId' | '',
  [steer, summary]: [id: string, summary: string],
  read: string,
  body: z.ZodType<z.infer<typeof anyBulkRequest>>,
  options: ApiOptions,
): Route[] {
  const find = async (bulkId: string, companyId: string | undefined): Promise<Bulk> =>
    found(/^[\w-]{1,64}$/.test(bulkId) && (await readBulk(options, bulkId, companyId)), `bulk ${bulkId}`);
  return [
    route(`POST ${base}/chains/bulk`, steer, summary, {
      description:
        'Without `confirm` nothing is done: the answer says how many chains it would concern, and shows the first ten. With' +
        ' that count as `confirm` it is done, in the background.',
      body,
      answers: {
        200: ['What it would concern.', bulkPreviewSchema],
        202: ['It is being done.', bulkSchema, { Location: 'Where to see how far it is.' }],
      },
      problems: ['not-found', 'count-changed', 'temporal-unavailable'],
      async handle(c, { actor, body: { verb, filter, confirm } }) {
        const inPath = c.req.param('companyId');
        const { companyId = inPath, ...rest } = filter;
        const request = { verb, filter: rest, companyId };
        const chains = await findChains(options, request);
        const count = chains.length;
        if (confirm === undefined) return c.json(bulkPreviewSchema.parse({ verb, count, first: chains.slice(0, 10) }));
        const changed = `This concerns ${count} chains now, not ${confirm}. Look again, then confirm with ${count}.`;
        if (confirm !== count) throw new Problem('count-changed', changed);
        const bulkId = await steerChains(options, request, chains, actor);
        c.header('Location', `${c.req.path}/${bulkId}`);
        return c.json(await find(bulkId, inPath), 202);
      },
    }),
    route(`GET ${base}/chains/bulk/:bulkId`, read, 'Read how far the steering of many chains is', {
      answers: { 200: ['How far it is.', bulkSchema] },
      handle: async (c, { bulkId }) => c.json(await find(bulkId, c.req.param('companyId'))),
    }),
  ];
}
