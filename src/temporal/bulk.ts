/** Bulk steering: selects the chains, starts the `BulkSteering` workflow, and reads its progress. */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type BulkVerb, bulkVerbsFor, isRetry } from '../chain/allowed-verbs.js';
import { chainWorkflowId, workflowLink } from '../chain/chain.js';
import type { Correction } from '../chain/correct.js';
import { cutShort, fitBytes } from '../chain/text.js';
import { summaryBytes } from '../chain/web-ui.js';
import { type Actor, actorName } from '../contract/audit.js';
import { type ActionFilter, actionsMeant, type BulkOrder } from '../contract/bulk.js';
import { bulkSchema, type ListedChain } from '../contract/chain-resource.js';
import { progressQuery } from '../contract/messages.js';
import { Problem } from '../contract/problem.js';
import { companyKey } from '../contract/search-attributes.js';
import type { Store } from '../store/store.js';
import type { BulkSteering } from '../workflows/bulk-steering.js';
import { type ChainFilter, listChains, quoted, statusQueries } from './list.js';
import { correctAction, readAccepted, readFields } from './mend.js';
import { describeChain, readChain } from './read.js';
import type { SteerOptions } from './steer.js';

/** The filter selects chains and actions. Without `companyId`, the filter covers all companies, and has no cause or chain ids. */
interface BulkRequest {
  verb: BulkVerb;
  filter: ChainFilter & Pick<ActionFilter, 'causeId'> & { chainIds?: string[] };
  companyId?: string;
  correction?: Correction; // for `mend` only
}

/** The maximum number of chains in a bulk order, because the input of one workflow contains all chain ids. */
export const mostChains = 5_000;

const unfit = (detail: string, pointer: string) =>
  new Problem('invalid-body', `${pointer} ${detail}`, { errors: [{ pointer, detail }] });

export async function findChains({ client, links, store }: SteerOptions, { verb, filter, companyId }: BulkRequest) {
  const { status, chainIds } = filter;
  const failed = status === 'failed';
  if (failed && !bulkVerbsFor(status).includes(verb))
    throw unfit('must be needs-attention or running: failed actions can only be retried or mended', '/filter/status');
  const held = !failed && (isRetry(verb) || verb === 'skip' || filter.reason !== undefined);
  if (held && status === 'running') throw unfit('must be needs-attention for this verb or reason', '/filter/status');
  // If a request to retry or mend names chains, but no status, select both held chains and failed chains.
  const both = isRetry(verb) && chainIds !== undefined && status === undefined;
  const open = both ? `((${statusQueries['needs-attention']}) OR ${statusQueries.failed})` : "ExecutionStatus = 'Running'";
  const ids = chainIds?.map((chainId) => quoted(chainWorkflowId({ companyId: companyId ?? '', chainId })));
  const items = await listChains(client, links, {
    filter: held && !both ? { ...filter, status: 'needs-attention' } : filter,
    companyId,
    more: [...(failed ? [] : [open]), ...(ids ? [`WorkflowId IN (${ids.join(', ')})`] : [])],
    limit: mostChains + 1,
  });
  if (items.length > mostChains)
    throw unfit(`finds more than ${mostChains} chains, which is the limit: select fewer with since and until`, '/filter');
  const heldOf = await heldForCause(store, companyId, filter);
  return items.filter(({ chainId }) => heldOf(chainId)?.length !== 0);
}

function meantBy({ assignmentId, relayId, reason, causeId, status, chainIds }: BulkRequest['filter']): ActionFilter {
  const chosen = chainIds !== undefined && status === undefined;
  return { assignmentId, relayId, reason, causeId, failed: status === 'failed', ...(chosen && { chosen }) };
}

/** Returns a function: for a chain id, it returns the indexes of the actions held for the cause; undefined without a cause. */
export async function heldForCause(
  { causes }: { causes: Pick<Store['causes'], 'heldFor'> },
  companyId = '',
  { causeId }: ActionFilter,
) {
  const held = causeId === undefined ? undefined : await causes.heldFor(companyId, causeId);
  return (chainId: string): readonly number[] | undefined => held && (held.get(chainId) ?? []);
}

export async function previewMends(
  { client, links, store }: SteerOptions,
  { filter, companyId, correction }: BulkRequest,
  chains: readonly ListedChain[],
) {
  if (!correction) return undefined;
  const heldOf = await heldForCause(store, companyId, filter);
  const previews = chains.map(async ({ companyId, chainId, workflowId }) => {
    const chain = await readChain(client, links, companyId, chainId);
    const indexes = chain ? actionsMeant('mend', meantBy(filter), chain, heldOf(chainId)).indexes : [];
    const actions = chain?.actions.filter(({ index }) => indexes.includes(index)) ?? [];
    const accepted = actions.length > 0 ? await readAccepted(client, { workflowId }) : [];
    const shown = [];
    // Corrects one action after another, so that only one long text per chain is in memory.
    for (const action of actions) {
      const becomes = await correctAction(client, { chainId, workflowId, actions }, action, correction, accepted).catch(
        (error: unknown) => {
          if (error instanceof Problem) return { before: undefined, after: undefined, problem: error.detail };
          throw error;
        },
      );
      const { before, after, problem } = becomes;
      const isAll = correction.texts && after !== undefined && !problem;
      const named = isAll
        ? await readFields(client, { chainId, workflowId, actions: chain?.actions ?? [] }, action, accepted)
        : {};
      shown.push({ ...named, chainId, index: action.index, before: partOf(before), after: partOf(after), problem });
    }
    return shown;
  });
  return (await Promise.all(previews)).flat();
}

/** Shortens a field for a preview. Copies the part, because a slice would keep the whole text in memory. */
function partOf(value: unknown): unknown {
  if (!Array.isArray(value)) return structuredClone(typeof value === 'string' ? cutShort(value, 500) : value);
  const more = value.length > 10 ? [`and ${value.length - 10} more`] : [];
  return structuredClone([...value.slice(0, 10).map((one) => (typeof one === 'string' ? cutShort(one, 100) : one)), ...more]);
}

const memoSchema = bulkSchema
  .pick({ verb: true, filter: true, count: true, by: true })
  .extend({ companyId: z.string().optional() });

const workflowIdOf = (bulkId: string) => `relay-bulk:${bulkId}`;

/** @param recipientsPerDay - the daily limit of recipients for companies without their own limit. @returns the `bulkId`. */
export async function steerChains(
  { client, taskQueue, store, recipientsPerDay }: SteerOptions & Pick<BulkOrder, 'recipientsPerDay'>,
  { verb, filter: asked, companyId, correction }: BulkRequest,
  chains: readonly ListedChain[],
  actor: Actor,
): Promise<string> {
  const bulkId = randomUUID();
  // The stored filter has only ten chain ids. The workflow's input has all chain ids.
  const filter = { ...asked, ...(asked.chainIds && { chainIds: asked.chainIds.slice(0, 10) }) };
  const count = chains.length;
  const by = actorName(actor);
  const details = { bulkId, verb, filter, count, field: correction?.field };
  await store.audit.record({ actor, action: 'chain.bulk', companyId, details });
  const memo: z.input<typeof memoSchema> = { verb, filter, count, by, ...(companyId !== undefined && { companyId }) };
  const actions = meantBy(asked);
  const summary = `${verb} in ${count} chains${companyId === undefined ? '' : ` of ${companyId}`}, by ${by}`;
  await client.workflow.start<typeof BulkSteering>('BulkSteering', {
    workflowId: workflowIdOf(bulkId),
    priority: { fairnessKey: companyId ?? 'all' },
    taskQueue,
    args: [{ bulkId, companyId, verb, actions, by, correction, recipientsPerDay }, chains.map(({ workflowId }) => workflowId)],
    memo,
    ...(companyId !== undefined && { typedSearchAttributes: [{ key: companyKey, value: companyId }] }),
    staticSummary: fitBytes(summary, summaryBytes),
  });
  return bulkId;
}

/** Whether a bulk order is running. The answer comes from Temporal's visibility, which is about a second late. */
export async function isSteeringMany({ client }: Pick<SteerOptions, 'client'>, companyId: string): Promise<boolean> {
  const query = `WorkflowType = 'BulkSteering' AND ExecutionStatus = 'Running' AND RelayCompanyId = ${quoted(companyId)}`;
  return (await client.workflow.count(query)).count > 0;
}

/** @returns undefined if the order does not exist, or belongs to another company. */
export async function readBulk({ client, links }: Pick<SteerOptions, 'client' | 'links'>, bulkId: string, companyId?: string) {
  const workflowId = workflowIdOf(bulkId);
  const handle = client.workflow.getHandle(workflowId);
  const description = await describeChain(client, workflowId, Date.now());
  if (!description) return undefined;
  const { companyId: ofCompany, ...facts } = memoSchema.parse(description.memo);
  if (companyId !== undefined && ofCompany !== companyId) return undefined;
  const { status, startTime, closeTime } = description;
  // Start only the call that the code awaits, because an unhandled rejection of the other call would end the process.
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
