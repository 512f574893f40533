/** What the API answers when something is wrong: a problem document, whatever was thrown. */

import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { Context, Env, Hono, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { DecryptionError } from '../contract/encryption.js';
import { Problem, problemResponse } from '../contract/problem.js';
import { AwayError } from '../service/config.js';

/**
 * To be called before adding routes. `report` hears of the errors that nobody expected, which are answered with a bare 500, or
 * 503 where Temporal is the reason.
 */
export function answerProblems<E extends Env>(app: Hono<E>, report: (error: Error) => void): Hono<E> {
  const onMethodNotAllowed = (c: Context, methods: string[]) => {
    const headers = { Allow: methods.join(', ') };
    const detail = `${c.req.method} is not possible here; ${methods.join(', ')} is.`;
    return problemResponse(new Problem('method-not-allowed', detail, { headers }));
  };
  app.use('*', refuseNul, methodNotAllowed({ app, onMethodNotAllowed }));
  app.notFound((c) => problemResponse(notFound(`resource at ${c.req.path}`)));
  app.onError((error) => {
    const { problem, isExpected } = problemOf(error);
    if (!isExpected) report(error);
    return problemResponse(problem);
  });
  return app;
}

/** What is said of an error. Of one that is not expected the operator has to hear. */
export function problemOf(error: Error): { problem: Problem; isExpected: boolean } {
  const expected = (problem: Problem) => ({ problem, isExpected: true });
  const unexpected = (problem: Problem) => ({ problem, isExpected: false });
  if (error instanceof Problem) return expected(error);
  if (error instanceof HTTPException && error.status < 500)
    return expected(new Problem('bad-request', error.message || 'The request was refused.'));
  // Reading a body throws this where the connection ends before it: nobody reads the answer, but the metrics count it.
  if (error.message === 'aborted' && 'code' in error && error.code === 'ECONNRESET')
    return expected(new Problem('bad-request', 'The request did not arrive in full.'));
  if (error instanceof AwayError) {
    const away = 'The database of the relay does not answer at the moment. Send the request again';
    return expected(new Problem('database-unavailable', `${away}; if it was to change something, look first.`));
  }
  // Whoever asks can tell the operator, and nothing is lost until then.
  if (error instanceof DecryptionError)
    return unexpected(new Problem('unreadable', `What is stored cannot be read: ${error.message}.`));
  if (error instanceof ServiceError || isGrpcServiceError(error))
    return unexpected(new Problem('temporal-unavailable', 'Temporal does not answer as it should. Try again.'));
  return unexpected(new Problem('internal', 'Something went wrong here; the operator can find it in the log.'));
}

/** No id has one, and the database refuses to look for it. */
const refuseNul: MiddlewareHandler = async (c, next) => {
  if (c.req.url.includes('%00')) throw new Problem('malformed-url', 'The URL must not contain a NUL character.');
  await next();
};

/** 404; only for those who are authenticated. `what` is known to them: `rule 4711`. */
export function notFound(what: string): Problem {
  return new Problem('not-found', `There is no ${what}.`);
}

/** @param most - `100 keys`. */
export function limitReached(companyId: string, most: string): Problem {
  return new Problem(
    'limit-reached',
    `Company ${companyId} has ${most}, as many as it may have: delete one that is not used any more.`,
  );
}

/** What there is. @throws Problem 404, as `notFound`, where it is undefined or false. */
export function found<Thing>(thing: Thing, what: string): Exclude<Thing, undefined | false> {
  if (thing === undefined || thing === false) throw notFound(what);
  return thing as Exclude<Thing, undefined | false>;
}
