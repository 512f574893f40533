/** Errors as HTTP tells them: RFC 9457 problem documents, and what a Hono app answers when something is wrong. */

import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { Env, Hono, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { z } from 'zod';
import type { Issue } from '../chain/request.js';
import { type ProblemSlug, problemTypes } from './problem-types.js';

export const problemSchema = z.object({
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
});

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
    headers: { 'Cache-Control': 'no-store', ...headers, 'Content-Type': 'application/problem+json' },
  });
}

/** 404; only for those who are authenticated. `what` is known to them: `rule 4711`. */
export function notFound(what: string): Problem {
  return new Problem('not-found', `There is no ${what}.`);
}

/** 503, to be tried again soon. */
export function temporalUnavailable(detail: string): Problem {
  return new Problem('temporal-unavailable', detail, { headers: { 'Retry-After': '10' } });
}

/** The RFC 6901 pointer to a place in a JSON document. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** What zod found, each mistake at its place. Never shows a value, which may be secret. */
export function remarksOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue): Issue[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        pointer: jsonPointer([...issue.path, key]),
        detail: 'is not a field that is known here',
      }));
    }
    const detail = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    return [{ pointer: jsonPointer(issue.path), detail }];
  });
}

/** Words for zod's `error` option: a field that is not there is required, rather than of the wrong type. */
export function required(issue: { input?: unknown }): string | undefined {
  return issue.input === undefined ? 'is required' : undefined;
}

/**
 * Makes an app answer every error with a problem document: what handlers throw, unknown paths, wrong methods.
 * `report` hears of the errors that nobody expected, which are answered with a bare 500, or 503 where Temporal is the reason. Call it before adding routes.
 */
export function answerProblems<E extends Env>(app: Hono<E>, report: (error: Error) => void): Hono<E> {
  app.use('*', refuseNul, wrongMethods(app));
  app.notFound((c) => problemResponse(notFound(`resource at ${c.req.path}`)));
  app.onError((error) => {
    if (error instanceof Problem) return problemResponse(error);
    if (error instanceof HTTPException && error.status < 500) {
      return problemResponse(new Problem('bad-request', error.message || 'The request was refused.'));
    }
    // Whoever hung up reads no answer; for the metrics it is one.
    if (isHangUp(error)) return problemResponse(new Problem('bad-request', 'The request did not arrive in full.'));
    report(error);
    if (error instanceof ServiceError || isGrpcServiceError(error)) {
      return problemResponse(temporalUnavailable('Temporal does not answer as it should. Try again.'));
    }
    return problemResponse(new Problem('internal', 'Something went wrong here; the operator can find it in the log.'));
  });
  return app;
}

/** What reading a body throws when the connection ends before it. */
function isHangUp(error: Error): boolean {
  return error.message === 'aborted' && 'code' in error && error.code === 'ECONNRESET';
}

/** No id has one, and the database refuses to look for it. */
const refuseNul: MiddlewareHandler = async (c, next) => {
  if (c.req.url.includes('%00')) throw new Problem('malformed-url', 'The URL must not contain a NUL character.');
  await next();
};

function wrongMethods<E extends Env>(app: Hono<E>): MiddlewareHandler<E> {
  return methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) =>
      problemResponse(
        new Problem('method-not-allowed', `${c.req.method} is not possible here; ${methods.join(', ')} is.`, {
          headers: { Allow: methods.join(', ') },
        }),
      ),
  });
}
