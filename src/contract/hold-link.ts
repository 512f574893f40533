/** The link of a notice by which a contact without a key decides about one held action: what it names, and a signature of that. */

import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { ChainRef } from '../chain/chain.js';
import { deriveKey } from './encryption.js';

export interface HoldRef extends ChainRef {
  index: number;
  /** When people were told of the hold, in the time of the chain: what was decided later ended it. ISO 8601, UTC. */
  at: string;
  /** Unix seconds. */
  until: number;
  /** `contactMark` of whom the notice went to. */
  contact: string;
}

const namedSchema = z
  .tuple([z.string(), z.string(), z.int(), z.string(), z.int(), z.string()])
  .transform(([companyId, chainId, index, at, until, contact]): HoldRef => ({ companyId, chainId, index, at, until, contact }));

/** Addresses are in no URL. */
export function contactMark(contact: string): string {
  return hash('sha256', contact).slice(0, 16);
}

export class HoldLinks {
  readonly #keys: readonly Buffer[];

  /** @param secret - RELAY_SECRET: one, or several with commas between them, of which the first signs; undefined: there are no links. */
  constructor(secret: string | undefined) {
    this.#keys = (secret?.split(',') ?? []).map((secret) => deriveKey(secret, 'notice link'));
  }

  /** @returns what stands in the link; undefined where there is no secret. */
  sign({ companyId, chainId, index, at, until, contact }: HoldRef): string | undefined {
    const [key] = this.#keys;
    const named = Buffer.from(JSON.stringify([companyId, chainId, index, at, until, contact])).toString('base64url');
    return key && `${named}.${signatureOf(key, named).toString('base64url')}`;
  }

  /** @returns what the link names, whether or not its time is over; undefined: it is none of ours. */
  read(link: string): HoldRef | undefined {
    const [, named = '', signature = ''] = /^([\w-]{1,1000})\.([\w-]{43})$/.exec(link) ?? [];
    const given = Buffer.from(signature, 'base64url');
    const isOurs = this.#keys.some((key) => given.length === 32 && timingSafeEqual(signatureOf(key, named), given));
    return isOurs ? namedSchema.parse(JSON.parse(Buffer.from(named, 'base64url').toString())) : undefined;
  }
}

function signatureOf(key: Buffer, named: string): Buffer {
  return createHmac('sha256', key).update(named).digest();
}
