/** The chain resource: how a chain stands, and the ways to steer it. */

import { WorkflowNotFoundError } from '@temporalio/client';
import { Hono } from 'hono';
import { z } from 'zod';
import { chainWorkflowId } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import type { Store } from '../store/store.js';
import { type Steering, type SteeringName, steeringSignals } from '../workflows/messages.js';
import { type Authenticated, requireAdminOrCompanyKey } from './authentication.js';
import { readChain } from './chain-reader.js';
import type { ShownAction, ShownChain } from './chain-view.js';
import { notFound, Problem } from './problem.js';
import type { RelayOptions } from './relay.js';

export interface ChainsOptions extends Pick<RelayOptions, 'client' | 'links'> {
  store: Pick<Store, 'keys'>;
  adminToken: string;
}

/** The path's last word for each signal. */
const verbs: Record<string, SteeringName> = {
  retry: 'retry',
  skip: 'skip',
  runNow: 'runNow',
  cancel: 'cancelAction',
  reschedule: 'reschedule',
};

const rescheduleSchema = z.strictObject({
  seconds: z
    .number()
    .min(0)
    .max(366 * 24 * 3600),
});

export function chainRoutes({ client, links, store, adminToken }: ChainsOptions): Hono<Authenticated> {
  const chainOf = async (companyId: string, chainId: string): Promise<ShownChain> => {
    const chain = /^[\w-]{1,128}$/.test(chainId) ? await readChain(client, links, companyId, chainId) : undefined;
    if (!chain) throw notFound(`chain ${chainId}`);
    return chain;
  };
  return new Hono<Authenticated>()
    .use('/co/:companyId/chains/*', requireAdminOrCompanyKey(adminToken, store.keys))
    .get('/co/:companyId/chains/:chainId', async (c) => c.json(await chainOf(c.req.param('companyId'), c.req.param('chainId'))))
    .post('/co/:companyId/chains/:chainId/cancel', async (c) => {
      const chain = await chainOf(c.req.param('companyId'), c.req.param('chainId'));
      if (chain.closedAt) throw ended(`chain ${chain.chainId} is ${chain.status}`);
      await client.workflow.getHandle(chain.workflowId).cancel();
      return c.json({ chainId: chain.chainId, cancelling: true }, 202);
    })
    .post('/co/:companyId/chains/:chainId/actions/:index/:verb', async (c) => {
      const { companyId, chainId, index, verb } = c.req.param();
      const chain = await chainOf(companyId, chainId);
      const action = chain.actions.find((action) => String(action.index) === index);
      const name = verbs[verb];
      if (!action) throw notFound(`action ${index} in chain ${chainId}`);
      if (!name)
        throw new Problem(404, 'not-found', 'Not found', `There is no ${verb}; there are ${Object.keys(verbs).join(', ')}.`);
      const steering: Steering = {
        index: action.index,
        by: actorName(c.get('actor')),
        ...(name === 'reschedule' && (await readSeconds(c.req.json()))),
      };
      assertSteerable(chain, action, name);
      try {
        await client.workflow.getHandle(chainWorkflowId({ companyId, chainId })).signal(steeringSignals[name], steering);
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) throw ended(`chain ${chainId} has ended`);
        throw error;
      }
      return c.json({ chainId, index: action.index, accepted: verb }, 202);
    });
}

/** @throws Problem 409 where the signal would have no effect. */
function assertSteerable(chain: ShownChain, { index, state }: ShownAction, name: SteeringName): void {
  const possible: Record<SteeringName, boolean> = {
    retry: state === 'needs-attention' || state === 'partly-failed',
    skip: state === 'needs-attention',
    runNow: state === 'scheduled',
    reschedule: state === 'scheduled',
    cancelAction: !hasEnded(state),
  };
  if (chain.closedAt) throw ended(`chain ${chain.chainId} is ${chain.status}`);
  if (possible[name]) return;
  if (hasEnded(state)) throw ended(`action ${index} is ${state}`);
  const wanted = name === 'runNow' || name === 'reschedule' ? 'scheduled' : 'needs-attention';
  throw new Problem(
    409,
    'not-steerable',
    'Not possible now',
    `Action ${index} is ${state}; this is for actions that are ${wanted}.`,
  );
}

function ended(what: string): Problem {
  return new Problem(409, 'already-ended', 'Already ended', `This has no effect any more: ${what}.`);
}

async function readSeconds(body: Promise<unknown>): Promise<{ seconds: number }> {
  const parsed = rescheduleSchema.safeParse(await body.catch(() => undefined));
  if (parsed.success) return parsed.data;
  throw new Problem(
    400,
    'invalid-body',
    'Invalid body',
    'Send {"seconds": 600}: how many seconds from now the action is to run.',
  );
}

function actorName(actor: Authenticated['Variables']['actor']): string {
  return actor.kind === 'admin' ? 'admin' : `key ${actor.name}`;
}
