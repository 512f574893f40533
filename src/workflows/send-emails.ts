/** One message to each recipient, each an activity of its own, those that an earlier try reached left out. */

import { isCancellation } from '@temporalio/workflow';
import type { ChainAction } from '../chain/chain.js';
import { cutShort } from '../chain/text.js';
import type { ActionRun, AttemptResult, RetryMode } from './action-run.js';
import { readFailure, wasTried } from './failures.js';

type SendEmails = Extract<ChainAction, { action: 'sendEmails' }>;

/** Bytes of messages in one workflow task, whose completion may have 4 MB. Part of the replay contract. */
const batchBytes = 1_000_000;

/** Sends to all side by side; a try of the relay's own begins with one, so that hours of an outage do not fill the history. */
export async function sendEmails(run: ActionRun, mode: RetryMode, action: SendEmails): Promise<AttemptResult> {
  const { subject, body, bodyHtml } = action;
  const attempts = run.attemptsLeft(mode);
  const deliveries = new Map((run.status.deliveries ?? []).map((delivery) => [delivery.recipient, delivery]));
  const results: AttemptResult[] = [];
  let cancelled: unknown;

  const open = action.recipients.filter((recipient) => !deliveries.get(recipient)?.sent);
  const [first] = mode === 'once' ? open.splice((run.status.attempts ?? 0) % open.length, 1) : [];
  if (first !== undefined) await run.outside(() => sendTo(first));
  const rest = results.some(({ failure }) => failure && (failure.retryable || !wasTried(failure))) ? [] : open;
  const batchSize = Math.max(1, Math.floor(batchBytes / (3 * (subject.length + body.length + bodyHtml.length) + 1000)));
  const sends: Promise<void>[] = [];
  while (rest.length > 0) {
    // The wait ends the workflow task; where it is cancelled, so is what is sent after it.
    if (sends.length > 0) await run.wait(1000, 'goes on with the next recipients').catch(() => {});
    sends.push(...rest.splice(0, batchSize).map(sendTo));
  }
  await run.lock.outside(Promise.all(sends));
  if (cancelled) throw cancelled;

  // What was not tried is waited for, and a retryable failure is worth the relay's own tries, whatever the others were.
  const failures = results.flatMap(({ failure }) => failure ?? []);
  const failure = failures.find((failure) => !wasTried(failure)) ?? failures.find(({ retryable }) => retryable) ?? failures[0];
  const made = Math.max(0, ...results.map(({ attempts }) => attempts));
  const skipped = results.find(({ skipped }) => skipped !== undefined)?.skipped;
  return failure ? { attempts: made, failure } : { attempts: made, skipped, recipients: deliveries.size };

  /** Never rejects. */
  async function sendTo(recipient: string): Promise<void> {
    const note = (error?: string) => deliveries.set(recipient, { recipient, sent: error === undefined, error });
    const activities = run.ordinary(`sendEmail/${action.recipients.indexOf(recipient)}`, `to ${recipient}`, attempts);
    try {
      const message = { ...run.ref, recipient, subject, body, bodyHtml };
      const result = await run.begin(() => activities.sendEmail(message));
      results.push(result);
      note(result.skipped);
    } catch (error) {
      if (isCancellation(error)) {
        cancelled = error;
        note('cancelled');
      } else {
        const failed = readFailure(error);
        results.push(failed);
        if (wasTried(failed.failure)) note(cutShort(failed.failure.message, 200));
      }
    }
    run.lock.arrive(() => run.update({ deliveries: action.recipients.flatMap((one) => deliveries.get(one) ?? []) }));
  }
}
