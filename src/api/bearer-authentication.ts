/**
 * Who asks: the admin token or a company's key, as a bearer token. (A chain's actions bring tokens of their own: see the store.)
 */

import { timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import type { Actor } from '../contract/audit.js';
import { hashOf } from '../contract/credential.js';
import { Problem } from '../contract/problem.js';
import type { Keys } from '../store/credentials.js';

/** The environment of Hono handlers behind a guard: `c.get('actor')`. */
export interface Authenticated {
  Variables: { actor: Actor };
}

/** Who may call a route. `relay tokens` are in the body: the route itself authenticates them, see relay-authentication.ts. */
export type Access = 'public' | 'relay tokens' | 'admin or company key' | 'admin';

/** The middleware that lets only these callers pass, and answers 401 to everybody else. */
export type Guard = (access: Access) => MiddlewareHandler<Authenticated>;

export function createGuard(adminToken: string, keys: Pick<Keys, 'authenticate'>): Guard {
  const isAdmin = adminCheck(adminToken);
  const actorOf = actorReader(adminToken, keys);
  return (access) => async (c, next) => {
    if (access === 'admin') {
      if (!isAdmin(bearerOf(c))) throw unauthorized('the admin token');
      c.set('actor', { kind: 'admin' });
    } else if (access === 'admin or company key') {
      const actor = c.get('actor') ?? (await actorOf(c));
      if (!actor) throw unauthorized('the admin token or a key of this company');
      c.set('actor', actor);
    }
    await next();
  };
}

/** Tells who asks: the admin, or the company in the path (`:companyId`) by a key of it; undefined for anybody else. */
export function actorReader(adminToken: string, keys: Pick<Keys, 'authenticate'>): (c: Context) => Promise<Actor | undefined> {
  const isAdmin = adminCheck(adminToken);
  return async (c) => {
    const bearer = bearerOf(c);
    if (isAdmin(bearer)) return { kind: 'admin' };
    const key = bearer === undefined ? undefined : await keys.authenticate(bearer);
    return key && key.companyId === c.req.param('companyId') ? { kind: 'key', ...key } : undefined;
  };
}

function adminCheck(adminToken: string): (bearer: string | undefined) => boolean {
  if (adminToken === '') throw new Error('The admin token must not be empty: set RELAY_ADMIN_TOKEN');
  const expected = hashOf(adminToken);
  return (bearer) => bearer !== undefined && timingSafeEqual(hashOf(bearer), expected);
}

function bearerOf(c: Context): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '')?.[1];
}

function unauthorized(needed: string): Problem {
  return new Problem('unauthorized', `This needs ${needed}: Authorization: Bearer …`, {
    headers: { 'WWW-Authenticate': 'Bearer realm="relay"' },
  });
}
