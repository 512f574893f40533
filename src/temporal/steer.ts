/** Steering one chain, also when it has closed: cancelling it as a whole, and what can be done to one of its actions. */

import { type Client, isGrpcServiceError, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import type { Links } from '../chain/chain.js';
import { hasEnded, isOpenTo, isRetry, isToRedo, type SteeringVerb, steeringVerbs } from '../chain/outcome.js';
import { historyFull, usesRoom } from '../chain/room.js';
import { type Actor, actorName } from '../contract/audit.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { type Mend, resumeSignal, type Steering, signalOf } from '../contract/messages.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { quoted, runsOf } from './list.js';
import { type AdmitRecipients, assertMendable } from './mend.js';
import { readChain } from './read.js';

export interface SteerOptions {
  client: Client;
  links: Links;
  /** Of workflows that steer many chains. */
  taskQueue: string;
  /** What is steered is recorded before it is done. */
  store: Pick<Store, 'audit' | 'causes' | 'companies'>;
  /** Of recipients that a mended e-mail has more than before; absent: they are neither looked at nor counted. */
  admit?: AdmitRecipients;
}

const alreadyEnded = (what: string) => new Problem('already-ended', `This has no effect any more: ${what}.`);

/** @throws Problem already-ended */
export async function cancelChain(
  { client, store }: SteerOptions,
  companyId: string,
  { chainId, workflowId, closedAt, status }: ChainResource,
  actor: Actor,
): Promise<void> {
  if (closedAt) throw alreadyEnded(`chain ${chainId} is ${status}`);
  await store.audit.record({ actor, action: 'chain.cancel', companyId, details: { chainId } });
  try {
    await client.workflowService.requestCancelWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId },
      identity: client.options.identity,
      reason: 'cancelled through the relay', // Temporal keeps it in clear: who it was is in the audit.
    });
  } catch (error) {
    // 5: not found.
    if (isGrpcServiceError(error) && error.code === 5) throw alreadyEnded(`chain ${chainId} has ended`);
    throw error;
  }
}

/** What is asked for, by `mend` with the changes. */
type Asked = { verb: SteeringVerb } & Pick<Steering, 'seconds'> & Partial<Pick<Mend, 'fields' | 'confirmUnknown'>>;

/**
 * @returns whether the chain was opened again for it.
 * @throws Problem already-ended, not-steerable, temporal-unavailable; of `mend` also invalid-body, not-confirmed, quota-exceeded
 */
export async function steerAction(
  options: SteerOptions,
  companyId: string,
  chain: ChainResource,
  action: ActionResource,
  { verb, ...asked }: Asked,
  actor: Actor,
): Promise<boolean> {
  const { client, links, store } = options;
  const { chainId, workflowId } = chain;
  const { index } = action;
  const steering: Steering = { index, ...asked, by: actorName(actor) };
  const steer = async (reopens: boolean) => {
    if (reopens && isRetry(verb)) await retryChain(client, chain, steering, verb);
    else await client.workflow.getHandle(workflowId).signal(signalOf(verb), steering);
    return reopens;
  };

  const reopens = needsReopening(chain, action, verb);
  const { seconds, fields, confirmUnknown } = asked;
  if (fields) await assertMendable(options, companyId, chain, action, { fields, confirmUnknown });
  const mended = fields && { fields: Object.keys(fields), confirmUnknown };
  const details = { chainId, index, seconds, ...mended, reopened: reopens || undefined };
  await store.audit.record({ actor, action: `chain.${verb}`, companyId, details });
  return steer(reopens).catch(async (error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    // It has closed just now: what failed can be done after all.
    const closed = await readChain(client, links, companyId, chainId);
    const ended = closed?.actions.find((action) => action.index === index);
    if (!closed || !ended) throw alreadyEnded(`chain ${chainId} has ended`);
    return steer(needsReopening(closed, ended, verb));
  });
}

/** @throws Problem where the signal would have no effect. */
function needsReopening(chain: ChainResource, { index, state }: ActionResource, verb: SteeringVerb): boolean {
  if (chain.historyFull && usesRoom(verb)) throw new Problem('not-steerable', `${historyFull}.`);
  if (chain.closedAt) {
    if (isRetry(verb) && isToRedo(state) && (chain.status === 'failed' || chain.status === 'completed')) return true;
    const again =
      isRetry(verb) && state !== 'done' && state !== 'skipped' ? '; for what was not done, send the request again' : '';
    throw alreadyEnded(`chain ${chain.chainId} is ${chain.status}, action ${index} is ${state}${again}`);
  }
  // Without a worker it is not known how the action stands: a signal that makes no sense is left without effect.
  if (isOpenTo(verb, state) || chain.partial) return false;
  if (hasEnded(state)) throw alreadyEnded(`action ${index} is ${state}`);
  const wanted = verb === 'runNow' || verb === 'reschedule' ? 'scheduled' : 'needs-attention';
  const now = steeringVerbs.filter((verb) => isOpenTo(verb, state)).join(', ');
  const detail = `Action ${index} is ${state}; this is for actions that are ${wanted}. Possible now: ${now}.`;
  throw new Problem('not-steerable', detail);
}

/** A chain that was opened again waits for seconds only; where the signal was slower than that, once more. */
const tries = 4;

/**
 * Retries an action, or mends it. A workflow that has closed is reset to its end, where it waits a moment for the signal (see `retries` in
 * workflows/rule-chain.ts). Of what was done, only a send or ticket update in its very last workflow task is done again, under
 * the same key.
 * @throws WorkflowNotFoundError where the chain is gone; Problem where it cannot be opened, as when it was cancelled.
 */
export async function retryChain(
  client: Client,
  { chainId, workflowId }: Pick<ChainResource, 'chainId' | 'workflowId'>,
  steering: Steering,
  verb: 'retry' | 'mend' = 'retry',
): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  for (let tried = 1; ; tried += 1) {
    try {
      return await handle.signal(signalOf(verb), steering);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
    if (tried === tries) throw new Problem('temporal-unavailable', 'The chain could not be opened again. Try again.');
    const description = await handle.describe();
    const { runId, status, raw } = description;
    if (status.name === 'RUNNING') continue; // Somebody else has opened it meanwhile.
    // Opened again, it would begin cancelled, and cancel what is to be done after all.
    if (raw.workflowExtendedInfo?.cancelRequested) throw alreadyEnded(`chain ${chainId} was cancelled`);
    const workflowExecution = { workflowId, runId };
    await client.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution,
      workflowTaskFinishEventId: await resetPoint(client, description),
      reason: `${verb} of action ${steering.index}`,
      // Of several who open it at the same time, one does.
      requestId: runId,
    });
  }
}

/** The end of the run's last workflow task; of one that was opened and waited in vain, of that with which it began to wait. */
async function resetPoint(client: Client, { workflowId, runId, raw }: WorkflowExecutionDescription) {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1000,
  });
  const events = history?.events ?? [];
  const last = events.find(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  // The wait of a chain that was opened is the last thing that it does: `retries` in workflows/rule-chain.ts.
  const wasOpened = (raw.workflowExecutionInfo?.firstRunId || runId) !== runId;
  const fired = events.find(({ timerFiredEventAttributes }) => timerFiredEventAttributes)?.timerFiredEventAttributes;
  const timer = wasOpened && fired && events.find(({ eventId }) => String(eventId) === String(fired.startedEventId));
  const waited = timer ? timer.timerStartedEventAttributes?.workflowTaskCompletedEventId : undefined;
  const point = waited ?? last?.eventId;
  if (!point) throw new Error(`the history of ${workflowId} ends without a workflow task`);
  return point;
}

/** Has every workflow of the company that waits for the end of a pause look again. */
export async function resumeChains(client: Client, companyId: string): Promise<void> {
  const query = `RelayCompanyId = ${quoted(companyId)} AND RelayPaused = true AND ExecutionStatus = 'Running'`;
  for await (const { execution } of runsOf(client, query)) {
    // One that has just closed waits for nothing.
    await client.workflow
      .getHandle(execution?.workflowId ?? '')
      .signal(resumeSignal)
      .catch(() => {});
  }
}
