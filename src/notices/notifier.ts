/** The way from a chain to the `Notifier` of a cause: which one that is, and the word to it. */

import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { ActionStatus } from '../chain/action-status.js';
import { cutShort, fitBytes } from '../chain/text.js';
import { newsSignal } from '../contract/messages.js';
import type { Cause, ChainNotice, Member, News, Notifier } from '../contract/notices.js';
import { companyKey } from '../contract/search-attributes.js';
import type { Store } from '../store/store.js';

/** A first notice waits no longer than this for Temporal. */
const answerTimeoutMs = 10_000;

/**
 * Signals the notifier, and starts it where there is none. Its workflow id is returned.
 * @param notifier - the one that has the failure of which this is the recovery.
 */
export async function handToNotifier(
  { client, store, noticeDigestSeconds }: { client: Client; store: Pick<Store, 'rules'>; noticeDigestSeconds: number },
  notice: ChainNotice,
  notifier: string | undefined,
  taskQueue: string,
): Promise<string> {
  const { companyId, relayId, chainId, runId, index, at, receivedAt } = notice;
  const action = notice.actions.find((action) => action.index === index);
  if (!action) throw new RangeError(`the notice names action ${index}, which the chain does not have`);
  const { state, assignmentId, heldUntil } = action;
  const kind = notice.kind === 'recovered' ? 'needs-attention' : notice.kind;
  const { type, message } = reasonOf(action);
  // A rule with contacts of its own has notifiers of its own: nobody is told what concerns others only, or later because of them.
  const rule = await store.rules.get(companyId, relayId);
  const id = hashOf([kind, foldedReason(action), rule?.notify ? relayId : '']);
  const cause: Cause = { id, companyId, relayId, kind, reason: { type, message: cutShort(message, 1000) } };
  const workflowId = notifier ?? `relay-notifier:${companyId}:${id}`;
  const member: Member = {
    chainId,
    index,
    relayId,
    state,
    at,
    receivedAt,
    message: cutShort(message, 500),
    runId,
    assignmentId: assignmentId && cutShort(assignmentId, 100),
    heldUntil,
  };
  await client.withDeadline(Date.now() + answerTimeoutMs, () =>
    client.workflow.signalWithStart<Notifier, [News]>('Notifier', {
      workflowId,
      taskQueue,
      args: [cause, noticeDigestSeconds],
      signal: newsSignal,
      signalArgs: [{ notice, member }],
      typedSearchAttributes: [{ key: companyKey, value: companyId }],
      staticSummary: fitBytes(`${companyId}: ${kind}, ${type}: what fails for the same reason is told as one`, 350),
      priority: { fairnessKey: companyId },
    }),
  );
  return workflowId;
}

function reasonOf({ error, reason }: ActionStatus): Cause['reason'] {
  return error ?? { type: 'Failed', message: reason ?? 'nothing was said' };
}

/** The reason without what differs from event to event: ids, numbers, addresses, names of assignments. An HTTP status stays. */
export function foldedReason(action: ActionStatus): string {
  const { type, message } = reasonOf(action);
  const assignment = action.assignmentId?.trim();
  const names = assignment ? [assignment, encodeURIComponent(assignment)] : [];
  const patterns = names.map((name) => new RegExp(`(?<![\\p{L}\\p{N}])${literal(name)}(?![\\p{L}\\p{N}])`, 'gu'));
  const folded = patterns
    .reduce((text, pattern) => text.replaceAll(pattern, '…'), message)
    .replaceAll(/(\/(?:assignments|tickets)\/)[^/\s]+/g, '$1…')
    .replaceAll(/[^\s"<>,;]+@[^\s"<>,;]+/g, '…')
    .replaceAll(/(answered "?\d{3}\b)|[\p{L}\p{N}_.-]*\p{N}[\p{L}\p{N}_-]*/gu, (_, answer?: string) => answer ?? '…');
  return `${type}: ${folded}`;
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

export function hashOf(facts: readonly string[]): string {
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 16);
}
