/** The chain resource: lists of chains, how one stands, and the ways to steer it. */

import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { hasEnded, isOpenTo, isToRedo, type SteeringVerb, steeringVerbs } from '../chain/outcome.js';
import { chainFilterSchema } from '../chains/filter.js';
import { chainCursor, listChains } from '../chains/list.js';
import { readChain } from '../chains/read.js';
import { ChainCancelled, retryChain } from '../chains/reopen.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { type Steering, signalOf, steeringSignals } from '../contract/messages.js';
import { actorName } from '../store/audit.js';
import type { Store } from '../store/store.js';
import { companyId as companyIdPattern } from './admin/companies.js';
import { type Authenticated, requireAdmin, requireAdminOrCompanyKey } from './authentication.js';
import { limitBody, readPage } from './body.js';
import { bulkRoutes } from './bulk.js';
import { notFound, Problem, remarksOf, temporalUnavailable } from './problem.js';
import type { RelayOptions } from './relay.js';

export interface ChainsOptions extends Pick<RelayOptions, 'client' | 'links' | 'taskQueue'> {
  store: Pick<Store, 'keys' | 'audit' | 'companies'>;
  adminToken: string;
}

const paused = z.literal('true').optional().describe('Only those of which an action waits for the end of a pause.');
export const listQuerySchema = chainFilterSchema.extend({ paused });
const anyCompanySchema = listQuerySchema.extend({ companyId: z.string().optional() });

const maxBodyBytes = 16 * 1024;

// grpc.status.NOT_FOUND
const notFoundCode = 5;

/** All that a request asks of Temporal has an answer within this time, or there is none. */
const temporalTimeoutMs = 10_000;

export const rescheduleSchema = z.strictObject({
  seconds: z
    .number()
    .min(0)
    .max(366 * 24 * 3600)
    .describe('From now. Needed to `reschedule`, and for nothing else.'),
});

export function chainRoutes(options: ChainsOptions): Hono<Authenticated> {
  const { client, links, store, adminToken } = options;
  const chainOf = async (companyId: string, chainId: string): Promise<ChainResource> => {
    const chain = /^[\w-]{1,128}$/.test(chainId) ? await readChain(client, links, companyId, chainId) : undefined;
    if (chain) return chain;
    throw notFound((await store.companies.get(companyId)) ? `chain ${chainId}` : `company ${companyId}`);
  };
  /** Before it is done: nothing is steered without a trace. */
  const record = (c: Context<Authenticated>, companyId: string, verb: string, details: Record<string, unknown>) =>
    store.audit.record({ actor: c.get('actor'), action: `chain.${verb}`, companyId, details });
  const limited = limitBody(maxBodyBytes);
  const inTime: MiddlewareHandler = (_c, next) => client.withDeadline(Date.now() + temporalTimeoutMs, next);
  return new Hono<Authenticated>()
    .use('/chains/*', requireAdmin(adminToken))
    .use('/co/:companyId/chains/*', requireAdminOrCompanyKey(adminToken, store.keys))
    .use('/chains/*', limited)
    .use('/co/:companyId/chains/*', limited)
    .use('/chains/*', inTime)
    .use('/co/:companyId/chains/*', inTime)
    .route('/', bulkRoutes(options))
    .get('/chains', async (c) => c.json(await list(c, options)))
    .get('/co/:companyId/chains', async (c) => c.json(await list(c, options, c.req.param('companyId'))))
    .get('/co/:companyId/chains/:chainId', async (c) => c.json(await chainOf(c.req.param('companyId'), c.req.param('chainId'))))
    .post('/co/:companyId/chains/:chainId/cancel', async (c) => {
      const { companyId, chainId } = c.req.param();
      const chain = await chainOf(companyId, chainId);
      if (chain.closedAt) throw ended(`chain ${chainId} is ${chain.status}`);
      await record(c, companyId, 'cancel', { chainId });
      try {
        await client.workflowService.requestCancelWorkflowExecution({
          namespace: client.options.namespace,
          workflowExecution: { workflowId: chain.workflowId },
          identity: client.options.identity,
          reason: `cancelled by ${actorName(c.get('actor'))}`,
        });
      } catch (error) {
        if (isGrpcServiceError(error) && error.code === notFoundCode) throw ended(`chain ${chainId} has ended`);
        throw error;
      }
      return c.json({ chainId, cancelling: true }, 202);
    })
    .post('/co/:companyId/chains/:chainId/actions/:index/:verb', async (c) => {
      const { companyId, chainId, index, verb: asked } = c.req.param();
      const chain = await chainOf(companyId, chainId);
      const action = chain.actions.find((action) => String(action.index) === index);
      const verb = steeringVerbs.find((verb) => verb === asked);
      if (!action) throw notFound(`action ${index} in chain ${chainId}`);
      if (!verb) throw new Problem('not-found', `There is no ${asked}; there are ${steeringVerbs.join(', ')}.`);
      const steering: Steering = {
        index: action.index,
        by: actorName(c.get('actor')),
        ...(verb === 'reschedule' && (await readSeconds(c.req.json()))),
      };
      let reopens = assertSteerable(chain, action, verb);
      await record(c, companyId, verb, {
        chainId,
        index: action.index,
        ...(verb === 'reschedule' && { seconds: steering.seconds }),
        ...(reopens && { reopened: true }),
      });
      const steer = () =>
        reopens
          ? retryClosed(client, chain, steering)
          : client.workflow.getHandle(chain.workflowId).signal(steeringSignals[signalOf[verb]], steering);
      try {
        await steer();
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        // It has closed just now: what failed can be done after all.
        const closed = await chainOf(companyId, chainId);
        reopens = assertSteerable(closed, closed.actions.find(({ index }) => index === action.index) ?? action, verb);
        await steer();
      }
      return c.json({ chainId, index: action.index, accepted: verb, ...(reopens && { reopened: true }) }, 202);
    });
}

/** @throws Problem 409 where the chain was cancelled before it closed; 503 where it could not be opened. */
async function retryClosed(client: Client, { chainId, workflowId }: ChainResource, steering: Steering): Promise<void> {
  try {
    await retryChain(client, workflowId, steering);
  } catch (error) {
    if (error instanceof ChainCancelled) throw ended(`chain ${chainId} was cancelled`);
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw temporalUnavailable('The chain could not be opened again. Try again.');
  }
}

async function list(c: Context, { client, links }: Pick<ChainsOptions, 'client' | 'links'>, companyId?: string) {
  const { limit: _, cursor, ...asked } = c.req.query();
  const { limit } = readPage(c, chainCursor);
  const parsed = (companyId === undefined ? anyCompanySchema : listQuerySchema).safeParse(asked);
  if (!parsed.success) {
    const wrong = remarksOf(parsed.error).map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
    throw new Problem('invalid-query', `${wrong.join('; ')}.`);
  }
  const { companyId: ofCompany = companyId, paused, ...filter } = { companyId, ...parsed.data };
  if (ofCompany !== undefined && !companyIdPattern.test(ofCompany)) throw notFound(`company ${ofCompany}`);
  return listChains(client, links, { filter, companyId: ofCompany, more: paused ? ['RelayPaused = true'] : [], limit, cursor });
}

/** @returns whether the chain has to be opened again for it. @throws Problem 409 where the signal would have no effect. */
function assertSteerable(chain: ChainResource, { index, state }: ActionResource, verb: SteeringVerb): boolean {
  if (chain.closedAt) {
    if (verb === 'retry' && isToRedo(state) && (chain.status === 'failed' || chain.status === 'completed')) return true;
    const again =
      verb === 'retry' && state !== 'done' && state !== 'skipped' ? '; for what was not done, send the request again' : '';
    throw ended(`chain ${chain.chainId} is ${chain.status}, action ${index} is ${state}${again}`);
  }
  // Without a worker it is not known how the action stands: a signal that makes no sense is left without effect.
  if (isOpenTo(verb, state) || chain.partial) return false;
  if (hasEnded(state)) throw ended(`action ${index} is ${state}`);
  const wanted = verb === 'runNow' || verb === 'reschedule' ? 'scheduled' : 'needs-attention';
  const now = steeringVerbs.filter((verb) => isOpenTo(verb, state));
  throw new Problem(
    'not-steerable',
    `Action ${index} is ${state}; this is for actions that are ${wanted}. Possible now: ${now.join(', ')}.`,
  );
}

function ended(what: string): Problem {
  return new Problem('already-ended', `This has no effect any more: ${what}.`);
}

async function readSeconds(body: Promise<unknown>): Promise<{ seconds: number }> {
  const parsed = rescheduleSchema.safeParse(await body.catch(() => undefined));
  if (parsed.success) return parsed.data;
  throw new Problem('invalid-body', 'Send {"seconds": 600}: how many seconds from now the action is to run.');
}
