/** Reads a chain from its workflow. If no worker answers in time, reads the data of the Temporal server. */

import { setTimeout } from 'node:timers/promises';
import { type Client, type WorkflowExecutionDescription, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { type Chain, chainLinks, chainWorkflowId, initialStatus, type Links } from '../chain/chain.js';
import { actionStates, chainStatus, hasEnded } from '../chain/outcome.js';
import { type ActionResource, actionSchema, chainSchema, viewSchema } from '../contract/chain-resource.js';
import { needsAttentionKey } from '../contract/search-attributes.js';
import { readMessage, readPayload } from '../service/payloads.js';

type View = z.infer<typeof viewSchema>;
const startedSchema = z.custom<Chain>((value) => typeof value === 'object' && value !== null && 'actions' in value);

/** The result of a workflow: the view of a chain, or a list of delayed actions. */
const endSchema = z.union([
  viewSchema,
  z.array(actionSchema).transform((actions): View => ({ status: chainStatus(actions), actions })),
]);

/** The memo of a cancelled chain: the final states of its actions. */
const endedSchema = z.object({ states: z.array(z.enum(actionStates)).optional() });

/** The time limit of an answer. The workflow first finishes its current task, whose local activities take up to 2 seconds. */
const answerTimeoutMs = 4_000;

const startMemoSchema = z.object({
  receivedAt: z.string(),
  tokenIds: z.array(z.string()).optional(),
  warnings: chainSchema.shape.warnings,
  rule: chainSchema.shape.rule,
});

/** @returns undefined if the company has no such chain. */
export async function readChain(client: Client, links: Links, companyId: string, chainId: string) {
  const workflowId = chainWorkflowId({ companyId, chainId });
  const deadline = Date.now() + answerTimeoutMs;
  const description = await describeChain(client, workflowId, deadline);
  if (!description) return undefined;
  const { view, partial } = await readView(client, description, deadline);
  const open = description.status.name === 'RUNNING';
  const actions = open ? await withDelayed(client, view.actions, partial ? 0 : deadline) : view.actions;
  const held = open && partial && description.typedSearchAttributes.get(needsAttentionKey) === true;
  const memo = startMemoSchema.safeParse(description.memo);
  return {
    chainId,
    workflowId,
    status: held ? 'needs-attention' : open && !partial ? chainStatus(actions) : view.status,
    receivedAt: memo.data?.receivedAt ?? description.startTime.toISOString(),
    closedAt: description.closeTime?.toISOString(),
    tokenIds: memo.data?.tokenIds,
    warnings: memo.data?.warnings,
    rule: memo.data?.rule,
    actions,
    ignored: view.ignored,
    historyFull: view.historyFull,
    partial: partial || undefined,
    links: chainLinks(links, { companyId, chainId }, description.runId),
  };
}

/** Describes a workflow. Until `deadline`, waits while a workflow task is pending. @returns undefined for an unknown workflow. */
export async function describeChain(client: Client, workflowId: string, deadline: number) {
  try {
    for (let pauseMs = 20; ; pauseMs *= 2) {
      const description = await client.workflow.getHandle(workflowId).describe();
      if (!isBusy(description) || Date.now() + pauseMs > deadline) return description;
      await setTimeout(pauseMs);
    }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Whether a workflow task is pending. A query at that time can delay the result of a local activity (see workflows/engine). */
export function isBusy({ status, raw }: WorkflowExecutionDescription): boolean {
  return status.name === 'RUNNING' && Boolean(raw.pendingWorkflowTask);
}

/** Queries the workflow for its view. @param deadline - the time limit of the answer. After the deadline, sends no query. */
async function readView(client: Client, description: WorkflowExecutionDescription, deadline: number) {
  const handle = client.workflow.getHandle(description.workflowId, description.runId);
  const status = description.status.name;
  const said = status === 'COMPLETED' || status === 'FAILED' ? await ended() : await ask();
  const view = said ?? (await startedWith(client, description));
  const more: Partial<View> =
    status === 'TERMINATED' || status === 'CANCELLED'
      ? { status: statusOf(description.status.code) }
      : { actions: await withAttempts(client, view.actions, description) };
  return { view: { ...view, ...more }, partial: said === undefined };

  async function ask(): Promise<View | undefined> {
    if (deadline <= Date.now() || isBusy(description)) return undefined;
    const answer = await client.withDeadline(deadline, () => handle.query('status')).catch(() => undefined);
    return viewSchema.safeParse(answer).data;
  }

  async function ended(): Promise<View | undefined> {
    const end = await handle.result().catch((error: unknown) => {
      const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
      return cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
    });
    return endSchema.safeParse(end).data;
  }
}

/** Reads how a closed chain has ended. If the chain's result contains the outcomes, one call is enough. */
export async function readClosed(client: Client, description: Ended): Promise<View> {
  const { workflowId, runId } = description;
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    historyEventFilterType: closeEventOnly,
  });
  const { workflowExecutionCompletedEventAttributes: completed, workflowExecutionFailedEventAttributes: failed } =
    history?.events?.at(-1) ?? {};
  const end = completed?.result ?? failed?.failure?.applicationFailureInfo?.details;
  const payload = end?.payloads?.[0];
  const { data } = endSchema.safeParse(payload && (await readPayload(client, payload, workflowId)));
  return data ?? startedWith(client, description);
}

const closeEventOnly = 2; // HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT
type Ended = { workflowId: string; runId: string; status: { code: number }; memo?: Record<string, unknown> | undefined };

/** Reads the input of a `RuleChain` or a `DelayedAction`. */
export async function readInput(client: Client, execution: { workflowId: string; runId: string }): Promise<Chain> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution,
    maximumPageSize: 1,
  });
  const payload = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  return startedSchema.parse(payload && (await readPayload(client, payload, execution.workflowId)));
}

async function startedWith(client: Client, { workflowId, runId, status, memo }: Ended): Promise<View> {
  const chain = await readInput(client, { workflowId, runId });
  const { states = [] } = endedSchema.parse(memo ?? {});
  const actions = chain.actions.map((action, place) => {
    const initial = initialStatus(chain, action);
    return { ...initial, state: states[place] ?? initial.state };
  });
  return { status: statusOf(status.code), actions };
}

/** @param code - a workflow's status in Temporal's API */
export function statusOf(code: number): View['status'] {
  const statuses: Record<number, View['status']> = { 1: 'running', 2: 'completed', 4: 'cancelled', 5: 'terminated' };
  return statuses[code] ?? 'failed';
}

export function isoTime(time: { seconds?: unknown; nanos?: number | null } | null | undefined): string | undefined {
  return time ? new Date(Number(time.seconds) * 1000 + Math.floor((time.nanos ?? 0) / 1e6)).toISOString() : undefined;
}

/** Adds the attempts, the last errors and the next attempts of running activities, which only the server knows. */
function withAttempts(
  client: Client,
  actions: ActionResource[],
  description: Pick<WorkflowExecutionDescription, 'raw' | 'workflowId'>,
) {
  const { raw, workflowId } = description;
  const read = actions.map(async (action): Promise<ActionResource> => {
    const pending = (raw.pendingActivities ?? []).filter(({ activityId }) => activityId?.startsWith(`${action.index}/`));
    // Do not use the description for a held action, because the description may be older than the action's state.
    if (hasEnded(action.state) || action.state === 'needs-attention' || pending.length === 0) return action;
    const attempts = action.attempts ?? (action.state === 'retrying' ? 1 : 0);
    const failure = pending.find(({ lastFailure }) => lastFailure)?.lastFailure;
    if (!failure) return { ...action, attempts };
    return {
      ...action,
      state: action.state === 'running' ? 'retrying' : action.state,
      attempts: attempts + Math.max(...pending.map(({ attempt }) => attempt ?? 0)) - 1,
      error: {
        type: failure.applicationFailureInfo?.type ?? 'Timeout',
        message: await readMessage(client, failure, workflowId),
        retryable: true,
      },
      nextAttemptAt: isoTime(pending.find(({ nextAttemptScheduleTime }) => nextAttemptScheduleTime)?.nextAttemptScheduleTime),
    };
  });
  return Promise.all(read);
}

/** Reads due delayed actions from their own workflows. @param deadline - if 0, asks no workflow, but reads the server's data. */
async function withDelayed(client: Client, actions: ActionResource[], deadline: number): Promise<ActionResource[]> {
  const due = actions.flatMap(({ state, runAt = '', workflowId = [] }) =>
    !hasEnded(state) && Date.parse(runAt) <= Date.now() ? workflowId : [],
  );
  const asked = await Promise.all(
    [...new Set(due)].map(async (workflowId) => {
      const description = await describeChain(client, workflowId, deadline);
      if (!description) return [];
      const { view, partial } = await readView(client, description, deadline);
      return partial && deadline > 0 ? [] : view.actions;
    }),
  );
  const fresh = new Map(asked.flat().map((action) => [action.index, action]));
  return actions.map((action) => (action.workflowId && fresh.get(action.index)) || action);
}
