/** A request that was refused although its sender is known: kept without its tokens, to be sent again. */

import { z } from 'zod';
import type { Issue } from '../chain/request.js';
import { Problem, problemSchema } from './problem.js';
import type { ProblemSlug } from './problem-types.js';

export const rejectionReasons = [
  'invalid-chain', // a mistake in the rule itself
  'idempotency-key', // an idempotency key that is none, or two that differ
  'idempotency-key-reused', // used before, with another body
  'token-expired', // rotated, and its grace is over
  'token-revoked',
  'rule-disabled',
  'signature', // the company wants signed webhooks, and this one was not, or not rightly
  'rate-limited',
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/**
 * A problem of a request whose sender is known to the company: it is kept. The answer is that of any problem; the owner may learn
 * more than it says.
 */
export class Rejection extends Problem {
  /** What was wrong, for the owner; at least one. */
  readonly mistakes: readonly Issue[];

  constructor(
    readonly reason: RejectionReason,
    slug: ProblemSlug,
    detail: string,
    { mistakes, ...more }: Problem['more'] & { mistakes?: readonly Issue[] } = {},
  ) {
    super(slug, detail, more);
    this.mistakes = mistakes ?? more.errors ?? [{ pointer: '', detail }];
  }
}

/** As a list shows it. */
export const rejectedSchema = z
  .object({
    rejectedId: z.string(),
    receivedAt: z.iso.datetime(),
    reason: z.enum(rejectionReasons),
    problem: problemSchema.describe('What was answered; of a 401 more than was answered.'),
    relayIds: z.array(z.string()).describe('The rules that it names.'),
    idempotencyKey: z.string().optional(),
    chainId: z.string().optional().describe('The chain that runs it, once it has been sent again.'),
    resentAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'RejectedRequest' });
export type ListedRejectedRequest = z.infer<typeof rejectedSchema>;

export const rejectedListSchema = z.object({ items: z.array(rejectedSchema), nextCursor: z.string().optional() });

export const wholeRejectedSchema = rejectedSchema.extend({
  elements: z.array(z.record(z.string(), z.unknown())).describe('The actions as they came, without tokens.'),
});
export type RejectedRequest = z.infer<typeof wholeRejectedSchema>;
