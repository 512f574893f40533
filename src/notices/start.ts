/**
 * Starts notices in Temporal. News about an action goes to the `Notifier` of its cause. A test notice, or a notice about a rule,
 * needs no notifier: its delivery starts immediately.
 */

import { hash, randomUUID } from 'node:crypto';
import { type Client, WorkflowIdReusePolicy } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import { foundNobody } from '../chain/outcome.js';
import { cutShort, fitBytes } from '../chain/text.js';
import { summaryBytes } from '../chain/web-ui.js';
import { trialTimeoutMs } from '../contract/activities.js';
import { actionOf, causeOf } from '../contract/causes.js';
import { newsSignal } from '../contract/messages.js';
import type {
  ChainNotice,
  Member,
  News,
  NoticeDelivery,
  Notifier,
  RuleNotice,
  TestNotice,
  WeeklyNotice,
} from '../contract/notices.js';
import type { ContactResult } from '../contract/notify.js';
import { isQuota, needsConfirmation } from '../contract/problem.js';
import { companyKey, rulesKey } from '../contract/search-attributes.js';
import type { Store } from '../store/store.js';

/** The time limit of a call to Temporal. */
const answerTimeoutMs = 10_000;

export type NewsOf = Awaited<ReturnType<typeof newsOf>>;

/** @returns the cause of a notice about one action, and the action's entry in the notifier */
export async function newsOf({ rules }: Pick<Store, 'rules'>, notice: ChainNotice) {
  const { companyId, relayId, chainId, runId, index, at, receivedAt } = notice;
  const cause = causeOf(notice, await rules.get(companyId, relayId));
  const action = actionOf(notice);
  const { state, heldUntil, assignmentId } = action;
  const nobody = foundNobody(action) || undefined;
  const short = { message: cutShort(cause.reason.message, 500), assignmentId: assignmentId && cutShort(assignmentId, 100) };
  const member: Member = { chainId, index, relayId, state, nobody, at, receivedAt, runId, heldUntil, ...short };
  return { cause, member };
}

/**
 * Signals the cause's notifier, and starts the notifier if necessary. @returns the workflow id of the notifier.
 * @param notifier - for a recovery, the workflow id of the notifier that got the failure.
 */
export async function handToNotifier(
  { client, noticeDigestSeconds }: { client: Client; noticeDigestSeconds: number },
  notice: ChainNotice,
  { cause, member }: NewsOf,
  notifier: string | undefined,
  taskQueue: string,
): Promise<string> {
  const { id, companyId, kind, reason } = cause;
  const workflowId = notifier ?? `relay-notifier:${companyId}:${id}`;
  const summary = `${companyId}: ${kind}, ${reason.type}: sends one notice for all failures with this reason`;
  await client.withDeadline(Date.now() + answerTimeoutMs, () =>
    client.workflow.signalWithStart<Notifier, [News]>('Notifier', {
      workflowId,
      taskQueue,
      args: [cause, noticeDigestSeconds],
      signal: newsSignal,
      signalArgs: [{ notice, member }],
      typedSearchAttributes: [{ key: companyKey, value: companyId }],
      staticSummary: fitBytes(summary, summaryBytes),
      priority: { fairnessKey: companyId },
    }),
  );
  return workflowId;
}

/** One process reports at most this many different mistakes of a rule in an hour or a day, to protect the inbox. */
const distinctMistakes = 20;

export type RuleNotices = ReturnType<typeof ruleNotices>;

/** Sends at most one notice an hour, or a day, for each different mistake of a rule. */
export function ruleNotices(client: Client, log: Logger) {
  // The mistakes that were reported in this hour or day, by rule and kind. So a repeated mistake needs no call to Temporal.
  const told = new Map<string, { period: string; mistakes: Set<string> }>();

  /** Starts the delivery of a notice. Returns immediately, and only logs a failure. */
  function start(notice: RuleNotice, taskQueue: string): void {
    const { companyId, relayId, kind, at } = notice;
    const ofCompany = notice.kind === 'rejected' && isQuota(notice.reason);
    const rule = ofCompany ? companyId : `${companyId}:${relayId}`;
    const period = at.slice(0, kind === 'rejected' && !ofCompany ? 'yyyy-mm-ddThh'.length : 'yyyy-mm-dd'.length);
    const mistake = hash('sha256', [kind, ...mistakeOf(notice)].join('\n')).slice(0, 16);
    const last = told.get(`${rule}:${kind}`);
    const mistakes = last?.period === period ? last.mistakes : new Set<string>();
    if (mistakes.has(mistake) || mistakes.size >= distinctMistakes) return;
    told.set(`${rule}:${kind}`, { period, mistakes: mistakes.add(mistake) });
    const workflowId = `relay-notice:${rule}:${mistake}:${period}`;
    startOnce(client, notice, taskQueue, workflowId).catch((error: unknown) => {
      mistakes.delete(mistake);
      log.error({ err: error, workflowId }, 'the delivery of a notice could not be started');
    });
  }

  return { start };
}

/** Starts the delivery of a notice. Does nothing if this workflow id was used before. @throws if Temporal does not answer */
export async function startOnce(client: Client, notice: RuleNotice | WeeklyNotice, taskQueue: string, workflowId: string) {
  const workflowIdReusePolicy = WorkflowIdReusePolicy.REJECT_DUPLICATE;
  const options = { ...optionsOf(notice, taskQueue), workflowId, workflowIdReusePolicy };
  const start = () => client.workflow.start<NoticeDelivery>('NoticeDelivery', options);
  await client.withDeadline(Date.now() + answerTimeoutMs, start).catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  });
}

/** Returns texts that identify the mistake, without quoted texts and numbers, because these differ from event to event. */
function mistakeOf(notice: RuleNotice): string[] {
  if (notice.kind === 'missing-property') return [notice.path];
  if (notice.kind === 'paused') return [notice.what, notice.at];
  if (notice.kind === 'quiet') return [notice.since, notice.eventAt ?? ''];
  // Use only the reason, because the sender may be a stranger, who could put a different mistake into each request.
  if (needsConfirmation(notice)) return [notice.reason];
  if (notice.notKept !== undefined) return ['not kept', notice.reason];
  if (notice.mistake !== undefined) return [notice.reason, notice.mistake];
  return [notice.reason, ...notice.mistakes.map((one) => `${one.pointer} ${one.detail.replaceAll(/".*"|\d+/gs, '…')}`)];
}

/** Sends a test notice to every contact, with one attempt each. @throws if the delivery does not end in time. */
export function sendTest(client: Client, taskQueue: string, companyId: string, relayId?: string): Promise<ContactResult[]> {
  const notice: TestNotice = { kind: 'test', companyId, relayId, at: new Date().toISOString() };
  return client.withDeadline(Date.now() + trialTimeoutMs + 2_000, () =>
    client.workflow.execute<NoticeDelivery>('NoticeDelivery', {
      ...optionsOf(notice, taskQueue),
      workflowId: `relay-notice-test:${companyId}:${randomUUID()}`,
      workflowExecutionTimeout: trialTimeoutMs,
    }),
  );
}

function optionsOf(notice: RuleNotice | WeeklyNotice | TestNotice, taskQueue: string) {
  const { companyId, relayId, kind } = notice;
  const company = { key: companyKey, value: companyId };
  const args: [typeof notice] = [notice];
  return {
    args,
    taskQueue,
    typedSearchAttributes: relayId === undefined ? [company] : [company, { key: rulesKey, value: [relayId] }],
    staticSummary: `${companyId}: ${relayId === undefined ? '' : `rule ${relayId}: `}notice: ${kind}`,
    priority: { fairnessKey: companyId },
  };
}
