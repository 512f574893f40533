/** Routes that list chains, read a chain, and steer one chain or many chains. */

import { z } from 'zod';
import { bulkVerbs, forgotten, steeringVerbs } from '../chain/allowed-verbs.js';
import { chainLinks, chainWorkflowId, companyIdPattern, type Links, maxDelaySeconds } from '../chain/chain.js';
import { causeFailure } from '../chain/failure-words.js';
import { chainStatuses } from '../chain/outcome.js';
import { pauseText } from '../chain/pause.js';
import { timesIn } from '../chain/timestamp/local.js';
import type { Caller } from '../contract/audit.js';
import {
  type Bulk,
  bulkPreviewSchema,
  bulkSchema,
  type ChainResource,
  chainCountsSchema,
  chainListSchema,
  chainSchema,
  correctionSchema,
  type ListedChain,
  namesOfAssignment,
  noticeTextSchema,
} from '../contract/chain-resource.js';
import { anyObject, chainIdPattern, chainIdText, named, namedStrict, onlyTrue, optionalFlag } from '../contract/named.js';
import { Problem } from '../contract/problem.js';
import { standingWords } from '../notices/chain-words.js';
import { chainPlace, type ListedRow } from '../store/chains.js';
import { findChains, isSteeringMany, previewMends, readBulk, steerChains } from '../temporal/bulk.js';
import { chainFilterSchema } from '../temporal/list.js';
import { readFields, renameTexts } from '../temporal/mend.js';
import { readChain } from '../temporal/read.js';
import { ShortFields } from '../temporal/short-fields.js';
import { cancelChain, steerAction } from '../temporal/steer.js';
import { linksFor } from './bearer-authentication.js';
import { invalid, pageQuery, readTexts } from './input.js';
import { found, notFound } from './problems.js';
import type { Quotas } from './quotas.js';
import { type ApiOptions, type Route, route, routeFor, steeringProblems } from './route.js';

const listQuery = chainFilterSchema.extend({
  ticketId: z.string().min(1).max(500).optional().describe('Only chains that set a field of this ticket.'),
  paused: z.literal('true').optional().describe('Only chains with an action that waits for the end of a pause.'),
  nobodyFound: z.literal('true').optional().describe('Only chains whose last send of an assignment found no technician.'),
  steps: z
    .literal('true')
    .optional()
    .describe('Adds the next delayed action (`next`) to each of the first 50 chains in the answer.'),
  ...pageQuery(chainPlace).shape,
});

export const rowQuery = listQuery.omit({ steps: true, limit: true, cursor: true });
export const rowFilter = <Given extends Pick<z.infer<typeof listQuery>, 'paused' | 'nobodyFound'>>(given: Given) => ({
  ...given,
  ...{ paused: given.paused !== undefined, nobodyFound: given.nobodyFound !== undefined },
});

const rescheduleSchema = namedStrict('Reschedule', {
  seconds: z.number().min(0).max(maxDelaySeconds).describe('The delay from now. `reschedule` requires this field.'),
});

const mendRequest = namedStrict('Mend', {
  fields: anyObject.describe(
    'The new values of the changed fields, by their names in the request. `null` removes a field. You cannot change `action`, ' +
      '`relayId`, or a `delayInSeconds` that was not blank.',
  ),
  confirmUnknown: optionalFlag.describe(
    'Required if the outcome of the last attempt is unknown, because the edited action could cause a second effect.',
  ),
  allActions: optionalFlag.describe(
    'Only for an edit of `platformAssignmentId`: also edits all other actions of the chain that have not ended and have the same ' +
      'assignment.',
  ),
  texts: optionalFlag.describe(
    'Like `allActions`, also together with other fields. Replaces the old id in texts of this action and of all open actions, too. See `naming` in `ActionFields`.',
  ),
});
const fieldsSchema = named('ActionFields', {
  chainId: z.string(),
  index: z.int(),
  fields: anyObject.describe('The current fields, without the token.'),
  sent: anyObject.optional().describe('The fields as they were in the request, if somebody has edited the action.'),
  ...namesOfAssignment.shape,
});
const steeredAnswer = z.object({
  chainId: z.string(),
  index: z.int(),
  accepted: z.string(),
  reopened: onlyTrue.describe('The chain was closed and is open again.'),
  sameAssignment: namesOfAssignment.shape.sameAssignment
    .optional()
    .describe(
      'After an edit of `platformAssignmentId`: the indexes of actions that keep the old value. With `allActions`, the edit also changes these actions.',
    ),
});

const filterSchema = chainFilterSchema.extend({
  status: z
    .enum(['running', 'needs-attention', 'failed'], 'must be running or needs-attention; retry and mend also accept failed')
    .optional(),
  causeId: z.string().max(64).optional().describe('Only actions with this cause. Requires `companyId`.'),
  chainIds: z
    .array(chainIdText)
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'Only these chains. Requires `companyId`. If `status` is missing, `retry` and `mend` affect the actions that need attention ' +
        'in open chains, and the failed actions in failed chains.',
    ),
});
const bulkRequest = namedStrict('BulkRequest', {
  verb: z
    .enum(bulkVerbs)
    .describe(
      '`retry`, `mend` and `skip` affect actions that need attention. With `status: "failed"`, `retry` and `mend` affect failed ' +
        'actions and open their chains again. `runNow` affects the scheduled actions of each chain that are due next. ' +
        '`cancel` affects actions that have not ended. ' +
        'If it selects all remaining actions of a chain, `cancel` cancels the whole chain.',
    ),
  filter: filterSchema
    .default({})
    .describe('Selects the chains. `assignmentId`, `relayId` and `reason` also select actions in these chains.'),
  correction: correctionSchema.optional().describe('The edit of each action. Required for `mend`, forbidden for other verbs.'),
  confirm: z.int().min(1).optional().describe('The `count` of the preview. Omit `confirm` to get a preview.'),
});
const anyBulkRequest = bulkRequest
  .extend({ filter: filterSchema.extend({ companyId: z.string().regex(companyIdPattern).optional() }).default({}) })
  .meta({ id: 'AnyBulkRequest' });

/** The fields that the row of a chain keeps after Temporal has deleted the workflow. */
const keptSchema = chainSchema
  .pick({ actions: true, ignored: true, historyFull: true, tokenIds: true, warnings: true })
  .extend({ actions: chainSchema.shape.actions.default([]) });

export function listedOf(
  { doneAt: _, heldSince: _since, ticketIds: _ids, failedActions: _failed, steered: _steered, nobodyFound, ...row }: ListedRow,
  links: Links,
) {
  return {
    ...row,
    nobodyFound: nobodyFound || undefined,
    workflowId: chainWorkflowId(row),
    links: chainLinks(links, row),
  } satisfies ListedChain;
}

export function chainRoutes(options: ApiOptions, quotas: Quotas): Route[] {
  const { client, links, store } = options;
  const steering = { ...options, admit: quotas.admit };
  const fields = new ShortFields(client);
  const chainOf = async (companyId: string, chainId: string, actor?: Caller): Promise<ChainResource> => {
    const shown = linksFor(actor, links);
    const find = async () => (await readChain(client, shown, companyId, chainId)) ?? forgottenChain(companyId, chainId, shown);
    const chain = chainIdPattern.test(chainId) ? await find() : undefined;
    if (chain) return chain;
    throw notFound((await store.companies.get(companyId)) ? `chain ${chainId}` : `company ${companyId}`);
  };
  const pausesOf = async (companyId: string) => {
    // If the settings cannot be read, a chain is shown without its pauses.
    const { company, pauses = [] } = (await store.settings.of(companyId).catch(() => undefined)) ?? {};
    return pauses.map((pause) => ({ ...pause, text: pauseText(pause, timesIn(company?.timeZone ?? 'UTC')) }));
  };
  const actionOf = async (companyId: string, chainId: string, index: string) => {
    const chain = await chainOf(companyId, chainId);
    const action = chain.actions.find((action) => String(action.index) === index);
    return { chain, action: found(action, `action ${index} in chain ${chainId}`) };
  };
  const forgottenChain = async (companyId: string, chainId: string, shown: Links): Promise<ChainResource | undefined> => {
    const row = await store.chains.get(companyId, chainId);
    if (!row) return undefined;
    const { status, receivedAt, closedAt, rule, details } = row;
    const kept = keptSchema.parse(JSON.parse(details ?? '{}'));
    const facts = { chainId, workflowId: chainWorkflowId(row), status, receivedAt, closedAt, rule };
    const partial = details === undefined || undefined;
    return { ...kept, ...facts, partial, forgotten: true, links: { chain: chainLinks(shown, row).chain } };
  };
  const fieldsOf = (chain: ChainResource, action: ChainResource['actions'][number]) => {
    if (chain.forgotten) throw new Problem('not-steerable', forgotten(chain).detail);
    return readFields(client, chain, action);
  };
  /** Returns a function: for a chain, it returns the titles of its failures, without repetitions. */
  const problemsIn = async (companies: readonly string[], chains: readonly ListedChain[]) => {
    const held = chains.filter(({ status }) => status === 'needs-attention');
    const readOf = async (companyId: string) => {
      const ids = held.flatMap((chain) => (chain.companyId === companyId ? [chain.chainId] : []));
      return [companyId, ids.length > 0 ? await store.causes.ofChains(companyId, ids) : []] as const;
    };
    const known = new Map(await Promise.all(companies.map(readOf)));
    return ({ companyId, chainId }: ListedChain) => {
      const titles = known.get(companyId)?.flatMap((one) => (one.chainId === chainId ? causeFailure(one).title : [])) ?? [];
      return titles.length > 0 ? [...new Set(titles)] : undefined;
    };
  };
  const list = async (companyId: string | undefined, query: z.infer<typeof listQuery>, actor: Caller) => {
    const { steps, limit, cursor, ...filter } = query;
    if (companyId !== undefined && !companyIdPattern.test(companyId)) throw notFound(`company ${companyId}`);
    const shown = linksFor(actor, links);
    const { items, nextCursor } = await store.chains.list(companyId, rowFilter(filter), { limit, cursor });
    const listed = items.map((row) => listedOf(row, shown));
    if (!steps) return { items: listed, nextCursor };
    const first = listed.slice(0, 50);
    const [oldest = ''] = first.map(({ receivedAt }) => receivedAt).sort();
    const companies = [...new Set(first.map((chain) => chain.companyId))];
    const pauses = new Map(await Promise.all(companies.map(async (id) => [id, await store.pauses.since(id, oldest)] as const)));
    const problemsOf = await problemsIn(companies, first);
    const addStep = (chain: ListedChain, place: number) => {
      const { companyId, chainId } = chain;
      const read = () => readChain(client, shown, companyId, chainId);
      const told = { ...chain, problems: problemsOf(chain) };
      return fields.addToListed(told, items[place]?.steered === true, pauses.get(companyId) ?? [], read);
    };
    return { items: [...(await Promise.all(first.map(addStep))), ...listed.slice(50)], nextCursor };
  };
  return [
    // Keep the bulk routes first. Otherwise the other routes would read `bulk` as a chain id.
    ...bulkRoutesAt('/co/:companyId', options, quotas),
    ...bulkRoutesAt('', options, quotas),
    route.company('GET /co/:companyId/chains', 'listChains', 'List the chains of a company', {
      use: 'lists',
      description:
        'Open chains come first, the newest first. Then come closed chains, the most recently closed first. A change appears in ' +
        'the list after some seconds, if a worker runs. Chains that Temporal has deleted stay in the list for `historyDays`.',
      query: listQuery,
      answers: { 200: ['The chains. Each chain appears once.', chainListSchema] },
      problems: ['temporal-unavailable'],
      handle: async (c, { companyId, query, actor }) => c.json(await list(companyId, query, actor)),
    }),
    route.company('GET /co/:companyId/chains/counts', 'countChains', 'Count the chains of a company by status', {
      use: 'lists',
      query: rowQuery.omit({ status: true }),
      answers: { 200: ['The number of chains by status.', chainCountsSchema] },
      problems: ['temporal-unavailable'],
      async handle(c, { companyId, query }) {
        found(companyIdPattern.test(companyId), `company ${companyId}`);
        const counts = await store.chains.counts(companyId, rowFilter(query));
        return c.json(Object.fromEntries(chainStatuses.map((status) => [status, counts.get(status) ?? 0])));
      },
    }),
    route.admin('GET /chains', 'listAllChains', 'List the chains of all companies', {
      query: listQuery.extend({ companyId: z.string().optional().describe('Only chains of this company.') }),
      answers: { 200: ['The chains. Each chain appears once.', chainListSchema] },
      problems: ['not-found', 'temporal-unavailable'],
      handle: async (c, { query: { companyId, ...query }, actor }) => c.json(await list(companyId, query, actor)),
    }),
    route.company('GET /co/:companyId/chains/:chainId', 'getChain', 'Read a chain', {
      use: 'reads',
      answers: { 200: ['The current state of the chain and its actions.', chainSchema] },
      async handle(c, { companyId, chainId, actor }) {
        const chain = await chainOf(companyId, chainId, actor);
        return c.json(await fields.addTo(chain, await pausesOf(companyId)));
      },
    }),
    route.company('POST /co/:companyId/chains/:chainId/cancel', 'cancelChain', 'Cancel a chain', {
      use: 'steering',
      description: 'A running action ends first and keeps its outcome. All other open actions become `cancelled`.',
      answers: {
        202: ['The cancellation is sent to the chain.', z.object({ chainId: z.string(), cancelling: z.literal(true) })],
      },
      problems: ['already-ended'],
      async handle(c, { companyId, chainId, actor }) {
        await cancelChain(options, companyId, await chainOf(companyId, chainId), actor);
        return c.json({ chainId, cancelling: true }, 202);
      },
    }),
    route.company('GET /co/:companyId/chains/:chainId/actions/:index/fields', 'getFields', 'Read the fields of an action', {
      use: 'reads',
      answers: { 200: ['The fields, by their names in the request.', fieldsSchema] },
      problems: ['not-steerable', 'temporal-unavailable'],
      async handle(c, { companyId, chainId, index }) {
        const { chain, action } = await actionOf(companyId, chainId, index);
        return c.json({ chainId, index: action.index, ...(await fieldsOf(chain, action)) });
      },
    }),
    route.company('GET /co/:companyId/chains/:chainId/actions/:index/notice', 'getNotice', 'Read the notice of an action', {
      use: 'reads',
      description: 'The current text for an action that needs attention, has failed or partly failed. No notice is sent.',
      answers: { 200: ['The text of the notice.', noticeTextSchema] },
      async handle(c, { companyId, chainId, index, actor }) {
        const { chain, action } = await actionOf(companyId, chainId, index);
        const { relayId } = action;
        const { company, rules } = (await store.settings.of(companyId)) ?? {};
        const context = {
          companyName: company?.name ?? companyId,
          ruleName: rules?.get(relayId)?.name ?? relayId,
          timeZone: company?.timeZone ?? 'UTC',
          links: linksFor(actor, links),
          namespace: client.options.namespace,
          forOperator: actor.kind === 'admin',
        };
        const words = standingWords({ ...chain, companyId, relayId, index: action.index }, context);
        return c.json(found(words, `notice of action ${index}, because action ${index} has the state ${action.state}`));
      },
    }),
    // Keep this route before the route of the other verbs, which would also match `mend`.
    route.company('POST /co/:companyId/chains/:chainId/actions/:index/mend', 'mendAction', 'Edit an action', {
      use: 'steering',
      description:
        'Changes fields of an action that needs attention, has failed or partly failed. The relay validates the action like a ' +
        'request, and retries it with a new idempotency key. Recipients that already have the e-mail do not get it again. ' +
        'A `scheduled` action keeps its time, and runs with the new fields.',
      rawBody: mendRequest,
      answers: { 202: ['The decision is sent to the chain.', steeredAnswer] },
      problems: [...steeringProblems, 'not-confirmed', 'quota-exceeded'],
      async handle(c, { companyId, chainId, index, actor }) {
        const { chain, action } = await actionOf(companyId, chainId, index);
        const { texts, ...given } = await readTexts(c, mendRequest);
        const isMoved = typeof given.fields.platformAssignmentId === 'string';
        const all = texts && isMoved && (await renameTexts(options.client, chain, action, given));
        const asked = { ...given, allActions: given.allActions || texts, ...all };
        const moves = 'platformAssignmentId' in asked.fields && !asked.allActions;
        const left = moves ? (await fieldsOf(chain, action)).sameAssignment : [];
        const reopened = await steerAction(steering, companyId, chain, action, { verb: 'mend', ...asked }, actor);
        const more = { reopened: reopened || undefined, ...(left.length > 0 && { sameAssignment: left }) };
        return c.json({ chainId, index: action.index, accepted: 'mend', ...more }, 202);
      },
    }),
    route.company('POST /co/:companyId/chains/:chainId/actions/:index/:verb', 'steerAction', 'Steer one action', {
      use: 'steering',
      description:
        '`retry` also works in a closed chain, for an action that failed or partly failed. The chain opens again. After the retried ' +
        'action, the relay runs the actions that did not run because of the failure.',
      rawBody: rescheduleSchema.optional(),
      answers: { 202: ['The decision is sent to the chain.', steeredAnswer] },
      problems: steeringProblems,
      async handle(c, { companyId, chainId, index, verb: asked, actor }) {
        const { chain, action } = await actionOf(companyId, chainId, index);
        const verb = steeringVerbs.find((verb) => verb === asked);
        if (!verb) throw new Problem('not-found', `${asked} is not possible; use one of ${steeringVerbs.join(', ')}.`);
        const body = verb === 'reschedule' ? rescheduleSchema.safeParse(await c.req.json().catch(() => undefined)) : undefined;
        if (body?.error)
          throw new Problem('invalid-body', 'Send, for example, {"seconds": 600}: the action then runs 600 seconds from now.');
        const seconds = body?.data?.seconds;
        const reopened = await steerAction(options, companyId, chain, action, { verb, seconds }, actor);
        return c.json({ chainId, index: action.index, accepted: verb, reopened: reopened || undefined }, 202);
      },
    }),
  ];
}

function bulkRoutesAt(base: '/co/:companyId' | '', options: ApiOptions, quotas: Quotas): Route[] {
  const ofAll = base === '';
  const body: z.ZodType<z.infer<typeof anyBulkRequest>> = ofAll ? anyBulkRequest : bulkRequest;
  const summary = ofAll ? 'Steer many chains across companies' : 'Steer many chains at once';
  const bulkRoute = routeFor(ofAll ? 'admin' : 'admin or company key');
  const find = async (bulkId: string, companyId: string | undefined, actor: Caller): Promise<Bulk> => {
    const links = linksFor(actor, options.links);
    return found(/^[\w-]{1,64}$/.test(bulkId) && (await readBulk({ ...options, links }, bulkId, companyId)), `bulk ${bulkId}`);
  };
  const causeOf = async (companyId = '', causeId: string) => {
    const cause = await options.store.causes.get(companyId, causeId);
    return { reason: found(cause, `cause ${causeId} of company ${companyId}`).reason, causeId };
  };
  return [
    bulkRoute(`POST ${base}/chains/bulk`, ofAll ? 'steerAllChains' : 'steerChains', summary, {
      use: 'lists',
      description:
        'Without `confirm`, nothing is done: the answer has the number of chains and the first ten chains. With this number as ' +
        '`confirm`, the bulk order runs in the background.',
      body,
      answers: {
        200: ['The preview.', bulkPreviewSchema],
        202: ['The bulk order runs.', bulkSchema, { Location: 'The path of the bulk order, which shows its progress.' }],
      },
      problems: ['not-found', 'count-changed', 'bulk-running', 'quota-exceeded', 'temporal-unavailable'],
      async handle(c, { actor, body: { verb, filter, correction, confirm } }) {
        const inPath = c.req.param('companyId');
        const { companyId = inPath, causeId, ...rest } = filter;
        if ((verb === 'mend') !== (correction !== undefined))
          throw invalid([{ pointer: '/correction', detail: verb === 'mend' ? 'is required' : 'is only for mend' }]);
        if (correction?.texts && correction.field !== 'platformAssignmentId')
          throw invalid([{ pointer: '/correction/texts', detail: 'is only for platformAssignmentId' }]);
        if (filter.chainIds && companyId === undefined)
          throw invalid([{ pointer: '/filter/companyId', detail: 'is required with chainIds' }]);
        const cause = causeId === undefined ? undefined : await causeOf(companyId, causeId);
        const request = { verb, filter: { ...rest, ...cause }, companyId, correction };
        const chains = await findChains(options, request);
        const count = chains.length;
        const first = chains.slice(0, 10);
        if (confirm === undefined)
          return c.json(bulkPreviewSchema.parse({ verb, count, first, mends: await previewMends(options, request, first) }));
        // A company may run only one bulk order at a time. But two requests at the same moment can both pass this check.
        if (actor.kind !== 'admin' && (await isSteeringMany(options, actor.companyId))) {
          const running = `Company ${companyId} has a bulk order that is still running. Wait until it has ended.`;
          throw new Problem('bulk-running', running, { headers: { 'Retry-After': '10' }, bound: 'bulk' });
        }
        const changed = `The number of chains is now ${count}, not ${confirm}. Check the chains, then confirm with ${count}.`;
        if (confirm !== count) throw new Problem('count-changed', changed);
        // Checks that the company may add recipients today. Later, the edit of each chain counts the new recipients.
        if (companyId !== undefined && correction?.field === 'emails') await quotas.assertRecipientsLeft(companyId, 1);
        const { recipientsPerDay } = quotas;
        const bulkId = await steerChains({ ...options, recipientsPerDay }, request, chains, actor);
        c.header('Location', `${c.req.path}/${bulkId}`);
        return c.json(await find(bulkId, inPath, actor), 202);
      },
    }),
    bulkRoute(`GET ${base}/chains/bulk/:bulkId`, ofAll ? 'getBulkOfAll' : 'getBulk', 'Read the progress of a bulk order', {
      use: 'reads',
      answers: { 200: ['The progress.', bulkSchema] },
      handle: async (c, { bulkId, actor }) => c.json(await find(bulkId, c.req.param('companyId'), actor)),
    }),
  ];
}
