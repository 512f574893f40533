/**
 * Decides what people are told of one cause: the first failure at once, those within a window after it as one, and once more when
 * all are through. Each notice has a workflow of its own, so that a contact that cannot be reached keeps nothing else waiting.
 */

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  condition,
  continueAsNew,
  log,
  ParentClosePolicy,
  proxyActivities,
  setHandler,
  startChild,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../contract/activities.js';
import { newsSignal, overSignal } from '../contract/messages.js';
import { type Cause, deliveryId, type Notice } from '../contract/notices.js';
import type { ContactResult } from '../contract/notify.js';
import { companyKey } from '../contract/search-attributes.js';
import { isNews, isOver, Ledger, type LedgerState } from './ledger.js';

/**
 * @param windowSeconds - all in it are told as one: when none comes for a third of it or after twice it. 0: each by itself.
 * Part of the replay contract.
 */
export async function Notifier(
  cause: Cause,
  windowSeconds: number,
  before?: { ledger: LedgerState; closesAt: number },
): Promise<void> {
  const ledger = new Ledger(cause.kind === 'needs-attention', before?.ledger);
  const { companyId, relayId } = cause;
  /** When the window closes at the latest, in Unix milliseconds; 0: none is open. */
  let closesAt = before?.closesAt ?? 0;
  let heard = 0;
  let starting = 0;
  /** Never rejects. The delivery goes on when the notifier has closed. */
  const deliver = async (notice: Notice, workflowId: string) => {
    starting += 1;
    try {
      await startChild<typeof NoticeDelivery>('NoticeDelivery', {
        workflowId,
        args: [notice],
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        parentClosePolicy: ParentClosePolicy.ABANDON,
        typedSearchAttributes: [{ key: companyKey, value: companyId }],
        staticSummary: `${companyId}: notice: ${notice.kind}`,
      });
    } catch (error) {
      const isStarted = error instanceof WorkflowExecutionAlreadyStartedError;
      if (!isStarted) log.error('a notice could not be started', { workflowId, error });
    }
    starting -= 1;
  };
  setHandler(newsSignal, (news) => {
    if (!isNews(news)) return log.warn('a signal had no effect: news, which says of no action what happened to it');
    heard += 1;
    if (windowSeconds === 0 || ledger.hear(news)) void deliver(news.notice, deliveryId(news.notice));
  });
  setHandler(overSignal, (over) => {
    if (!isOver(over)) return log.warn('a signal had no effect: over, which names no action');
    ledger.over(over);
  });

  const isFull = () => workflowInfo().continueAsNewSuggested;
  const isEnough = () => ledger.isThrough || isFull();
  const untilQuiet = async () => {
    closesAt ||= Date.now() + windowSeconds * 2000;
    if (!ledger.untold)
      await condition(() => ledger.untold || isEnough(), windowSeconds * 1000, { summary: 'whether more fail' });
    for (let seen = -1; ledger.untold && seen !== heard && Date.now() < closesAt; ) {
      seen = heard;
      if (await condition(isEnough, (windowSeconds * 1000) / 3, { summary: 'until no more fail' })) return;
    }
  };
  do {
    while (ledger.members > 0) {
      await untilQuiet();
      if (isFull()) {
        await condition(() => starting === 0);
        return continueAsNew<typeof Notifier>(cause, windowSeconds, { ledger: ledger.state, closesAt });
      }
      closesAt = 0;
      const over = () => !ledger.waits || isFull();
      if (ledger.waits) {
        const due = Date.now() + ledger.left(Date.now());
        await condition(over, due - Date.now(), { summary: 'until all are through' });
        ledger.extend(Date.now() - due);
      }
      const news = ledger.next(Date.now());
      const at = new Date().toISOString();
      const notice = news && { ...news, cause, companyId, relayId, at };
      if (notice) void deliver(notice, `relay-notice:${companyId}:${cause.id}:${notice.kind}:${at}`);
    }
    if (ledger.awaitsRecovery) await condition(() => ledger.members > 0, lateMs);
    await condition(() => starting === 0);
  } while (ledger.members > 0);
}

/** A recovery may come after the word that its action is over, by no more than this. Part of the replay contract. */
const lateMs = 10_000;

/** About a day, in which time without workers does not count: 8 attempts in the first 20 minutes, then one every 15 minutes. */
export const dayOfAttempts = {
  initialInterval: '5 seconds',
  backoffCoefficient: 2,
  maximumInterval: '15 minutes',
  maximumAttempts: 104,
} as const;

/** More than the contacts and the operator's address take one after the other. A task that never reached a worker is given to another then. */
export const noticeTimeout = '45 seconds';

/** Brings one notice to everybody whom it concerns. @throws ActivityFailure where a day was not enough. */
export async function NoticeDelivery(notice: Notice): Promise<ContactResult[]> {
  const isTest = notice.kind === 'test';
  const { deliverNotice } = proxyActivities<Activities>({
    startToCloseTimeout: isTest ? '20 seconds' : noticeTimeout,
    retry: isTest ? { maximumAttempts: 1 } : dayOfAttempts,
    summary: `notice: ${notice.kind}`,
  });
  return deliverNotice(notice);
}
