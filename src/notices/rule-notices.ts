/** Starts the `Notice` workflows that tell people about a rule, at most one an hour or day for each rule and distinct mistake. */

import { createHash } from 'node:crypto';
import { type Client, WorkflowIdReusePolicy } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import { companyKey, rulesKey } from '../contract/search-attributes.js';
import type { Notice } from '../workflows/notice.js';
import type { RuleNotice } from './rule-notice.js';

/** So many distinct mistakes of a rule are told of in its hour or day by one process, so that a stream of ever new ones fills nobody's inbox. */
const distinctMistakes = 20;
const startTimeoutMs = 10_000;

export class Notices {
  /** What has been told of in this hour or day, by rule and kind, so that Temporal is not asked for every repetition. */
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
        client.workflow.start<typeof Notice>('Notice', {
          workflowId,
          taskQueue,
          args: [notice],
          workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
          typedSearchAttributes: [
            { key: companyKey, value: notice.companyId },
            { key: rulesKey, value: [notice.relayId] },
          ],
          staticSummary: `${notice.companyId}: notice about rule ${notice.relayId}: ${notice.kind}`,
          priority: { fairnessKey: notice.companyId },
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
  const facts = factsOf(notice);
  return createHash('sha256')
    .update([notice.kind, ...facts].join('\n'))
    .digest('hex')
    .slice(0, 16);
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
