/** Decides who may read `/metrics`: callers on this machine, and callers with an admin token or the metrics token. */

import { timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { hashOf } from '../contract/credential.js';
import { Problem, problemResponse } from '../contract/problem.js';
import { isLocal } from './client-address.js';

/** The bearer token (RFC 6750). */
export const bearerOf = (c: Context): string | undefined => /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '')?.[1];

export function holdsOneOf(tokens: readonly (string | undefined)[], c: Context): boolean {
  const bearer = bearerOf(c);
  return bearer !== undefined && tokens.some((token) => token !== undefined && timingSafeEqual(hashOf(token), hashOf(bearer)));
}

/** Guards a worker's metrics. A worker knows only one admin token, RELAY_ADMIN_TOKEN. */
export function guardMetrics(...tokens: (string | undefined)[]): MiddlewareHandler {
  return async (c, next) => {
    if (isLocal(c) || holdsOneOf(tokens, c)) return next();
    const headers = { 'WWW-Authenticate': 'Bearer realm="relay"' };
    return problemResponse(
      new Problem('unauthorized', 'Send RELAY_METRICS_TOKEN in the header Authorization: Bearer …', { headers }),
    );
  };
}
