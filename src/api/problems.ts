/** Turns every error into a problem document (RFC 9457). */

import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { Context, Env, Hono, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { withoutCredentials } from '../contract/credential.js';
import { DecryptionError } from '../contract/encryption.js';
import { Problem, problemResponse } from '../contract/problem.js';
import { AwayError } from '../service/config.js';

/** Call this function before you add routes. @param report - gets unexpected errors. The client gets 500 or 503. */
export function answerProblems<E extends Env>(app: Hono<E>, report: (error: Error) => void): Hono<E> {
  const onMethodNotAllowed = (c: Context, methods: string[]) => {
    const headers = { Allow: methods.join(', ') };
    const detail = `${c.req.method} is not possible here. Use ${methods.join(' or ')}.`;
    return problemResponse(new Problem('method-not-allowed', detail, { headers }));
  };
  app.use('*', refuseNul, methodNotAllowed({ app, onMethodNotAllowed }));
  app.notFound((c) => problemResponse(notFound(`resource at ${withoutCredentials(c.req.path)}`)));
  app.onError((error) => {
    const { problem, isExpected } = problemOf(error);
    if (!isExpected) report(error);
    return problemResponse(problem);
  });
  return app;
}

/** The answer to an error. The caller must log an unexpected error (`isExpected: false`). */
export function problemOf(error: Error): { problem: Problem; isExpected: boolean } {
  const expected = (problem: Problem) => ({ problem, isExpected: true });
  const unexpected = (problem: Problem) => ({ problem, isExpected: false });
  if (error instanceof Problem) return expected(error);
  if (error instanceof HTTPException && error.status < 500)
    return expected(new Problem('bad-request', error.message || 'The request was refused.'));
  // The connection ended before the end of the body. The answer reaches no client, but the metrics count this answer.
  if (error.message === 'aborted' && 'code' in error && error.code === 'ECONNRESET')
    return expected(new Problem('bad-request', 'The request did not arrive in full.'));
  if (error instanceof AwayError) {
    const away = 'The database of the relay does not answer at the moment. Send the request again';
    return expected(new Problem('database-unavailable', `${away}. For a change, first check whether the change was made.`));
  }
  if (error instanceof DecryptionError)
    return unexpected(new Problem('unreadable', `Stored data cannot be read: ${error.message}.`));
  if (error instanceof ServiceError || isGrpcServiceError(error))
    return unexpected(new Problem('temporal-unavailable', 'Temporal does not answer correctly. Try again.'));
  return unexpected(new Problem('internal', 'The relay had an unexpected error; the operator finds it in the log.'));
}

/** Refuses paths and queries with a NUL character, because PostgreSQL refuses texts with a NUL character. */
const refuseNul: MiddlewareHandler = async (c, next) => {
  if (c.req.url.includes('%00')) throw new Problem('malformed-url', 'The URL must not contain a NUL character.');
  await next();
};

/** Only for authenticated callers: strangers must not learn which ids exist. @param what - for example `rule 4711`. */
export const notFound = (what: string): Problem => new Problem('not-found', `There is no ${what}.`);

/** @param most - for example `100 keys`. */
export function limitReached(companyId: string, most: string): Problem {
  const detail = `Company ${companyId} can have at most ${most}. First delete something that is not used any more.`;
  return new Problem('limit-reached', detail);
}

/** @throws Problem not-found if `thing` is undefined or false */
export function found<Thing>(thing: Thing, what: string): Exclude<Thing, undefined | false> {
  if (thing === undefined || thing === false) throw notFound(what);
  return thing as Exclude<Thing, undefined | false>;
}

export const foundRule = <Thing>(thing: Thing, companyId: string, relayId: string) =>
  found(thing, `rule ${relayId} of company ${companyId}`);
