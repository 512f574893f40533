/** Steering one chain: cancelling it as a whole, and what can be done to one of its actions, also when the chain has closed. */

import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { ActionState } from '../chain/outcome.js';
import { hasEnded, isOpenTo, isToRedo, type SteeringVerb, steeringVerbs } from '../chain/outcome.js';
import { type Actor, actorName } from '../contract/audit.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { type Steering, signalOf, steeringSignals } from '../contract/messages.js';
import { Problem } from '../contract/problem.js';
import type { Links } from '../service/config.js';
import type { Store } from '../store/store.js';
import { readChain } from './read.js';
import { ChainCancelled, retryChain } from './reopen.js';

/** The chain or the action has ended, so that steering it has no effect. */
export class AlreadyEnded extends Problem {
  constructor(what: string) {
    super('already-ended', `This has no effect any more: ${what}.`);
  }
}

/** The verb makes no sense for an action in this state. */
export class NotSteerable extends Problem {
  constructor(verb: SteeringVerb, index: number, state: ActionState) {
    const wanted = verb === 'runNow' || verb === 'reschedule' ? 'scheduled' : 'needs-attention';
    const now = steeringVerbs.filter((verb) => isOpenTo(verb, state));
    const detail = `Action ${index} is ${state}; this is for actions that are ${wanted}. Possible now: ${now.join(', ')}.`;
    super('not-steerable', detail);
  }
}

/** A closed chain did not become open within the time that it waits for a retry. */
export class NotReopened extends Problem {
  constructor() {
    super('temporal-unavailable', 'The chain could not be opened again. Try again.');
  }
}

export interface SteerOptions {
  client: Client;
  links: Links;
  /** What is steered is recorded before it is done. */
  store: Pick<Store, 'audit'>;
}

// grpc.status.NOT_FOUND
const notFoundCode = 5;

/** @throws AlreadyEnded */
export async function cancelChain(
  { client, store }: SteerOptions,
  companyId: string,
  { chainId, workflowId, closedAt, status }: ChainResource,
  actor: Actor,
): Promise<void> {
  if (closedAt) throw new AlreadyEnded(`chain ${chainId} is ${status}`);
  await store.audit.record({ actor, action: 'chain.cancel', companyId, details: { chainId } });
  try {
    await client.workflowService.requestCancelWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId },
      identity: client.options.identity,
      reason: `cancelled by ${actorName(actor)}`,
    });
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === notFoundCode) throw new AlreadyEnded(`chain ${chainId} has ended`);
    throw error;
  }
}

interface ActionOrder {
  verb: SteeringVerb;
  /** For `reschedule`: how many seconds from now the action is to run. */
  seconds?: number;
}

/**
 * Passes the order on to the chain, which is opened again for a retry where it has closed.
 * @returns whether it was opened again.
 * @throws AlreadyEnded, NotSteerable, NotReopened
 */
export async function steerAction(
  { client, links, store }: SteerOptions,
  companyId: string,
  chain: ChainResource,
  action: ActionResource,
  { verb, seconds }: ActionOrder,
  actor: Actor,
): Promise<boolean> {
  const { chainId, workflowId } = chain;
  const { index } = action;
  const steering: Steering = { index, seconds, by: actorName(actor) };
  const steer = (reopens: boolean) =>
    reopens
      ? retryClosed(client, chain, steering)
      : client.workflow.getHandle(workflowId).signal(steeringSignals[signalOf[verb]], steering);

  const reopens = needsReopening(chain, action, verb);
  const details = { chainId, index, seconds, reopened: reopens || undefined };
  await store.audit.record({ actor, action: `chain.${verb}`, companyId, details });
  try {
    await steer(reopens);
    return reopens;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    // It has closed just now: what failed can be done after all.
    const closed = await readChain(client, links, companyId, chainId);
    const ended = closed?.actions.find((action) => action.index === index);
    if (!closed || !ended) throw new AlreadyEnded(`chain ${chainId} has ended`);
    const reopensNow = needsReopening(closed, ended, verb);
    await steer(reopensNow);
    return reopensNow;
  }
}

/** @throws AlreadyEnded or NotSteerable where the signal would have no effect. */
function needsReopening(chain: ChainResource, { index, state }: ActionResource, verb: SteeringVerb): boolean {
  if (chain.closedAt) {
    if (verb === 'retry' && isToRedo(state) && (chain.status === 'failed' || chain.status === 'completed')) return true;
    const again =
      verb === 'retry' && state !== 'done' && state !== 'skipped' ? '; for what was not done, send the request again' : '';
    throw new AlreadyEnded(`chain ${chain.chainId} is ${chain.status}, action ${index} is ${state}${again}`);
  }
  // Without a worker it is not known how the action stands: a signal that makes no sense is left without effect.
  if (isOpenTo(verb, state) || chain.partial) return false;
  if (hasEnded(state)) throw new AlreadyEnded(`action ${index} is ${state}`);
  throw new NotSteerable(verb, index, state);
}

/** @throws AlreadyEnded where the chain was cancelled before it closed; NotReopened */
async function retryClosed(client: Client, { chainId, workflowId }: ChainResource, steering: Steering): Promise<void> {
  try {
    await retryChain(client, workflowId, steering);
  } catch (error) {
    if (error instanceof ChainCancelled) throw new AlreadyEnded(`chain ${chainId} was cancelled`);
    if (error instanceof WorkflowNotFoundError) throw new NotReopened();
    throw error;
  }
}
