/** The recipients of one try at an e-mail. Part of the replay contract. */

import type { ActionStatus } from './action-status.js';
import { addressOf } from './address.js';

/**
 * An edit can change the recipients, or only their spelling. A recipient with a copy gets no second one.
 * @param alone - chooses one recipient, who gets the message before the others.
 * @returns `shown`: the recipients whose deliveries are shown, in order
 */
export function recipientsOfTry(
  recipients: readonly string[],
  { deliveries = [] }: Pick<ActionStatus, 'deliveries'>,
  alone?: number,
): { shown: string[]; first?: string; others: string[] } {
  const copies = new Set(deliveries.flatMap(({ recipient, sent }) => (sent ? addressOf(recipient) : [])));
  const before = deliveries.map(({ recipient }) => recipient).filter((one) => !recipients.includes(one));
  const others = recipients.filter((recipient) => !copies.has(addressOf(recipient)));
  const [first] = alone === undefined ? [] : others.splice(alone % others.length, 1);
  return { shown: [...before, ...recipients], ...(first !== undefined && { first }), others };
}
