/** The chain resource: lists of chains, how one stands, and the ways to steer it. */

import { z } from 'zod';
import { companyIdPattern, maxDelaySeconds } from '../chain/chain.js';
import { steeringVerbs } from '../chain/outcome.js';
import { chainCursor, chainFilterSchema, listChains } from '../chains/list.js';
import { readChain } from '../chains/read.js';
import { cancelChain, steerAction } from '../chains/steer.js';
import { type ChainResource, chainListSchema, chainSchema } from '../contract/chain-resource.js';
import { Problem } from '../contract/problem.js';
import { pageQuery } from './input.js';
import { found, notFound } from './problems.js';
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

export function chainRoutes(options: ApiOptions): Route[] {
  const { client, links, store } = options;
  const chainOf = async (companyId: string, chainId: string): Promise<ChainResource> => {
    const chain = /^[\w-]{1,128}$/.test(chainId) ? await readChain(client, links, companyId, chainId) : undefined;
    if (chain) return chain;
    throw notFound((await store.companies.get(companyId)) ? `chain ${chainId}` : `company ${companyId}`);
  };
  const list = async (companyId: string | undefined, query: z.infer<typeof listQuery>) => {
    const { paused, limit, cursor, ...filter } = query;
    if (companyId !== undefined && !companyIdPattern.test(companyId)) throw notFound(`company ${companyId}`);
    return listChains(client, links, { filter, companyId, more: paused ? ['RelayPaused = true'] : [], limit, cursor });
  };
  return [
    route('GET /co/:companyId/chains', 'listChains', 'List the chains of a company', {
      description: 'Open chains first, the newest first, then closed ones. It needs no worker, and is a moment behind.',
      query: listQuery,
      answers: { 200: ['Each chain once.', chainListSchema] },
      problems: ['temporal-unavailable'],
      handle: async (c, { companyId, query }) => c.json(await list(companyId, query)),
    }),
    route('GET /chains', 'listAllChains', 'List the chains of all companies', {
      query: listQuery.extend({ companyId: z.string().optional().describe('Only of this company.') }),
      answers: { 200: ['Each chain once.', chainListSchema] },
      problems: ['not-found', 'temporal-unavailable'],
      handle: async (c, { query: { companyId, ...query } }) => c.json(await list(companyId, query)),
    }),
    route('GET /co/:companyId/chains/:chainId', 'getChain', 'Read a chain', {
      answers: { 200: ['The chain and its actions as they stand.', chainSchema] },
      handle: async (c, { companyId, chainId }) => c.json(await chainOf(companyId, chainId)),
    }),
    route('POST /co/:companyId/chains/:chainId/cancel', 'cancelChain', 'Cancel a chain', {
      description: 'An effect under way is awaited and its outcome recorded; what has not run becomes `cancelled`.',
      answers: {
        202: ['It is being cancelled.', z.object({ chainId: z.string(), cancelling: z.literal(true) })],
      },
      problems: ['already-ended'],
      async handle(c, { companyId, chainId, actor }) {
        await cancelChain(options, companyId, await chainOf(companyId, chainId), actor);
        return c.json({ chainId, cancelling: true }, 202);
      },
    }),
    route('POST /co/:companyId/chains/:chainId/actions/:index/:verb', 'steerAction', 'Steer one action', {
      description:
        'To `retry` an action that failed, or an e-mail that missed somebody, is possible also when the chain has closed: ' +
        'it is opened again, and what stood behind that action and was not run for that follows it.',
      rawBody: rescheduleSchema.optional(),
      answers: {
        202: [
          'It has been passed on to the chain.',
          z.object({
            chainId: z.string(),
            index: z.int(),
            accepted: z.string(),
            reopened: z.literal(true).optional().describe('The chain had closed, and has been opened again.'),
          }),
        ],
      },
      problems: ['invalid-body', 'already-ended', 'not-steerable', 'temporal-unavailable'],
      async handle(c, { companyId, chainId, index, verb: asked, actor }) {
        const chain = await chainOf(companyId, chainId);
        const action = found(
          chain.actions.find((action) => String(action.index) === index),
          `action ${index} in chain ${chainId}`,
        );
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
