/** What the API answers when something is wrong: a problem document, whatever was thrown. */

import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { Env, Hono, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { UnfitFilter } from '../chains/bulk.js';
import { WrongCursor } from '../chains/list.js';
import { ChainNotStarted, IdempotencyKeyReused } from '../chains/start.js';
import { AlreadyEnded, NotReopened, NotSteerable } from '../chains/steer.js';
import { Problem, problemResponse } from '../contract/problem.js';
import { invalid, notFound, temporalUnavailable } from './problem.js';
import { Rejection } from './rejections.js';

/**
 * Makes an app answer every error with a problem document: what handlers throw, unknown paths, wrong methods. `report` hears of
 * the errors that nobody expected, which are answered with a bare 500, or 503 where Temporal is the reason. Call it before adding
 * routes.
 */
export function answerProblems<E extends Env>(app: Hono<E>, report: (error: Error) => void): Hono<E> {
  app.use('*', refuseNul, wrongMethods(app));
  app.notFound((c) => problemResponse(notFound(`resource at ${c.req.path}`)));
  app.onError((error) => {
    const problem = problemOf(error);
    if (problem) return problemResponse(problem);
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

/** The answer to what somebody may do about; undefined for what nobody expected. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof IdempotencyKeyReused)
    return new Rejection('idempotency-key-reused', 'idempotency-key-reused', error.message);
  if (error instanceof ChainNotStarted) return temporalUnavailable(error.message);
  if (error instanceof AlreadyEnded) return new Problem('already-ended', error.message);
  if (error instanceof NotSteerable) return new Problem('not-steerable', error.message);
  if (error instanceof NotReopened) return temporalUnavailable(error.message);
  if (error instanceof WrongCursor) return new Problem('invalid-query', error.message);
  if (error instanceof UnfitFilter) return invalid([{ pointer: error.pointer, detail: error.detail }]);
  return undefined;
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
