/** Errors as HTTP tells them: RFC 9457 problem documents. */

import { z } from 'zod';
import type { Issue } from '../chain/request.js';
import { type ProblemSlug, problemTypes } from './problem-types.js';

export const problemSchema = z
  .object({
    type: z.string().describe('`/problems/{slug}`: the path of a page that says what to do.'),
    title: z.string().describe('The same for every problem of this type.'),
    status: z.int(),
    detail: z.string().describe('This time: what was wrong, where, and what to do.'),
    errors: z
      .array(
        z.object({ pointer: z.string().describe('A JSON pointer (RFC 6901), such as `/1/delayInSeconds`.'), detail: z.string() }),
      )
      .optional()
      .describe("Every mistake of the request's body."),
  })
  .meta({ id: 'Problem' });

/** Thrown by a handler: this is the answer. Whatever it says is for the caller to read: no secrets. */
export class Problem extends Error {
  override readonly name = 'Problem';

  readonly status: number;
  readonly title: string;

  constructor(
    /** Its type: see problem-types.ts. */
    readonly slug: ProblemSlug,
    /** This time: what was wrong, where, and what to do. */
    readonly detail: string,
    readonly more: { errors?: readonly Issue[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    const { status, title } = problemTypes[slug];
    super(`${title}: ${detail}`);
    this.status = status;
    this.title = title;
  }
}

export function problemResponse({ status, slug, title, detail, more }: Problem): Response {
  const { errors, headers } = more;
  return new Response(JSON.stringify({ type: `/problems/${slug}`, title, status, detail, ...(errors && { errors }) }), {
    status,
    headers: {
      'Cache-Control': 'no-store',
      ...(status === 503 && { 'Retry-After': '10' }),
      ...headers,
      'Content-Type': 'application/problem+json',
    },
  });
}
