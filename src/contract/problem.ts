/** Errors as HTTP tells them, RFC 9457 problem documents, and the refused requests that are kept to be sent again. */

import { z } from 'zod';
import type { Issue } from '../chain/request.js';
import { type ProblemSlug, problemTypes } from './problem-types.js';
import { encrypted } from './secrets.js';

const issueSchema = z.object({
  pointer: z.string().describe('A JSON pointer (RFC 6901), such as `/1/delayInSeconds`.'),
  detail: z.string(),
});

export const problemSchema = z
  .object({
    type: z.string().describe('`/problems/{slug}`: the path of a page that says what to do.'),
    title: z.string().describe('The same for every problem of this type.'),
    status: z.int(),
    detail: z.string().describe('This time: what was wrong, where, and what to do.'),
    errors: z.array(issueSchema).optional().describe("Every mistake of the request's body."),
  })
  .meta({ id: 'Problem' });

/** Why somebody is not let in: for the log, never to be told outwardly. */
export interface Refusal {
  reason: 'no credential' | 'wrong credential' | 'unknown rule' | 'wrong token' | RejectionReason;
  relayId?: string;
}

/** Thrown by a handler: this is the answer. Whatever it says is for the caller to read: no secrets. */
export class Problem extends Error {
  override readonly name = 'Problem';

  readonly status: number;
  readonly title: string;

  constructor(
    readonly slug: ProblemSlug,
    readonly detail: string,
    readonly more: {
      errors?: readonly Issue[];
      headers?: Readonly<Record<string, string>>;
      bound?: string;
      refusal?: Refusal;
    } = {},
  ) {
    const { status, title } = problemTypes[slug];
    super(`${title}: ${detail}`);
    this.status = status;
    this.title = title;
  }
}

export function problemResponse({ status, slug, title, detail, more }: Problem): Response {
  const { errors, headers } = more;
  return new Response(JSON.stringify({ type: `/problems/${slug}`, title, status, detail, errors }), {
    status,
    headers: {
      'Cache-Control': 'no-store',
      ...(status === 503 && { 'Retry-After': '10' }),
      ...headers,
      'Content-Type': 'application/problem+json',
    },
  });
}

export const rejectionReasons = [
  'invalid-chain', // a mistake in the rule itself
  'idempotency-key', // an idempotency key that is none, or two that differ
  'idempotency-key-reused', // used before, with another body
  'token-expired', // rotated, and its grace is over
  'token-revoked',
  'rule-disabled',
  'signature', // the company wants signed webhooks, and this one was not, or not rightly
  'rate-limited',
  'actions-per-day',
  'recipients-per-day',
  'open-chains',
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** Of a webhook: that of a company with a webhookSecret is `right` or `wrong`; `wrong` is also one that is not there. */
export const signatureVerdicts = ['right', 'wrong', 'not asked for'] as const;
export type SignatureVerdict = (typeof signatureVerdicts)[number];

/** For these nobody vouches: somebody may use a dead token, or a token without the secret that belongs to it. */
export function needsConfirmation({ reason, signature }: { reason: RejectionReason; signature?: SignatureVerdict }): boolean {
  if (reason === 'token-expired') return signature !== 'right';
  return reason === 'token-revoked' || reason === 'signature';
}

/** Of the whole company, which is told once a day. */
export function isQuota(reason: RejectionReason): boolean {
  return reason === 'actions-per-day' || reason === 'recipients-per-day' || reason === 'open-chains';
}

/** A problem of a request whose sender is known: the request is kept, and its owner may learn more than the answer says. */
export class Rejection extends Problem {
  readonly mistakes: readonly Issue[]; // for the owner; at least one
  readonly signature: SignatureVerdict | undefined; // undefined: to be added by who knows it

  constructor(
    readonly reason: RejectionReason,
    slug: ProblemSlug,
    detail: string,
    { mistakes, signature, ...more }: Problem['more'] & { mistakes?: readonly Issue[]; signature?: SignatureVerdict } = {},
  ) {
    super(slug, detail, { refusal: { reason }, ...more });
    this.signature = signature;
    this.mistakes = mistakes ?? more.errors ?? [{ pointer: '', detail }];
  }
}

export const rejectedSchema = z
  .object({
    rejectedId: z.string(),
    receivedAt: z.iso.datetime(),
    reason: z.enum(rejectionReasons),
    problem: encrypted(problemSchema).describe('What was answered; of a 401 more than was answered.'),
    signature: z.enum(signatureVerdicts).optional().describe("Whether it was signed with the company's `webhookSecret`."),
    relayIds: z.array(z.string()).describe('The rules that it names.'),
    idempotencyKey: encrypted(z.string()).optional(),
    chainId: z.string().optional().describe('The chain that runs it, once it has been sent again.'),
    resentAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'RejectedRequest' });
export type ListedRejectedRequest = z.infer<typeof rejectedSchema>;

export const resendRequest = z
  .strictObject({
    confirm: z
      .boolean()
      .default(false)
      .describe(
        'Needed where the reason is `token-revoked`, `signature`, or `token-expired` without a right signature: the actions are meant.',
      ),
    actions: z
      .record(z.string().regex(/^\d{1,3}$/, 'must be the place of an action'), z.record(z.string(), z.unknown()))
      .default({})
      .describe(
        'What is changed first: by the place of an action its fields with their new values; `null` removes one. `relayId` stays.',
      ),
  })
  .meta({ id: 'Resend' });

export type Resend = z.infer<typeof resendRequest>;

export const rejectedListSchema = z.object({ items: z.array(rejectedSchema), nextCursor: z.string().optional() });

export const wholeRejectedSchema = rejectedSchema.extend({
  elements: encrypted(z.array(z.record(z.string(), z.unknown()))).describe('The actions as they came, without tokens.'),
});
export type RejectedRequest = z.infer<typeof wholeRejectedSchema>;
