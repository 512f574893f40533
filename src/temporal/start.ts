/** Starts the workflow of an accepted request, at most once per idempotency key. */

import { hash, randomUUID } from 'node:crypto';
import { type Client, WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Chain, chainWorkflowId, ticketIdsOf } from '../chain/chain.js';
import type { Issue } from '../chain/request.js';
import { cutShort } from '../chain/text.js';
import { chainDetails, chainSummary } from '../chain/web-ui.js';
import { type ChainResource, chainSchema } from '../contract/chain-resource.js';
import { Problem, Rejection } from '../contract/problem.js';
import { searchAttributesOf } from '../contract/search-attributes.js';
import type { Store } from '../store/store.js';
import type { RuleChain } from '../workflows/rule-chain.js';
import { readInput } from './read.js';

export interface StartOptions extends Pick<Chain, 'retryBudgetSeconds' | 'attentionWindowSeconds'> {
  client: Client;
  taskQueue: string;
  eager: boolean; // whether a worker shares the connection; the start can then return the first workflow task
  log: Logger;
  store: { chains: Pick<Store['chains'], 'add'> };
}

/** The rule and version that made the actions from an event. Absent for a list of actions. */
type RanRule = NonNullable<ChainResource['rule']>;

/** `tokenIds` are the tokens of the request. A request that a person resends has no tokens. */
type AcceptedRequest = Pick<Chain, 'companyId' | 'actions' | 'traceparent'> & {
  idempotencyKey?: string | undefined;
  hash: string;
  tokenIds?: string[] | undefined;
  warnings?: readonly Issue[];
  rule?: RanRule;
};
/**
 * If `replayed`, an earlier request had the same key and the same body, and `chain` is the chain of the earlier request. If that
 * request was an event, `first` has the rule and the warnings of its chain.
 */
export type StartedChain = { chain: Chain; replayed: boolean; first?: { rule: RanRule; warnings: Issue[] } };

/** The error detail if the start is not confirmed: the chain exists, does not exist, or may exist. */
const notStarted = {
  some: 'The chain is known, but cannot be read at the moment.',
  none: 'The chain could not be started. Nothing has run. Send the request again.',
  unknown:
    'Temporal does not answer, so nobody knows whether the chain was started. ' +
    'Send the request again, with the same idempotency key.',
};

const memoSchema = z.object({
  receivedAt: z.string(),
  hash: z.string(),
  request: z.string(),
  rule: chainSchema.shape.rule,
  warnings: chainSchema.shape.warnings,
});

const mostTokens = 20; // the maximum number of token ids in the memo
const mostWarnings = 20; // the maximum number of warnings in the memo
const longestWarning = 500;

const startTimeoutMs = 10_000;
const answerTimeoutMs = 15_000; // for the start and the look-up together. The look-up comes only if the start is not confirmed.

/** The maximum number of eager starts at the same time. More would delay other starts. Workers poll for further tasks. */
const mostEagerStarts = 4;
let startsUnderWay = 0;

/**
 * Resolves after Temporal has stored the chain.
 * @throws Rejection idempotency-key-reused; Problem temporal-unavailable
 */
export async function startChain(options: StartOptions, accepted: AcceptedRequest): Promise<StartedChain> {
  const { client, log, retryBudgetSeconds, attentionWindowSeconds } = options;
  const { companyId, actions, idempotencyKey, hash, traceparent, rule } = accepted;
  const tokenIds = accepted.tokenIds?.slice(0, mostTokens);
  const warnings = accepted.warnings
    ?.slice(0, mostWarnings)
    .map(({ pointer, detail }) => ({ pointer: cutShort(pointer), detail: cutShort(detail, longestWarning) }));
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
  const startedAt = Date.now();
  const started = (): StartedChain => {
    const { chainId, receivedAt } = chain;
    const assignmentIds = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
    const ids = { relayIds: [...new Set(actions.map(({ relayId }) => relayId))], assignmentIds, ticketIds: ticketIdsOf(actions) };
    options.store.chains.add({ companyId, chainId, receivedAt, status: 'running', rule, summary, ...ids });
    return { chain, replayed: false };
  };
  startsUnderWay += 1;
  try {
    await client.withDeadline(startedAt + startTimeoutMs, () =>
      client.workflow.start<typeof RuleChain>('RuleChain', {
        workflowId,
        args: [chain],
        taskQueue: options.taskQueue,
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        requestEagerStart: options.eager && startsUnderWay <= mostEagerStarts,
        memo: {
          receivedAt: chain.receivedAt,
          hash,
          request,
          summary,
          ...(tokenIds && { tokenIds }),
          ...(warnings?.length && { warnings }),
          ...(rule && { rule }),
        },
        typedSearchAttributes: searchAttributesOf(chain, actions),
        staticSummary: summary,
        staticDetails: chainDetails(chain, actions),
        priority: { fairnessKey: companyId },
      }),
    );
    return started();
  } catch (error) {
    // Look for the chain, because Temporal may have started the chain although the answer was lost.
    const found = await findStarted(client, workflowId, startedAt + answerTimeoutMs);
    if (typeof found === 'object') {
      if (found.request === request) return started();
      return earlierChain(client, chain, found, hash);
    }
    log.error({ err: error, workflowId }, 'Temporal did not accept a chain');
    const there = error instanceof WorkflowExecutionAlreadyStartedError ? 'some' : found;
    throw new Problem('temporal-unavailable', notStarted[there]);
  } finally {
    startsUnderWay -= 1;
  }
}

async function findStarted(client: Client, workflowId: string, deadline: number) {
  try {
    const { memo, runId } = await client.withDeadline(deadline, () => client.workflow.getHandle(workflowId).describe());
    const { data } = memoSchema.safeParse(memo);
    return data ? { ...data, runId } : 'unknown';
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? 'none' : 'unknown';
  }
}

type FoundChain = Exclude<Awaited<ReturnType<typeof findStarted>>, string>;

/** @throws Rejection idempotency-key-reused; Problem temporal-unavailable */
async function earlierChain(client: Client, chain: Chain, found: FoundChain, hash: string): Promise<StartedChain> {
  if (found.hash !== hash) {
    const detail = 'This idempotency key was used before with another body. Use a new key for a new request.';
    throw new Rejection('idempotency-key-reused', 'idempotency-key-reused', detail);
  }
  const { receivedAt, rule, warnings = [], runId } = found;
  if (!rule) return { chain: { ...chain, receivedAt }, replayed: true };
  const read = () => readInput(client, { workflowId: chainWorkflowId(chain), runId });
  const { actions } = await client.withDeadline(Date.now() + startTimeoutMs, read).catch(() => {
    throw new Problem('temporal-unavailable', notStarted.some);
  });
  return { chain: { ...chain, receivedAt, actions }, replayed: true, first: { rule, warnings } };
}

/** Finds the chain that an earlier event with this key has started. @throws Rejection idempotency-key-reused; Problem temporal-unavailable */
export async function findChain(
  { client, retryBudgetSeconds, attentionWindowSeconds }: StartOptions,
  { companyId, rule, idempotencyKey, hash }: { companyId: string; rule: RanRule; idempotencyKey: string; hash: string },
): Promise<StartedChain | undefined> {
  const chainId = keyedChainId({ companyId, actions: [], rule }, idempotencyKey);
  const chain = { companyId, chainId, receivedAt: '', actions: [], retryBudgetSeconds, attentionWindowSeconds };
  const found = await findStarted(client, chainWorkflowId(chain), Date.now() + startTimeoutMs);
  if (found === 'unknown') throw new Problem('temporal-unavailable', notStarted.unknown);
  return found === 'none' ? undefined : earlierChain(client, chain, found, hash);
}

/** The id also depends on the rules, so that a sender with tokens of other rules cannot use up the key. */
export function keyedChainId({ companyId, actions, rule }: Omit<AcceptedRequest, 'hash'>, key: string): string {
  // For an event, this is one text instead of a list, so an event and a list of actions never have the same id.
  const rules = rule?.relayId ?? [...new Set(actions.map(({ relayId }) => relayId))].sort();
  return hash('sha256', JSON.stringify([companyId, rules, key])).slice(0, 32);
}

/** Hashes the text of an event, not its actions, because two versions of a rule can make different actions from one event. */
export const hashEvent = (text: string) => hash('sha256', text);

/** Hashes a request without its tokens. The order of the fields does not change the hash. */
export function hashRequest(elements: readonly Record<string, unknown>[]): string {
  const canonical = (_name: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const fields = Object.entries(value).filter(([name]) => name !== 'relayAccessToken');
    return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return hash('sha256', JSON.stringify(elements, canonical));
}
