/**
 * Decides when people get notices about one cause. They get a notice of the first failure immediately. One more notice lists all
 * failures within a window after the first failure. A last notice says that no action is still held. The ledger stores the actions
 * of each notice. Each notice has its own workflow, so an unreachable contact delays no other notice.
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
import { isNews, isOver, newsSignal, overSignal } from '../contract/messages.js';
import { type Cause, dayOfAttempts, deliveryId, type Notice, noticeTimeout } from '../contract/notices.js';
import type { ContactResult } from '../contract/notify.js';
import { companyKey } from '../contract/search-attributes.js';
import { Ledger, type LedgerState } from '../notices/ledger.js';

/**
 * @param windowSeconds - failures within the window share one notice. The workflow sends this notice when a third of the window
 * passes without a failure, or at the latest after twice the window. With 0, failures share no notice. Part of the replay contract.
 */
export async function Notifier(
  cause: Cause,
  windowSeconds: number,
  before?: { ledger: LedgerState; closesAt: number },
): Promise<void> {
  const ledger = new Ledger(cause.kind === 'needs-attention', before?.ledger);
  const { companyId, relayId } = cause;
  /** The latest end of the window in Unix milliseconds, or 0 if no window is open. */
  let closesAt = before?.closesAt ?? 0;
  let heard = 0;
  let starting = 0;
  /** Starts the delivery, which continues even if the notifier closes. Never rejects. */
  const deliver = async (notice: Notice, workflowId: string) => {
    starting += 1;
    const started = startChild<typeof NoticeDelivery>('NoticeDelivery', {
      workflowId,
      args: [notice],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      typedSearchAttributes: [{ key: companyKey, value: companyId }],
      staticSummary: `${companyId}: notice: ${notice.kind}`,
    });
    await started.catch((error) => {
      const isStarted = error instanceof WorkflowExecutionAlreadyStartedError;
      if (!isStarted) log.error('a notice could not be started', { workflowId, error });
    });
    starting -= 1;
  };
  setHandler(newsSignal, (news) => {
    if (!isNews(news)) return log.warn('a signal had no effect: news without an action');
    heard += 1;
    if (windowSeconds === 0 || ledger.hear(news)) void deliver(news.notice, deliveryId(news.notice));
  });
  setHandler(overSignal, (over) => {
    if (!isOver(over)) return log.warn('a signal had no effect: over without an action');
    ledger.over(over);
  });

  const isFull = () => workflowInfo().continueAsNewSuggested;
  const isEnough = () => ledger.isThrough || isFull();
  const untilQuiet = async () => {
    closesAt ||= Date.now() + windowSeconds * 2000;
    if (!ledger.untold)
      await condition(() => ledger.untold || isEnough(), windowSeconds * 1000, { summary: 'whether more actions fail' });
    for (let seen = -1; ledger.untold && seen !== heard && Date.now() < closesAt; ) {
      seen = heard;
      if (await condition(isEnough, (windowSeconds * 1000) / 3, { summary: 'until no more actions fail' })) return;
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
        await condition(over, due - Date.now(), { summary: 'until no action is held' });
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

/** A recovery arrives at most this many milliseconds after the signal that the hold is over. Part of the replay contract. */
const lateMs = 10_000;

/** Delivers one notice to all its contacts. @throws ActivityFailure if all attempts fail. */
export async function NoticeDelivery(notice: Notice): Promise<ContactResult[]> {
  const [startToCloseTimeout, retry] =
    notice.kind === 'test' ? (['20 seconds', { maximumAttempts: 1 }] as const) : [noticeTimeout, dayOfAttempts];
  const options = { startToCloseTimeout, retry, summary: `notice: ${notice.kind}` };
  return proxyActivities<Activities>(options).deliverNotice(notice);
}
