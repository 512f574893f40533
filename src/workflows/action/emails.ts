/** Sends one message to each recipient, with one activity per recipient. Skips recipients that already have the message. */

import { isCancellation } from '@temporalio/workflow';
import { attemptsLeft, outcomeOf, type Tried, type Try } from '../../chain/attempt.js';
import type { SendEmails } from '../../chain/chain.js';
import { recipientsOfTry } from '../../chain/emails.js';
import { wasTried } from '../../chain/outcome.js';
import { areInline, isInline } from '../../chain/room.js';
import { cutShort } from '../../chain/text.js';
import { readFailure } from '../../contract/failures.js';
import type { Act } from './act.js';

/**
 * Sends to all recipients concurrently. But after a wait, and when the relay itself tries a held action, sends to
 * one recipient first. So a long outage does not fill the history. The activity ids are part of the replay contract.
 */
export async function sendEmails(act: Act, how: Try, action: SendEmails): Promise<Tried> {
  const { status } = act;
  const { values, recipients = action.recipients } = status.late ?? {};
  const { subject, body, bodyHtml, late } = action;
  const content = !late && isInline(action, recipients.length) ? { subject, body, bodyHtml } : undefined;
  const known = values && areInline(values, recipients.length) ? values : undefined;
  const attempts = attemptsLeft(act.chain.retryBudgetSeconds, how);
  const deliveries = new Map(status.deliveries?.map((delivery) => [delivery.recipient, delivery]));
  const results: Tried[] = [];
  let cancelled: unknown;

  const alone = how.own || how.waits > 0 ? (status.attempts ?? 0) : undefined;
  const { shown, first, others } = recipientsOfTry(recipients, status, alone);
  if (first !== undefined) await act.outside(() => sendTo(first));
  const rest = results.some(({ failure }) => failure && (failure.retryable || !wasTried(failure))) ? [] : others;
  await act.inPlaces(rest.length, () => Promise.all(rest.map(sendTo)));
  if (cancelled) throw cancelled;
  return outcomeOf(results, deliveries.size);

  /** Records a failure instead of throwing the error. */
  async function sendTo(recipient: string): Promise<void> {
    const note = (error?: string, unknown?: boolean) =>
      deliveries.set(recipient, { recipient, sent: error === undefined, error, unknown });
    const name = `sendEmail/${recipients.indexOf(recipient)}`;
    const to = late?.emails ? `recipient ${recipients.indexOf(recipient) + 1}` : recipient; // A summary must not show late values.
    const activities = act.ordinary(name, `to ${to}`, attempts, how.made);
    let kept: unknown;
    try {
      const result = await act.begin(() => activities.sendEmail({ ...act.ref, values: known, recipient, ...content }));
      results.push(result);
      kept = result.kept;
      note(result.skipped);
    } catch (error) {
      if (isCancellation(error)) {
        cancelled = error;
        note('cancelled');
      } else {
        const failed = readFailure(error);
        results.push(failed);
        kept = failed.kept;
        if (wasTried(failed.failure)) note(cutShort(failed.failure.message, 200), failed.failure.unknown);
      }
    }
    act.engine.arrive(() => {
      act.update({ deliveries: shown.flatMap((one) => deliveries.get(one) ?? []) });
      act.keep(kept);
    });
  }
}
