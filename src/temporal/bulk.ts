/** Steering many chains at once: which chains are meant, the `BulkSteering` workflow that does it, and how far it is. */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { workflowLink } from '../chain/chain.js';
import type { Correction } from '../chain/correct.js';
import { type BulkVerb, isRetry } from '../chain/outcome.js';
import { fitBytes } from '../chain/text.js';
import { summaryBytes } from '../chain/web-ui.js';
import { type Actor, actorName } from '../contract/audit.js';
import { type ActionFilter, actionsMeant } from '../contract/bulk.js';
import { bulkSchema, type ListedChain } from '../contract/chain-resource.js';
import { progressQuery } from '../contract/messages.js';
import { Problem } from '../contract/problem.js';
import { companyKey } from '../contract/search-attributes.js';
import type { Store } from '../store/store.js';
import type { BulkSteering } from '../workflows/bulk-steering.js';
import { type ChainFilter, listChains, quoted } from './list.js';
import { correctAction } from './mend.js';
import { describeChain, readChain } from './read.js';
import type { SteerOptions } from './steer.js';

/**
 * `assignmentId`, `relayId`, `reason` and `causeId` also choose among the chains' actions; without `companyId` all companies are meant,
 * and no cause.
 */
interface BulkRequest {
  verb: BulkVerb;
  filter: ChainFilter & Pick<ActionFilter, 'causeId'>;
  companyId?: string;
  correction?: Correction; // for `mend` alone
}

/** The most chains that are steered at once: their ids are the input of one workflow. */
export const mostChains = 5_000;

const unfit = (detail: string, pointer: string) =>
  new Problem('invalid-body', `${pointer} ${detail}`, { errors: [{ pointer, detail }] });

/** The chains that it concerns. @throws Problem invalid-body */
export async function findChains({ client, links, store }: SteerOptions, { verb, filter, companyId }: BulkRequest) {
  const failed = filter.status === 'failed';
  if (failed && !isRetry(verb))
    throw unfit('must be needs-attention or running: what has failed can only be retried or mended', '/filter/status');
  const held = !failed && (isRetry(verb) || verb === 'skip' || filter.reason !== undefined);
  if (held && filter.status === 'running') throw unfit('must be needs-attention for this', '/filter/status');
  const { items } = await listChains(client, links, {
    filter: held ? { ...filter, status: 'needs-attention' } : filter,
    companyId,
    more: failed ? [] : ["ExecutionStatus = 'Running'"],
    limit: mostChains + 1,
  });
  if (items.length > mostChains)
    throw unfit(`finds more than ${mostChains} chains, which is too much at a time: narrow it with since and until`, '/filter');
  const heldOf = await heldForCause(store, companyId, filter);
  return items.filter(({ chainId }) => heldOf(chainId)?.length !== 0);
}

function meantBy({ assignmentId, relayId, reason, causeId, status }: BulkRequest['filter']): ActionFilter {
  return { assignmentId, relayId, reason, causeId, failed: status === 'failed' };
}

/** @returns which actions of a chain are held for the cause; of none, if none is named, nothing. */
export async function heldForCause(
  { causes }: { causes: Pick<Store['causes'], 'heldFor'> },
  companyId = '',
  { causeId }: ActionFilter,
) {
  const held = causeId === undefined ? undefined : await causes.heldFor(companyId, causeId);
  return (chainId: string): readonly number[] | undefined => held && (held.get(chainId) ?? []);
}

/** What `mend` would make of the field in the actions of these chains. */
export async function previewMends(
  { client, links, store }: SteerOptions,
  { filter, companyId, correction }: BulkRequest,
  chains: readonly ListedChain[],
) {
  if (!correction) return undefined;
  const heldOf = await heldForCause(store, companyId, filter);
  const previews = chains.map(async ({ companyId, chainId, workflowId }) => {
    const chain = await readChain(client, links, companyId, chainId);
    const { indexes } = actionsMeant('mend', meantBy(filter), chain?.actions ?? [], heldOf(chainId));
    const actions = chain?.actions.filter(({ index }) => indexes.includes(index)) ?? [];
    return Promise.all(
      actions.map(async (action) => {
        const shown = await correctAction(client, { chainId, workflowId }, action, correction).catch((error: unknown) => {
          if (error instanceof Problem) return { before: undefined, after: undefined, problem: error.detail };
          throw error;
        });
        return { chainId, index: action.index, ...shown };
      }),
    );
  });
  return (await Promise.all(previews)).flat();
}

const memoSchema = bulkSchema
  .pick({ verb: true, filter: true, count: true, by: true })
  .extend({ companyId: z.string().optional() });

const workflowIdOf = (bulkId: string) => `relay-bulk:${bulkId}`;

/** Starts the workflow that steers these chains. @returns its `bulkId`. */
export async function steerChains(
  { client, taskQueue, store }: SteerOptions,
  { verb, filter, companyId, correction }: BulkRequest,
  chains: readonly ListedChain[],
  actor: Actor,
): Promise<string> {
  const bulkId = randomUUID();
  const count = chains.length;
  const by = actorName(actor);
  await store.audit.record({
    actor,
    action: 'chain.bulk',
    companyId,
    details: { bulkId, verb, filter, count, field: correction?.field },
  });
  const memo: z.input<typeof memoSchema> = { verb, filter, count, by, ...(companyId !== undefined && { companyId }) };
  const actions = meantBy(filter);
  await client.workflow.start<typeof BulkSteering>('BulkSteering', {
    workflowId: workflowIdOf(bulkId),
    taskQueue,
    args: [{ bulkId, companyId, verb, actions, by, correction }, chains.map(({ workflowId }) => workflowId)],
    memo,
    ...(companyId !== undefined && { typedSearchAttributes: [{ key: companyKey, value: companyId }] }),
    staticSummary: fitBytes(
      `${verb} in ${count} chains${companyId === undefined ? '' : ` of ${companyId}`}, by ${by}`,
      summaryBytes,
    ),
  });
  return bulkId;
}

/** Whether many chains of the company are being steered, as far as is visible a moment later. */
export async function isSteeringMany({ client }: Pick<SteerOptions, 'client'>, companyId: string): Promise<boolean> {
  const query = `WorkflowType = 'BulkSteering' AND ExecutionStatus = 'Running' AND RelayCompanyId = ${quoted(companyId)}`;
  return (await client.workflow.count(query)).count > 0;
}

/** @returns undefined where there is none, or where it is not of that company. */
export async function readBulk({ client, links }: Pick<SteerOptions, 'client' | 'links'>, bulkId: string, companyId?: string) {
  const workflowId = workflowIdOf(bulkId);
  const handle = client.workflow.getHandle(workflowId);
  const description = await describeChain(client, workflowId, Date.now());
  if (!description) return undefined;
  const { companyId: ofCompany, ...facts } = memoSchema.parse(description.memo);
  if (companyId !== undefined && ofCompany !== companyId) return undefined;
  const { status, startTime, closeTime } = description;
  // One of the two only: a failed query that nobody awaits would end the process.
  const progress = () =>
    status.name === 'COMPLETED' ? handle.result() : client.withDeadline(Date.now() + 3_000, () => handle.query(progressQuery));
  const base = companyId === undefined ? '' : `/co/${companyId}`;
  return bulkSchema.parse({
    ...facts,
    bulkId,
    workflowId,
    status: status.name === 'TIMED_OUT' ? 'failed' : status.name.toLowerCase(),
    startedAt: startTime.toISOString(),
    closedAt: closeTime?.toISOString(),
    progress: await progress().catch(() => undefined),
    links: { bulk: `${links.api}${base}/chains/bulk/${bulkId}`, webUi: workflowLink(links, workflowId) },
  });
}
