/** Steering many chains at once: first the count, then, confirmed by that count, a `BulkSteering` workflow that does it. */

import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { chainFilterSchema } from '../chains/filter.js';
import { listChains, listedChainSchema } from '../chains/list.js';
import type { StartOptions } from '../chains/start.js';
import { bulkVerbs } from '../contract/bulk.js';
import { progressQuery } from '../contract/messages.js';
import { companyKey } from '../contract/search-attributes.js';
import { type Links, workflowLink } from '../service/config.js';
import { actorName } from '../store/audit.js';
import type { Store } from '../store/store.js';
import type { BulkSteering } from '../workflows/bulk-steering.js';
import type { Authenticated } from './authentication.js';
import { invalid, parseAs, readObject } from './body.js';
import { notFound, Problem } from './problem.js';

export interface BulkOptions extends Pick<StartOptions, 'client' | 'taskQueue'> {
  links: Links;
  store: Pick<Store, 'audit'>;
}

const filterSchema = chainFilterSchema.extend({
  status: z
    .enum(
      ['running', 'needs-attention', 'failed'],
      'must be running, needs-attention, or for retry failed: what has ended otherwise cannot be steered',
    )
    .optional(),
});
export const bulkRequest = z.strictObject({
  verb: z
    .enum(bulkVerbs)
    .describe(
      '`retry` and `skip` what needs attention, `retry` also what has failed (`status: "failed"`: the chains are opened again), `runNow` what is scheduled, `cancel` what has not ended; of a chain of which nothing else is left, the whole.',
    ),
  filter: filterSchema
    .default({})
    .describe('Which chains; `assignmentId`, `relayId` and `reason` also choose among the actions of these chains.'),
  confirm: z.int().min(1).optional().describe('The `count` that was answered. Absent: nothing is done, only counted.'),
});
/** Across companies. */
export const anyBulkRequest = bulkRequest.extend({
  filter: filterSchema.extend({ companyId: z.string().max(64).optional() }).default({}),
});
type BulkRequest = z.infer<typeof bulkRequest>;

export const bulkPreviewSchema = z.object({
  verb: z.enum(bulkVerbs),
  count: z.int().describe('How many chains it would concern. To do it, send the same again with this as `confirm`.'),
  first: z.array(listedChainSchema).describe('The first ten.'),
});
export const bulkSchema = z.object({
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
});

/** At most so many chains at a time: their ids are the input of a workflow. */
const mostChains = 5_000;

const memoSchema = bulkSchema
  .pick({ verb: true, filter: true, count: true, by: true })
  .extend({ companyId: z.string().optional() });

/** To be put behind the authentication of the chains. */
export function bulkRoutes(options: BulkOptions): Hono<Authenticated> {
  return new Hono<Authenticated>()
    .post('/chains/bulk', async (c) => {
      const { filter, ...request } = parseAs(anyBulkRequest, await readObject(c));
      const { companyId, ...rest } = filter;
      return steerMany(c, options, { ...request, filter: rest }, companyId, '');
    })
    .post('/co/:companyId/chains/bulk', async (c) => {
      const companyId = c.req.param('companyId');
      return steerMany(c, options, parseAs(bulkRequest, await readObject(c)), companyId, `/co/${companyId}`);
    })
    .get('/chains/bulk/:bulkId', async (c) => c.json(await readBulk(options, c.req.param('bulkId'))))
    .get('/co/:companyId/chains/bulk/:bulkId', async (c) =>
      c.json(await readBulk(options, c.req.param('bulkId'), c.req.param('companyId'))),
    );
}

async function steerMany(
  c: Context<Authenticated>,
  options: BulkOptions,
  { verb, filter, confirm }: BulkRequest,
  companyId: string | undefined,
  base: string,
) {
  const { client, links, store, taskQueue } = options;
  const failed = filter.status === 'failed';
  if (failed && verb !== 'retry')
    throw invalid([
      { pointer: '/filter/status', detail: 'must be needs-attention or running: what has failed can only be retried' },
    ]);
  const held = !failed && (verb === 'retry' || verb === 'skip' || filter.reason !== undefined);
  if (held && filter.status === 'running')
    throw invalid([{ pointer: '/filter/status', detail: 'must be needs-attention for this' }]);
  const { items } = await listChains(client, links, {
    filter: { ...filter, ...(held && { status: 'needs-attention' }) },
    companyId,
    more: failed ? [] : ["ExecutionStatus = 'Running'"],
    limit: mostChains + 1,
  });
  const count = items.length;
  if (count > mostChains) {
    const detail = `finds more than ${mostChains} chains, which is too much at a time: narrow it with since and until`;
    throw invalid([{ pointer: '/filter', detail }]);
  }
  if (confirm === undefined) return c.json(bulkPreviewSchema.parse({ verb, count, first: items.slice(0, 10) }));
  if (confirm !== count)
    throw new Problem(
      'count-changed',
      `This concerns ${count} chains now, not ${confirm}. Look again, then confirm with ${count}.`,
    );

  const bulkId = randomUUID();
  const { assignmentId, relayId, reason } = filter;
  const by = actorName(c.get('actor'));
  await store.audit.record({
    actor: c.get('actor'),
    action: 'chain.bulk',
    ...(companyId !== undefined && { companyId }),
    details: { bulkId, verb, filter, count },
  });
  const memo: z.input<typeof memoSchema> = { verb, filter, count, by, ...(companyId !== undefined && { companyId }) };
  await client.workflow.start<typeof BulkSteering>('BulkSteering', {
    workflowId: workflowIdOf(bulkId),
    taskQueue,
    args: [{ bulkId, verb, actions: { assignmentId, relayId, reason, failed }, by }, items.map(({ workflowId }) => workflowId)],
    memo,
    ...(companyId !== undefined && { typedSearchAttributes: [{ key: companyKey, value: companyId }] }),
    staticSummary: `${verb} in ${count} chains${companyId === undefined ? '' : ` of ${companyId}`}, by ${by}`,
  });
  c.header('Location', `${base}/chains/bulk/${bulkId}`);
  return c.json(await readBulk(options, bulkId, base === '' ? undefined : companyId), 202);
}

async function readBulk({ client, links }: BulkOptions, bulkId: string, companyId?: string): Promise<z.infer<typeof bulkSchema>> {
  if (!/^[\w-]{1,64}$/.test(bulkId)) throw notFound('such bulk');
  const handle = client.workflow.getHandle(workflowIdOf(bulkId));
  const description = await handle.describe().catch((error: unknown) => {
    if (error instanceof WorkflowNotFoundError) throw notFound(`bulk ${bulkId}`);
    throw error;
  });
  const { companyId: ofCompany, ...facts } = memoSchema.parse(description.memo);
  if (companyId !== undefined && ofCompany !== companyId) throw notFound(`bulk ${bulkId}`);
  const { workflowId, status, startTime, closeTime } = description;
  const webUi = workflowLink(links, workflowId);
  const asked = client.withDeadline(Date.now() + 3_000, () => handle.query(progressQuery));
  const progress = await (status.name === 'COMPLETED' ? handle.result() : asked).catch(() => undefined);
  return bulkSchema.parse({
    ...facts,
    bulkId,
    workflowId,
    status: status.name === 'TIMED_OUT' ? 'failed' : status.name.toLowerCase(),
    startedAt: startTime.toISOString(),
    ...(closeTime && { closedAt: closeTime.toISOString() }),
    progress,
    links: {
      bulk: `${links.api}${companyId === undefined ? '' : `/co/${companyId}`}/chains/bulk/${bulkId}`,
      ...(webUi !== undefined && { webUi }),
    },
  });
}

function workflowIdOf(bulkId: string): string {
  return `relay-bulk:${bulkId}`;
}
