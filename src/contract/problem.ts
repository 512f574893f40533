/** RFC 9457 problem documents, and refused requests that are kept to be sent again. */

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
    type: z.string().describe('`/problems/{slug}`: the path of a page with advice.'),
    title: z.string().describe('The same for every problem of this type.'),
    status: z.int(),
    detail: z.string().describe('The mistake in this request, its place, and the next step.'),
    errors: z.array(issueSchema).optional().describe("Every mistake of the request's body."),
  })
  .meta({ id: 'Problem' });

/** The reason of a failed authentication: for the log only. */
export interface Refusal {
  reason: 'no credential' | 'wrong credential' | 'unknown rule' | 'wrong token' | RejectionReason;
  relayId?: string;
}

/** A handler throws it to answer with this problem. The caller can read it: no secrets. */
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
  'invalid-chain',
  'idempotency-key', // invalid, or two that differ
  'idempotency-key-reused', // used before with another body
  'token-expired', // rotated, and the grace period is over
  'token-revoked',
  'rule-disabled',
  'signature', // the company requires signed webhooks; the signature was missing or wrong
  'rate-limited',
  'actions-per-day',
  'recipients-per-day',
  'open-chains',
  'malformed-body', // not strict JSON, or a value may have broken out of its text
  'not-actions', // JSON, but not a list of actions
  'body-too-large',
  'unsupported-body', // unknown charset or content encoding
  'wrong-token', // only some of its tokens are right
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** `right` and `wrong`: the company has a webhookSecret; a missing signature is `wrong`. */
export const signatureVerdicts = ['right', 'wrong', 'not asked for'] as const;
export type SignatureVerdict = (typeof signatureVerdicts)[number];

/** The sender may be a stranger: the token is dead, or the right signature is missing. */
export function needsConfirmation({ reason, signature }: { reason: RejectionReason; signature?: SignatureVerdict }): boolean {
  if (reason === 'token-expired') return signature !== 'right';
  return reason === 'token-revoked' || reason === 'signature';
}

/** Limits of a company, reported once a day. */
export function isQuota(reason: RejectionReason): boolean {
  return reason === 'actions-per-day' || reason === 'recipients-per-day' || reason === 'open-chains';
}

/** A problem of a request with a known sender. The request is kept, and its owner sees more than the sender. */
export class Rejection extends Problem {
  readonly mistakes: readonly Issue[]; // for the owner; at least one
  readonly signature: SignatureVerdict | undefined; // undefined: not known yet

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
    problem: encrypted(problemSchema).describe('The answer; for a 401 with more details than the answer had.'),
    signature: z.enum(signatureVerdicts).optional().describe("Whether it was signed with the company's `webhookSecret`."),
    relayIds: z.array(z.string()).describe('The rules in its actions.'),
    idempotencyKey: encrypted(z.string()).optional(),
    chainId: z.string().optional().describe('The chain that runs it, after it was sent again.'),
    resentAt: z.iso.datetime().optional(),
    repeats: z.int().min(0).optional().describe('How often the same request came again within ten minutes.'),
    notKept: z
      .int()
      .optional()
      .describe('How many later requests with the same rule and reason were not kept, because there was no room.'),
    droppedAt: z.iso.datetime().optional().describe('When a person dropped it.'),
    droppedBy: z.string().optional().describe('Who dropped it: `admin`, `admin <name>` or `key <name>`.'),
  })
  .meta({ id: 'RejectedRequest' });
export type ListedRejectedRequest = z.infer<typeof rejectedSchema>;

export const resendRequest = z
  .strictObject({
    confirm: z
      .boolean()
      .default(false)
      .describe(
        'Confirms the actions. Needed if the reason is `token-revoked`, `signature`, or `token-expired` without a right signature.',
      ),
    actions: z
      .record(z.string().regex(/^\d{1,3}$/, 'must be the place of an action'), z.record(z.string(), z.unknown()))
      .default({})
      .describe(
        'Edits before sending: the new values of fields, by the place of the action. `null` removes a field. `relayId` stays.',
      ),
    proposed: z
      .boolean()
      .default(false)
      .describe('Needed if the body could not be read: sends the actions of the `proposal`, with the edits in `actions`.'),
    leaveOut: z
      .array(z.int().min(0).max(1000))
      .max(1000)
      .default([])
      .describe('The places of actions of the `proposal` that are not sent.'),
  })
  .meta({ id: 'Resend' });

export type Resend = z.infer<typeof resendRequest>;

export const rejectedListSchema = z.object({ items: z.array(rejectedSchema), nextCursor: z.string().optional() });

const keptBody = z.object({
  text: z.string().describe('The body as text. `***` replaces each token.'),
  bytes: z.int().describe('The number of received bytes.'),
  cut: z.boolean().describe('Whether the end of the text is missing.'),
  place: z
    .object({
      line: z.int().describe('From 1.'),
      column: z.int().describe('From 1.'),
      offset: z.int().describe('Into `text`, from 0, in UTF-16 units.'),
      says: z.string(),
    })
    .optional()
    .describe('Where the body breaks.'),
});
export type KeptBody = z.infer<typeof keptBody>;

const proposedAction = z.object({
  element: z.record(z.string(), z.unknown()).describe('The probably intended action, without its token.'),
  authenticated: z.boolean().describe('Whether it had the right token of its rule. Otherwise it cannot be sent.'),
});
export type ProposedAction = z.infer<typeof proposedAction>;

export const wholeRejectedSchema = rejectedSchema.extend({
  elements: encrypted(z.array(z.record(z.string(), z.unknown()))).describe(
    'The received actions, without tokens. Empty if the body could not be read.',
  ),
  body: encrypted(keptBody).optional().describe('The received body, if it could not be read as actions.'),
  proposal: encrypted(z.array(proposedAction)).optional().describe('The probable actions of such a body. A person decides.'),
});
export type RejectedRequest = z.infer<typeof wholeRejectedSchema>;
