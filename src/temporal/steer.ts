/** Steers one chain: cancels the chain, or applies a verb to one action, even if the chain is closed. */

import { type Client, isGrpcServiceError, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import {
  cancelRefusal,
  editsEarly,
  ended,
  isReopened,
  isRetry,
  type Refusal,
  refusalOf,
  type SteeringVerb,
} from '../chain/allowed-verbs.js';
import type { Links } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import { type Actor, actorName } from '../contract/audit.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { type Mend, resumeSignal, type Steering, signalOf } from '../contract/messages.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { quoted, runsOf } from './list.js';
import { assertMendable } from './mend.js';
import { readChain } from './read.js';
import type { AdmitRecipients } from './recipients.js';

export interface SteerOptions {
  client: Client;
  links: Links;
  taskQueue: string; // for workflows that steer many chains
  store: Pick<Store, 'audit' | 'causes' | 'chains' | 'companies'>; // the audit entry is written before the chain is steered
  admit?: AdmitRecipients; // checks and counts recipients that an edit adds; without it, there is no check
}

const problemOf = ({ slug, detail }: Refusal) =>
  slug === 'already-ended' ? new Problem('already-ended', detail) : new Problem('not-steerable', detail);
const alreadyEnded = (what: string) => problemOf(ended(what));

export async function cancelChain({ client, store }: SteerOptions, companyId: string, chain: ChainResource, actor: Actor) {
  const { chainId, workflowId } = chain;
  const refusal = cancelRefusal(chain);
  if (refusal) throw problemOf(refusal);
  await store.audit.record({ actor, action: 'chain.cancel', companyId, details: { chainId } });
  try {
    await client.workflowService.requestCancelWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId },
      identity: client.options.identity,
      reason: 'cancelled through the relay', // Temporal does not encrypt this reason, so only the audit log names the person
    });
  } catch (error) {
    // 5 is the gRPC status NOT_FOUND.
    if (isGrpcServiceError(error) && error.code === 5) throw alreadyEnded(`chain ${chainId} has ended`);
    throw error;
  }
}

type Asked = { verb: SteeringVerb } & Pick<Steering, 'seconds'> &
  Partial<Pick<Mend, 'fields' | 'confirmUnknown' | 'allActions' | 'others'>>;

/** @returns whether the chain was reopened. @throws Problem */
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
  const waits = editsEarly(verb, action.state) || undefined;
  const steering: Steering = { index, ...asked, waits, by: actorName(actor) };
  const steer = async (reopens: boolean) => {
    if (reopens && isRetry(verb)) await retryChain(client, chain, steering, verb);
    else await client.workflow.getHandle(workflowId).signal(signalOf(verb), steering);
    return reopens;
  };

  const reopens = needsReopening(chain, action, verb);
  const { seconds, fields, confirmUnknown, allActions, others } = asked;
  if (fields) await assertMendable(options, companyId, chain, action, { fields, confirmUnknown, allActions, others });
  const mended = fields && { fields: Object.keys(fields), confirmUnknown, allActions, waits };
  const details = { chainId, assignmentId: action.assignmentId, index, seconds, ...mended, reopened: reopens || undefined };
  await store.audit.record({ actor, action: `chain.${verb}`, companyId, details });
  const reopened = await steer(reopens).catch(async (error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    // The chain has just closed, but a failed action can still be retried.
    const closed = await readChain(client, links, companyId, chainId);
    const ended = closed?.actions.find((action) => action.index === index);
    if (!closed || !ended) throw alreadyEnded(`chain ${chainId} has ended`);
    return steer(needsReopening(closed, ended, verb));
  });
  if (changesSteps(verb)) await store.chains.steered({ companyId, chainId }, ...movedAssignment(chain.actions, action, asked));
  return reopened;
}

/** Returns the assignment that no action of the chain has after the edit (or undefined), and the new assignment. */
export function movedAssignment(
  actions: readonly ActionResource[],
  { index, assignmentId }: ActionResource,
  { fields, allActions }: Partial<Pick<Mend, 'fields' | 'allActions'>>,
): [from: string | undefined, to: string | undefined] {
  const { platformAssignmentId: to } = fields ?? {};
  const keeps = (other: ActionResource) =>
    other.index !== index && other.assignmentId === assignmentId && (!allActions || hasEnded(other.state));
  return [actions.some(keeps) ? undefined : assignmentId, typeof to === 'string' ? to : undefined];
}

/** Whether lists must read the steps again after this verb. */
export const changesSteps = (verb: SteeringVerb) => verb !== 'retry' && verb !== 'skip';

/** @throws Problem if the signal would have no effect. */
function needsReopening(chain: ChainResource, action: ActionResource, verb: SteeringVerb): boolean {
  const refusal = refusalOf(verb, chain, action);
  if (refusal) throw problemOf(refusal);
  return isReopened(verb, chain, action.state);
}

const tries = 4; // a reopened chain waits only seconds for the signal; if the signal is late, the relay reopens the chain again

/**
 * Retries or edits an action. Resets a closed workflow to its last task. The workflow then waits a few seconds for the signal
 * (see `retries` in workflows/chain-run.ts). The reset repeats the effects of that task, with the same
 * idempotency keys.
 * @throws WorkflowNotFoundError if the chain is gone; Problem if the chain cannot be reopened, such as after a cancellation.
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
    if (tried === tries) throw new Problem('temporal-unavailable', 'The chain could not be reopened. Try again.');
    const description = await handle.describe();
    const { runId, status, raw } = description;
    if (status.name === 'RUNNING') continue; // Another request has reopened the chain.
    // Do not reopen a cancelled chain, because the cancellation would also apply to the new run.
    if (raw.workflowExtendedInfo?.cancelRequested) throw alreadyEnded(`chain ${chainId} was cancelled`);
    const workflowExecution = { workflowId, runId };
    await client.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution,
      workflowTaskFinishEventId: await resetPoint(client, description),
      reason: `${verb} of action ${steering.index}`,
      // Only one of several concurrent resets succeeds.
      requestId: runId,
    });
  }
}

/** Returns the last workflow task. If the chain was reopened before, returns the task that began its last wait for a signal. */
async function resetPoint(client: Client, { workflowId, runId, raw }: WorkflowExecutionDescription) {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1000,
  });
  const events = history?.events ?? [];
  const last = events.find(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  // A reopened chain waits for a signal. In its last task, this wait has already ended. So reset to the task that began the wait.
  const wasOpened = (raw.workflowExecutionInfo?.firstRunId || runId) !== runId;
  const fired = events.find(({ timerFiredEventAttributes }) => timerFiredEventAttributes)?.timerFiredEventAttributes;
  const timer = wasOpened && fired && events.find(({ eventId }) => String(eventId) === String(fired.startedEventId));
  const waited = timer ? timer.timerStartedEventAttributes?.workflowTaskCompletedEventId : undefined;
  const point = waited ?? last?.eventId;
  if (!point) throw new Error(`the history of ${workflowId} ends without a workflow task`);
  return point;
}

/** Tells the company's workflows that wait for the end of a pause to check the pause. @param overdue - see `resumeSignal` */
export async function resumeChains(client: Client, companyId: string, overdue?: 'now'): Promise<void> {
  const query = `RelayCompanyId = ${quoted(companyId)} AND RelayPaused = true AND ExecutionStatus = 'Running'`;
  for await (const { execution } of runsOf(client, query)) {
    // Ignore an error, because the workflow may have just closed. A closed workflow needs no signal.
    await client.workflow
      .getHandle(execution?.workflowId ?? '')
      .signal(resumeSignal, { overdue })
      .catch(() => {});
  }
}
