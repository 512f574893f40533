/** One message to each recipient, each an activity of its own, those that an earlier try reached left out. */

import { isCancellation } from '@temporalio/workflow';
import { addressOf } from '../chain/address.js';
import type { SendEmails } from '../chain/chain.js';
import { isInline } from '../chain/room.js';
import { cutShort } from '../chain/text.js';
import type { ActionRun, AttemptResult, RetryMode } from './action-run.js';
import { readFailure, wasTried } from './failures.js';

/** Sends to all side by side; what the relay goes on with by itself begins with one: hours of an outage do not fill the history. */
export async function sendEmails(run: ActionRun, mode: RetryMode, action: SendEmails): Promise<AttemptResult> {
  const { subject, body, bodyHtml } = action;
  const content = isInline(action, action.recipients.length) ? { subject, body, bodyHtml } : undefined;
  const attempts = run.attemptsLeft(mode);
  const deliveries = new Map((run.status.deliveries ?? []).map((delivery) => [delivery.recipient, delivery]));
  const results: AttemptResult[] = [];
  let cancelled: unknown;

  // Mended, it may be to others, or to the same written otherwise.
  const copies = new Set([...deliveries.values()].flatMap(({ recipient, sent }) => (sent ? addressOf(recipient) : [])));
  const told = [...[...deliveries.keys()].filter((one) => !action.recipients.includes(one)), ...action.recipients];
  const open = action.recipients.filter((recipient) => !copies.has(addressOf(recipient)));
  const [first] = mode === 'once' || run.waits > 0 ? open.splice((run.status.attempts ?? 0) % open.length, 1) : [];
  if (first !== undefined) await run.outside(() => sendTo(first));
  const rest = results.some(({ failure }) => failure && (failure.retryable || !wasTried(failure))) ? [] : open;
  await run.lock.outside(Promise.all(rest.map(sendTo)));
  if (cancelled) throw cancelled;

  // What was not tried is waited for, and a retryable failure is worth the relay's own tries, whatever the others were.
  const failures = results.flatMap(({ failure }) => failure ?? []);
  const failure = failures.find((failure) => !wasTried(failure)) ?? failures.find(({ retryable }) => retryable) ?? failures[0];
  const made = Math.max(0, ...results.map(({ attempts }) => attempts));
  const skipped = results.find(({ skipped }) => skipped !== undefined)?.skipped;
  return failure ? { attempts: made, failure } : { attempts: made, skipped, recipients: deliveries.size };

  /** Never rejects. */
  async function sendTo(recipient: string): Promise<void> {
    const note = (error?: string, unknown?: boolean) =>
      deliveries.set(recipient, { recipient, sent: error === undefined, error, unknown });
    const activities = run.ordinary(`sendEmail/${action.recipients.indexOf(recipient)}`, `to ${recipient}`, attempts);
    try {
      const result = await run.begin(() => activities.sendEmail({ ...run.ref, recipient, ...content }));
      results.push(result);
      note(result.skipped);
    } catch (error) {
      if (isCancellation(error)) {
        cancelled = error;
        note('cancelled');
      } else {
        const failed = readFailure(error);
        results.push(failed);
        if (wasTried(failed.failure)) note(cutShort(failed.failure.message, 200), failed.failure.unknown);
      }
    }
    run.lock.arrive(() => run.update({ deliveries: told.flatMap((one) => deliveries.get(one) ?? []) }));
  }
}
