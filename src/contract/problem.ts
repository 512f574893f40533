/** Problem documents (RFC 9457), and refused requests that the relay stores so that people can send them again. */

import { z } from 'zod';
import type { Issue } from '../chain/request.js';
import { anyObject, named, namedStrict, onlyTrue } from './named.js';
import { type ProblemSlug, problemTypes } from './problem-types.js';
import { type RejectionReason, refusalWords } from './rejection.js';
import { type DraftConflict, draftConflictSchema } from './rule-contents.js';
import { encrypted } from './secrets.js';

const issueSchema = z.object({
  pointer: z.string().describe('A JSON pointer (RFC 6901), such as `/1/delayInSeconds`.'),
  detail: z.string(),
});

export const problemSchema = named('Problem', {
  type: z.string().describe('`/problems/{slug}`: the path of a page with advice.'),
  title: z.string().describe('The title of the problem type. All problems of this type have the same title.'),
  status: z.int(),
  detail: z.string().describe('The mistake in this request, its place, and what to do next.'),
  errors: z.array(issueSchema).optional().describe('All mistakes in the body of the request.'),
  conflict: draftConflictSchema.optional().describe('For `draft-changed`: the stored draft, and the contents in the request.'),
});

/** Why the authentication failed. Only the log contains this reason. */
export interface Refusal {
  reason: 'no credential' | 'wrong credential' | 'unknown rule' | 'wrong token' | RejectionReason;
  relayId?: string;
}

/** A handler throws this error to answer with the problem. The caller can read `detail`, so `detail` contains no secrets. */
export class Problem extends Error {
  override readonly name = 'Problem';

  readonly status: number;
  readonly title: string;

  constructor(
    readonly slug: ProblemSlug,
    readonly detail: string,
    readonly more: {
      errors?: readonly Issue[];
      conflict?: DraftConflict;
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
  const { errors, conflict, headers } = more;
  return new Response(JSON.stringify({ type: `/problems/${slug}`, title, status, detail, errors, conflict }), {
    status,
    headers: {
      'Cache-Control': 'no-store',
      ...(status === 503 && { 'Retry-After': '10' }),
      ...headers,
      'Content-Type': 'application/problem+json',
    },
  });
}

export type { RejectionReason };
export const rejectionReasons = Object.keys(refusalWords) as RejectionReason[];

/** `right` and `wrong` are for companies with a webhookSecret. A missing signature is `wrong`. */
export const signatureVerdicts = ['right', 'wrong', 'not required'] as const;
export type SignatureVerdict = (typeof signatureVerdicts)[number];

/** Whether the sender may be a stranger: the token is revoked or expired, or the right signature is missing. */
export function needsConfirmation({ reason, signature }: { reason: RejectionReason; signature?: SignatureVerdict }): boolean {
  if (reason === 'token-expired') return signature !== 'right';
  return reason === 'token-revoked' || reason === 'signature';
}

/** Whether the reason is a limit of the company. Such a reason causes only one notice a day. */
export function isQuota(reason: RejectionReason): boolean {
  return reason === 'actions-per-day' || reason === 'recipients-per-day' || reason === 'open-chains';
}

/** A problem of a request whose sender is known. The relay stores the request. The company sees more details than the sender. */
export class Rejection extends Problem {
  readonly mistakes: readonly Issue[]; // shown to the company; at least one
  readonly signature: SignatureVerdict | undefined; // undefined if the signature is not checked yet

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

export const rejectedSchema = named('RejectedRequest', {
  rejectedId: z.string(),
  receivedAt: z.iso.datetime(),
  reason: z.enum(rejectionReasons),
  problem: encrypted(problemSchema).describe(
    'Why the relay refused the request. For a 401, this has details that the sender did not get.',
  ),
  signature: z.enum(signatureVerdicts).optional().describe("Whether the company's `webhookSecret` signed the request."),
  relayIds: z.array(z.string()).describe('The rules that the actions name. For a broken body: the rules of its tokens.'),
  idempotencyKey: encrypted(z.string()).optional(),
  chainId: z.string().optional().describe('The chain that started when a person sent the request again.'),
  resentAt: z.iso.datetime().optional(),
  repeats: z.int().min(0).optional().describe('How often the sender repeated the same request within ten minutes.'),
  notKept: z
    .int()
    .optional()
    .describe('How many later requests of the same rule were not stored, because the rule had reached its storage limit.'),
  droppedAt: z.iso.datetime().optional().describe('When a person dropped the request.'),
  droppedBy: z.string().optional().describe('Who dropped the request: `admin`, `admin <name>` or `key <name>`.'),
});
export type ListedRejectedRequest = z.infer<typeof rejectedSchema>;

const off = z.boolean().default(false);
export const resendRequest = namedStrict('Resend', {
  confirm: off.describe(
    '`true` confirms that you have read the actions. Required if the reason is `token-revoked`, `signature`, or `token-expired` without a right signature.',
  ),
  actions: z
    .record(z.string().regex(/^\d{1,3}$/, 'must be the place of an action, such as 0'), anyObject)
    .default({})
    .describe(
      'Edits of actions. The relay makes them before it sends the request again. Example: `{"0": {"subject": "Hello"}}` gives action 0 a new subject. `null` removes a field. `relayId` cannot be edited.',
    ),
  proposed: off.describe('`true` sends the `proposal`, with the edits in `actions`. Required for an unreadable body.'),
  leaveOut: z
    .array(z.int().min(0).max(1000))
    .max(1000)
    .default([])
    .describe('The places of the actions in the `proposal` that the relay must not send.'),
  event: anyObject.optional().describe('Only for an event: the corrected event. Without this field, the event runs unchanged.'),
});

export type Resend = z.infer<typeof resendRequest>;
export const rejectedListSchema = z.object({ items: z.array(rejectedSchema), nextCursor: z.string().optional() });

const keptBody = z.object({
  text: z.string().describe('The body as text. `***` replaces each token.'),
  bytes: z.int().describe('The number of received bytes.'),
  cut: z.boolean().describe('Whether the end of the body is missing in `text`.'),
  place: z
    .object({
      line: z.int().describe('The line, from 1.'),
      column: z.int().describe('The column, from 1.'),
      offset: z.int().describe('The offset in `text`, from 0, in UTF-16 units.'),
      says: z.string(),
    })
    .optional()
    .describe('The place of the mistake in the body.'),
  isEvent: onlyTrue.describe('The body came as an event of a rule, not as a list of actions.'),
});
export type KeptBody = z.infer<typeof keptBody>;

const proposedAction = z.object({
  element: anyObject.describe('The action that the sender probably meant, without its token.'),
  authenticated: z.boolean().describe('Whether the action had the right token of its rule. If not, the relay does not send it.'),
  problems: z.array(issueSchema).optional().describe('The mistakes in the fields of the action. `getRejected` finds them.'),
});
export type ProposedAction = z.infer<typeof proposedAction>;

export const wholeRejectedSchema = rejectedSchema.extend({
  elements: encrypted(z.array(anyObject)).describe(
    'The received actions, without tokens. Empty for an event, and for a body that could not be read.',
  ),
  body: encrypted(keptBody).optional().describe('The received body, if it is an event or could not be read as actions.'),
  proposal: encrypted(z.array(proposedAction))
    .optional()
    .describe('The actions, or the one event, that an unreadable body probably means.'),
});
export type RejectedRequest = z.infer<typeof wholeRejectedSchema>;
