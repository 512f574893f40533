/**
 * Starts the deliveries of notices about which no notifier has to decide: those about a rule, at most one an hour or day for each
 * distinct mistake, and tests.
 */

import { randomUUID } from 'node:crypto';
import { type Client, WorkflowIdReusePolicy } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import type { ContactResult, NoticeDelivery, RuleNotice, TestNotice } from '../contract/notices.js';
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
    const rule = `${notice.companyId}:${notice.relayId}`;
    const period = notice.at.slice(0, notice.kind === 'rejected' ? 'yyyy-mm-ddThh'.length : 'yyyy-mm-dd'.length);
    const mistake = mistakeOf(notice);
    const mistakes = this.#toldOf(`${rule}:${notice.kind}`, period);
    if (mistakes.has(mistake) || mistakes.size >= distinctMistakes) return;
    mistakes.add(mistake);
    const workflowId = `relay-notice:${rule}:${mistake}:${period}`;
    void this.#start(notice, taskQueue, workflowId).then((started) => started || mistakes.delete(mistake));
  }

  #toldOf(key: string, period: string): Set<string> {
    const last = this.#told.get(key);
    if (last?.period === period) return last.mistakes;
    const mistakes = new Set<string>();
    this.#told.set(key, { period, mistakes });
    return mistakes;
  }

  /** @returns whether the notice is on its way, or was before. */
  async #start(notice: RuleNotice, taskQueue: string, workflowId: string): Promise<boolean> {
    const { client, log } = this;
    try {
      await client.withDeadline(Date.now() + startTimeoutMs, () =>
        client.workflow.start<NoticeDelivery>('NoticeDelivery', {
          ...optionsOf(notice, taskQueue),
          workflowId,
          workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return true;
      log.error({ err: error, workflowId }, 'a notice could not be started');
      return false;
    }
  }
}

/** The same for the same mistake, whatever values the event brought: quoted texts and numbers do not count. */
function mistakeOf(notice: RuleNotice): string {
  return hashOf([notice.kind, ...factsOf(notice)]);
}

function factsOf(notice: RuleNotice): string[] {
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
export function sendTest(
  client: Client,
  taskQueue: string,
  companyId: string,
  relayId: string | undefined,
): Promise<ContactResult[]> {
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
  const args: [RuleNotice | TestNotice] = [notice];
  return {
    args,
    taskQueue,
    typedSearchAttributes: [
      { key: companyKey, value: companyId },
      ...(relayId === undefined ? [] : [{ key: rulesKey, value: [relayId] }]),
    ],
    staticSummary: `${companyId}: ${relayId === undefined ? '' : `rule ${relayId}: `}notice: ${kind}`,
    priority: { fairnessKey: companyId },
  };
}
