/** The chain resource: lists of chains, how one stands, and the ways to steer one or many. */

import { z } from 'zod';
import { companyIdPattern, maxDelaySeconds } from '../chain/chain.js';
import { bulkVerbs, steeringVerbs } from '../chain/outcome.js';
import {
  type Bulk,
  bulkPreviewSchema,
  bulkSchema,
  type ChainResource,
  chainCountsSchema,
  chainListSchema,
  chainSchema,
  correctionSchema,
  noticeTextSchema,
} from '../contract/chain-resource.js';
import { Problem } from '../contract/problem.js';
import { standingWords } from '../notices/chain-words.js';
import { findChains, isSteeringMany, previewMends, readBulk, steerChains } from '../temporal/bulk.js';
import { chainCursor, chainFilterSchema, countChains, listChains } from '../temporal/list.js';
import { readFields } from '../temporal/mend.js';
import { readChain } from '../temporal/read.js';
import { cancelChain, steerAction } from '../temporal/steer.js';
import { invalid, pageQuery, readTexts } from './input.js';
import { found, notFound } from './problems.js';
import type { Quotas } from './quotas.js';
import { type ApiOptions, type Route, route } from './route.js';

const listQuery = chainFilterSchema.extend({
  paused: z.literal('true').optional().describe('Only those of which an action waits for the end of a pause.'),
  ...pageQuery(chainCursor).shape,
});

const rescheduleSchema = z
  .strictObject({
    seconds: z.number().min(0).max(maxDelaySeconds).describe('From now. Needed to `reschedule`, and for nothing else.'),
  })
  .meta({ id: 'Reschedule' });

const anyFields = z.record(z.string(), z.unknown());
const mendRequest = z
  .strictObject({
    fields: anyFields.describe(
      'The fields that change, by their names in the request, with their new values; `null` removes one. `action` and `relayId`' +
        ' stay, `delayInSeconds` too unless it was blank.',
    ),
    confirmUnknown: z
      .boolean()
      .optional()
      .describe('Needed where nobody knows whether the last try took effect: the mended action is another effect.'),
  })
  .meta({ id: 'Mend' });
const fieldsSchema = z
  .object({
    chainId: z.string(),
    index: z.int(),
    fields: anyFields.describe('As they stand, without the token.'),
    sent: anyFields.optional().describe('As they had been sent, where it was mended.'),
  })
  .meta({ id: 'ActionFields' });
const steeredAnswer = z.object({
  chainId: z.string(),
  index: z.int(),
  accepted: z.string(),
  reopened: z.literal(true).optional().describe('The chain had closed, and has been opened again.'),
});

const filterSchema = chainFilterSchema.extend({
  status: z
    .enum(
      ['running', 'needs-attention', 'failed'],
      'must be running, needs-attention, or for retry and mend failed: what has ended otherwise cannot be steered',
    )
    .optional(),
  causeId: z.string().max(64).optional().describe('What is held for this cause of the company, which must be named too.'),
});
const bulkRequest = z
  .strictObject({
    verb: z
      .enum(bulkVerbs)
      .describe(
        '`retry`, `mend` and `skip` what needs attention, `retry` and `mend` also what has failed (`status: "failed"`: the chains are opened ' +
          'again), `runNow` what is scheduled, `cancel` what has not ended; of a chain of which nothing else is left, the whole.',
      ),
    filter: filterSchema
      .default({})
      .describe('Which chains; `assignmentId`, `relayId` and `reason` also choose among the actions of these chains.'),
    correction: correctionSchema.optional().describe('Of `mend`, and only of that: what is changed in each action.'),
    confirm: z.int().min(1).optional().describe('The `count` that was answered. Absent: nothing is done, only counted.'),
  })
  .meta({ id: 'BulkRequest' });
const anyBulkRequest = bulkRequest
  .extend({ filter: filterSchema.extend({ companyId: z.string().max(64).optional() }).default({}) })
  .meta({ id: 'AnyBulkRequest' });

export function chainRoutes(options: ApiOptions, quotas: Quotas): Route[] {
  const { client, links, store } = options;
  const steering = { ...options, admit: quotas.admit };
  const chainOf = async (companyId: string, chainId: string): Promise<ChainResource> => {
    const chain = /^[\w-]{1,128}$/.test(chainId) ? await readChain(client, links, companyId, chainId) : undefined;
    if (chain) return chain;
    throw notFound((await store.companies.get(companyId)) ? `chain ${chainId}` : `company ${companyId}`);
  };
  const actionOf = async (companyId: string, chainId: string, index: string) => {
    const chain = await chainOf(companyId, chainId);
    const action = chain.actions.find((action) => String(action.index) === index);
    return { chain, action: found(action, `action ${index} in chain ${chainId}`) };
  };
  const list = async (companyId: string | undefined, query: z.infer<typeof listQuery>) => {
    const { paused, limit, cursor, ...filter } = query;
    if (companyId !== undefined && !companyIdPattern.test(companyId)) throw notFound(`company ${companyId}`);
    return listChains(client, links, { filter, companyId, more: paused ? ['RelayPaused = true'] : [], limit, cursor });
  };
  return [
    // First, since `bulk` could be the id of a chain.
    ...bulkRoutesAt('/co/:companyId', ['steerChains', 'Steer many chains at once'], 'getBulk', bulkRequest, options, quotas),
    ...bulkRoutesAt(
      '',
      ['steerAllChains', 'Steer many chains across companies'],
      'getBulkOfAll',
      anyBulkRequest,
      options,
      quotas,
    ),
    route('GET /co/:companyId/chains', 'listChains', 'List the chains of a company', {
      use: 'lists',
      description: 'Open chains first, the newest first, then closed ones. It needs no worker, and is a moment behind.',
      query: listQuery,
      answers: { 200: ['Each chain once.', chainListSchema] },
      problems: ['temporal-unavailable'],
      handle: async (c, { companyId, query }) => c.json(await list(companyId, query)),
    }),
    route('GET /co/:companyId/chains/counts', 'countChains', 'Count the chains of a company by status', {
      use: 'lists',
      query: chainFilterSchema.omit({ status: true }),
      answers: { 200: ['How many there are.', chainCountsSchema] },
      problems: ['temporal-unavailable'],
      async handle(c, { companyId, query }) {
        found(companyIdPattern.test(companyId), `company ${companyId}`);
        return c.json(await countChains(client, query, companyId));
      },
    }),
    route('GET /chains', 'listAllChains', 'List the chains of all companies', {
      query: listQuery.extend({ companyId: z.string().optional().describe('Only of this company.') }),
      answers: { 200: ['Each chain once.', chainListSchema] },
      problems: ['not-found', 'temporal-unavailable'],
      handle: async (c, { query: { companyId, ...query } }) => c.json(await list(companyId, query)),
    }),
    route('GET /co/:companyId/chains/:chainId', 'getChain', 'Read a chain', {
      use: 'reads',
      answers: { 200: ['The chain and its actions as they stand.', chainSchema] },
      handle: async (c, { companyId, chainId }) => c.json(await chainOf(companyId, chainId)),
    }),
    route('POST /co/:companyId/chains/:chainId/cancel', 'cancelChain', 'Cancel a chain', {
      use: 'steering',
      description: 'An effect under way is awaited and its outcome recorded; what has not run becomes `cancelled`.',
      answers: { 202: ['It is being cancelled.', z.object({ chainId: z.string(), cancelling: z.literal(true) })] },
      problems: ['already-ended'],
      async handle(c, { companyId, chainId, actor }) {
        await cancelChain(options, companyId, await chainOf(companyId, chainId), actor);
        return c.json({ chainId, cancelling: true }, 202);
      },
    }),
    route('GET /co/:companyId/chains/:chainId/actions/:index/fields', 'getFields', 'Read the fields of an action', {
      use: 'reads',
      answers: { 200: ['By their names in the request.', fieldsSchema] },
      problems: ['not-steerable', 'temporal-unavailable'],
      async handle(c, { companyId, chainId, index }) {
        const { chain, action } = await actionOf(companyId, chainId, index);
        return c.json({ chainId, index: action.index, ...(await readFields(client, chain, action)) });
      },
    }),
    route('GET /co/:companyId/chains/:chainId/actions/:index/notice', 'getNotice', 'Read what a notice says of an action', {
      use: 'reads',
      description: 'Of one that needs attention, has failed or is partly failed, as it stands. Nobody is told by it.',
      answers: { 200: ['In words.', noticeTextSchema] },
      async handle(c, { companyId, chainId, index }) {
        const { chain, action } = await actionOf(companyId, chainId, index);
        const { relayId } = action;
        const { company, rules } = (await store.settings.of(companyId)) ?? {};
        const context = {
          companyName: company?.name ?? companyId,
          ruleName: rules?.get(relayId)?.name ?? relayId,
          links,
          namespace: client.options.namespace,
        };
        const words = standingWords({ ...chain, companyId, relayId, index: action.index }, context);
        return c.json(found(words, `notice of action ${index}: it is ${action.state}`));
      },
    }),
    // Before the other verbs.
    route('POST /co/:companyId/chains/:chainId/actions/:index/mend', 'mendAction', 'Mend an action and try it again', {
      use: 'steering',
      description:
        'Of an action that needs attention, has failed or is partly failed: its fields are changed, all are checked as those of a ' +
        'request are, and it is tried again, as by `retry`. Its effect gets a key of its own; who has a copy of an e-mail gets no other.',
      rawBody: mendRequest,
      answers: { 202: ['It has been passed on to the chain.', steeredAnswer] },
      problems: ['invalid-body', 'already-ended', 'not-steerable', 'not-confirmed', 'quota-exceeded', 'temporal-unavailable'],
      async handle(c, { companyId, chainId, index, actor }) {
        const { chain, action } = await actionOf(companyId, chainId, index);
        const asked = await readTexts(c, mendRequest);
        const reopened = await steerAction(steering, companyId, chain, action, { verb: 'mend', ...asked }, actor);
        return c.json({ chainId, index: action.index, accepted: 'mend', reopened: reopened || undefined }, 202);
      },
    }),
    route('POST /co/:companyId/chains/:chainId/actions/:index/:verb', 'steerAction', 'Steer one action', {
      use: 'steering',
      description:
        'To `retry` an action that failed, or an e-mail that missed somebody, is possible also when the chain has closed: ' +
        'it is opened again, and what stood behind that action and was not run for that follows it.',
      rawBody: rescheduleSchema.optional(),
      answers: {
        202: ['It has been passed on to the chain.', steeredAnswer],
      },
      problems: ['invalid-body', 'already-ended', 'not-steerable', 'temporal-unavailable'],
      async handle(c, { companyId, chainId, index, verb: asked, actor }) {
        const { chain, action } = await actionOf(companyId, chainId, index);
        const verb = steeringVerbs.find((verb) => verb === asked);
        if (!verb) throw new Problem('not-found', `There is no ${asked}; there are ${steeringVerbs.join(', ')}.`);
        const body = verb === 'reschedule' ? rescheduleSchema.safeParse(await c.req.json().catch(() => undefined)) : undefined;
        if (body?.error)
          throw new Problem('invalid-body', 'Send {"seconds": 600}: how many seconds from now the action is to run.');
        const seconds = body?.data?.seconds;
        const reopened = await steerAction(options, companyId, chain, action, { verb, seconds }, actor);
        return c.json({ chainId, index: action.index, accepted: verb, reopened: reopened || undefined }, 202);
      },
    }),
  ];
}

/** Many chains at once are counted first; confirmed by that count, it is done. */
function bulkRoutesAt(
  base: '/co/:companyId' | '',
  [steer, summary]: [id: string, summary: string],
  read: string,
  body: z.ZodType<z.infer<typeof anyBulkRequest>>,
  options: ApiOptions,
  quotas: Quotas,
): Route[] {
  const find = async (bulkId: string, companyId: string | undefined): Promise<Bulk> =>
    found(/^[\w-]{1,64}$/.test(bulkId) && (await readBulk(options, bulkId, companyId)), `bulk ${bulkId}`);
  /** What it asks of chains and actions. */
  const causeOf = async (companyId = '', causeId: string) => {
    const cause = await options.store.causes.get(companyId, causeId);
    return { reason: found(cause, `cause ${causeId} of company ${companyId}`).reason, causeId };
  };
  return [
    route(`POST ${base}/chains/bulk`, steer, summary, {
      use: 'lists',
      description:
        'Without `confirm` nothing is done: the answer says how many chains it would concern, and shows the first ten. With' +
        ' that count as `confirm` it is done, in the background.',
      body,
      answers: {
        200: ['What it would concern.', bulkPreviewSchema],
        202: ['It is being done.', bulkSchema, { Location: 'Where to see how far it is.' }],
      },
      problems: ['not-found', 'count-changed', 'bulk-running', 'quota-exceeded', 'temporal-unavailable'],
      async handle(c, { actor, body: { verb, filter, correction, confirm } }) {
        const inPath = c.req.param('companyId');
        const { companyId = inPath, causeId, ...rest } = filter;
        if ((verb === 'mend') !== (correction !== undefined))
          throw invalid([{ pointer: '/correction', detail: verb === 'mend' ? 'is required' : 'is for mend alone' }]);
        const cause = causeId === undefined ? undefined : await causeOf(companyId, causeId);
        const request = { verb, filter: { ...rest, ...cause }, companyId, correction };
        const chains = await findChains(options, request);
        const count = chains.length;
        const first = chains.slice(0, 10);
        if (confirm === undefined)
          return c.json(bulkPreviewSchema.parse({ verb, count, first, mends: await previewMends(options, request, first) }));
        // Of two that come at the same moment both may be steered; the operator knows what runs.
        if (actor.kind === 'key' && (await isSteeringMany(options, actor.companyId))) {
          const running = `Company ${companyId} steers many chains already. Wait until that has ended.`;
          throw new Problem('bulk-running', running, { headers: { 'Retry-After': '10' }, bound: 'bulk' });
        }
        const changed = `This concerns ${count} chains now, not ${confirm}. Look again, then confirm with ${count}.`;
        if (confirm !== count) throw new Problem('count-changed', changed);
        // How many it adds is not known before; they are counted where they are added.
        if (companyId !== undefined && correction?.field === 'emails') await quotas.assertRecipientsLeft(companyId, 1);
        const bulkId = await steerChains(options, request, chains, actor);
        c.header('Location', `${c.req.path}/${bulkId}`);
        return c.json(await find(bulkId, inPath), 202);
      },
    }),
    route(`GET ${base}/chains/bulk/:bulkId`, read, 'Read how far the steering of many chains is', {
      use: 'reads',
      answers: { 200: ['How far it is.', bulkSchema] },
      handle: async (c, { bulkId }) => c.json(await find(bulkId, c.req.param('companyId'))),
    }),
  ];
}
