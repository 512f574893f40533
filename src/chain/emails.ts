/** The recipients of one try at an e-mail. Part of the replay contract. */

import type { ActionStatus } from './action-status.js';
import { addressOf } from './address.js';

/**
 * Leaves out recipients who already have a copy of the e-mail, even if an edit has changed the spelling of their addresses.
 * @param alone - a number that chooses one recipient. This recipient gets the message before the others.
 * @returns `shown` has all recipients in the order in which the status shows their deliveries
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
