/** Starts what no notifier decides about: notices of a rule, at most one an hour or day for each distinct mistake, and tests. */

import { randomUUID } from 'node:crypto';
import { type Client, WorkflowIdReusePolicy } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import type { NoticeDelivery, RuleNotice, TestNotice } from '../contract/notices.js';
import type { ContactResult } from '../contract/notify.js';
import { companyKey, rulesKey } from '../contract/search-attributes.js';
import { hashOf } from './notifier.js';

/** Distinct mistakes of a rule that one process tells in an hour or day: a stream of ever new ones fills nobody's inbox. */
const distinctMistakes = 20;
const startTimeoutMs = 10_000;

export class RuleNotices {
  /** What has been told in this hour or day, by rule and kind, so that Temporal is not asked for every repetition. */
  readonly #told = new Map<string, { period: string; mistakes: Set<string> }>();

  constructor(
    private readonly client: Client,
    private readonly log: Logger,
  ) {}

  /** Returns at once; a failure is logged and nothing else. */
  start(notice: RuleNotice, taskQueue: string): void {
    const { companyId, relayId, kind, at } = notice;
    const rule = `${companyId}:${relayId}`;
    const period = at.slice(0, kind === 'rejected' ? 'yyyy-mm-ddThh'.length : 'yyyy-mm-dd'.length);
    const mistake = hashOf([kind, ...mistakeOf(notice)]);
    const last = this.#told.get(`${rule}:${kind}`);
    const mistakes = last?.period === period ? last.mistakes : new Set<string>();
    if (mistakes.has(mistake) || mistakes.size >= distinctMistakes) return;
    this.#told.set(`${rule}:${kind}`, { period, mistakes: mistakes.add(mistake) });
    const workflowId = `relay-notice:${rule}:${mistake}:${period}`;
    const options = { ...optionsOf(notice, taskQueue), workflowId };
    const workflowIdReusePolicy = WorkflowIdReusePolicy.REJECT_DUPLICATE;
    this.client
      .withDeadline(Date.now() + startTimeoutMs, () =>
        this.client.workflow.start<NoticeDelivery>('NoticeDelivery', { ...options, workflowIdReusePolicy }),
      )
      .catch((error: unknown) => {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return;
        mistakes.delete(mistake);
        this.log.error({ err: error, workflowId }, 'a notice could not be started');
      });
  }
}

/** The same for the same mistake, whatever values the event brought: quoted texts and numbers do not count. */
function mistakeOf(notice: RuleNotice): string[] {
  switch (notice.kind) {
    case 'rejected':
      return [
        notice.reason,
        ...notice.mistakes.map(({ pointer, detail }) => `${pointer} ${detail.replaceAll(/".*"|\d+/gs, '…')}`),
      ];
    case 'missing-property':
      return [notice.path];
    case 'paused':
      return [notice.what, notice.at];
  }
}

/** How long a test may take, from its start to the last contact. */
export const testTimeoutMs = 25_000;

/** Sends a test to every contact, once, on the way that notices take. @throws where it has not ended in time. */
export function sendTest(client: Client, taskQueue: string, companyId: string, relayId?: string): Promise<ContactResult[]> {
  const notice: TestNotice = { kind: 'test', companyId, relayId, at: new Date().toISOString() };
  return client.withDeadline(Date.now() + testTimeoutMs + 2_000, () =>
    client.workflow.execute<NoticeDelivery>('NoticeDelivery', {
      ...optionsOf(notice, taskQueue),
      workflowId: `relay-notice-test:${companyId}:${randomUUID()}`,
      workflowExecutionTimeout: testTimeoutMs,
    }),
  );
}

function optionsOf(notice: RuleNotice | TestNotice, taskQueue: string) {
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
