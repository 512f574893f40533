/** The signed link in a notice. With this link, a contact can decide about one held action without a key. */

import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { ActionStatus } from '../chain/action-status.js';
import type { ChainRef } from '../chain/chain.js';
import { deriveKey } from './encryption.js';

export interface HoldRef extends ChainRef {
  index: number;
  at: string; // start of the hold, by the chain's clock, in ISO 8601, UTC; the page shows the last decision after this time
  until: number; // when the link expires, in Unix seconds
  contact: string; // `contactMark` of the recipient
}

const namedSchema = z
  .tuple([z.string(), z.string(), z.int(), z.string(), z.int(), z.string()])
  .transform(([companyId, chainId, index, at, until, contact]): HoldRef => ({ companyId, chainId, index, at, until, contact }));

/** A hash of the contact, so that URLs contain no e-mail addresses. */
export const contactMark = (contact: string): string => hash('sha256', contact).slice(0, 16);

export class HoldLinks {
  readonly #keys: readonly Buffer[];

  /** @param secret - RELAY_SECRET: secrets separated by commas. The first secret signs. Without a secret, there are no links. */
  constructor(secret: string | undefined) {
    this.#keys = (secret?.split(',') ?? []).map((secret) => deriveKey(secret, 'notice link'));
  }

  sign({ companyId, chainId, index, at, until, contact }: HoldRef): string | undefined {
    const [key] = this.#keys;
    const named = Buffer.from(JSON.stringify([companyId, chainId, index, at, until, contact])).toString('base64url');
    return key && `${named}.${signatureOf(key, named).toString('base64url')}`;
  }

  /** @returns the contents of the link, even if the link has expired; undefined if the relay did not sign the link. */
  read(link: string): HoldRef | undefined {
    const [, named = '', signature = ''] = /^([\w-]{1,1000})\.([\w-]{43})$/.exec(link) ?? [];
    const given = Buffer.from(signature, 'base64url');
    const isOurs = this.#keys.some((key) => given.length === 32 && timingSafeEqual(signatureOf(key, named), given));
    return isOurs ? namedSchema.parse(JSON.parse(Buffer.from(named, 'base64url').toString())) : undefined;
  }
}

const signatureOf = (key: Buffer, named: string): Buffer => createHmac('sha256', key).update(named).digest();

const ownFields: Record<string, string[]> = {
  platform_sendAssignment: ['groupId', 'sendToGroups', 'sendRadius'],
  ticket_updateUDF: ['externalSystemTicketId', 'cfValue'],
};

/** The fields that a reader of the link may correct, if the company allows it: ids, a value, a radius; no recipients or texts. */
export function fieldsByLink(action: Pick<ActionStatus, 'action' | 'assignmentId' | 'error' | 'deliveries'>): string[] {
  // If the outcome is unknown, a corrected action could have a second effect. The link is not enough for this decision.
  if (action.error?.unknown || action.deliveries?.some(({ unknown }) => unknown)) return [];
  const own = ownFields[action.action] ?? [];
  return action.assignmentId || action.action === 'platform_sendAssignment' ? ['platformAssignmentId', ...own] : own;
}
