/** Starts the workflow of an accepted request, at most once for an idempotency key. */

import { createHash, randomUUID } from 'node:crypto';
import { type Client, WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Chain, chainWorkflowId } from '../chain/chain.js';
import { chainDetails, chainSummary } from '../chain/web-ui.js';
import { Problem, Rejection } from '../contract/problem.js';
import { searchAttributesOf } from '../contract/search-attributes.js';
import type { RuleChain } from '../workflows/rule-chain.js';

export interface StartOptions extends Pick<Chain, 'retryBudgetSeconds' | 'attentionWindowSeconds'> {
  client: Client;
  taskQueue: string;
  /** Whether a worker shares the client's connection: the first workflow task may then come with the answer. */
  eager: boolean;
  log: Logger;
}

/** `tokenIds`: with which tokens it came; absent where a person sent it again. */
type AcceptedRequest = Pick<Chain, 'companyId' | 'actions' | 'traceparent'> & {
  idempotencyKey?: string;
  hash: string;
  tokenIds?: string[];
};
/** `replayed`: the key was used before with the same body, and this is the chain of that time. */
export type StartedChain = { chain: Chain; replayed: boolean };

/** What is said of a start that Temporal did not confirm, by whether there is such a chain all the same. */
const notStarted = {
  some: 'The chain is known, but cannot be read at the moment.',
  none: 'The chain could not be started. Nothing has run. Send the request again.',
  unknown:
    'Temporal does not answer: whether the chain was started is not known. Send the request again, with the same idempotency ' +
    'key.',
};

const memoSchema = z.object({ receivedAt: z.string(), hash: z.string(), request: z.string() });

/** The most tokens of a chain that its memo names. */
const mostTokens = 20;

const startTimeoutMs = 10_000;

/** With more starts under way, first workflow tasks are polled for: taken with the answer, they would delay other answers. */
const mostEagerStarts = 4;
let startsUnderWay = 0;

/** @returns once Temporal has durably accepted it. @throws Rejection idempotency-key-reused; Problem temporal-unavailable */
export async function startChain(options: StartOptions, accepted: AcceptedRequest): Promise<StartedChain> {
  const { client, log, retryBudgetSeconds, attentionWindowSeconds } = options;
  const { companyId, actions, idempotencyKey, hash, traceparent } = accepted;
  const tokenIds = accepted.tokenIds?.slice(0, mostTokens);
  const chain: Chain = {
    companyId,
    chainId: idempotencyKey === undefined ? randomUUID() : keyedChainId(accepted, idempotencyKey),
    receivedAt: new Date().toISOString(),
    actions,
    retryBudgetSeconds,
    attentionWindowSeconds,
    ...(traceparent !== undefined && { traceparent }),
  };
  const workflowId = chainWorkflowId(chain);
  const summary = chainSummary(chain, actions);
  const request = randomUUID();
  startsUnderWay += 1;
  try {
    await client.withDeadline(Date.now() + startTimeoutMs, () =>
      client.workflow.start<typeof RuleChain>('RuleChain', {
        workflowId,
        args: [chain],
        taskQueue: options.taskQueue,
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        requestEagerStart: options.eager && startsUnderWay <= mostEagerStarts,
        memo: { receivedAt: chain.receivedAt, hash, request, summary, ...(tokenIds && { tokenIds }) },
        typedSearchAttributes: searchAttributesOf(chain, actions),
        staticSummary: summary,
        staticDetails: chainDetails(chain, actions),
        priority: { fairnessKey: companyId },
      }),
    );
    return { chain, replayed: false };
  } catch (error) {
    // What was started is found, also when the answer to the start was lost.
    const found = await findStarted(client, workflowId);
    if (typeof found === 'object') {
      if (found.request === request) return { chain, replayed: false };
      if (found.hash === hash) return { chain: { ...chain, receivedAt: found.receivedAt }, replayed: true };
      const detail = 'This idempotency key was used before with another body. Use a new key for a new request.';
      throw new Rejection('idempotency-key-reused', 'idempotency-key-reused', detail);
    }
    log.error({ err: error, workflowId }, 'Temporal did not accept a chain');
    const there = error instanceof WorkflowExecutionAlreadyStartedError ? 'some' : found;
    throw new Problem('temporal-unavailable', notStarted[there]);
  } finally {
    startsUnderWay -= 1;
  }
}

async function findStarted(client: Client, workflowId: string) {
  try {
    const deadline = Date.now() + startTimeoutMs / 2;
    const { memo } = await client.withDeadline(deadline, () => client.workflow.getHandle(workflowId).describe());
    return memoSchema.safeParse(memo).data ?? 'unknown';
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? 'none' : 'unknown';
  }
}

/** Of the set of rules too: who holds the tokens of some rules cannot use up the keys of others. */
export function keyedChainId({ companyId, actions }: Pick<AcceptedRequest, 'companyId' | 'actions'>, key: string): string {
  const rules = [...new Set(actions.map(({ relayId }) => relayId))].sort();
  return createHash('sha256')
    .update(JSON.stringify([companyId, rules, key]))
    .digest('hex')
    .slice(0, 32);
}

/** A hash of the request's elements without their tokens, whatever the order of their fields. */
export function hashRequest(elements: readonly Record<string, unknown>[]): string {
  const canonical = (_name: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const fields = Object.entries(value).filter(([name]) => name !== 'relayAccessToken');
    return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return createHash('sha256').update(JSON.stringify(elements, canonical)).digest('hex');
}
