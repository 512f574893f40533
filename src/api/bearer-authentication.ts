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
  const actorOf = actorReader(adminToken, keys);
  return (access) => async (c, next) => {
    if (access === 'admin' || access === 'admin or company key') {
      const actor = c.get('actor') ?? (await actorOf(c, access));
      if (access === 'admin' && actor?.kind !== 'admin') throw unauthorized('the admin token');
      if (!actor) throw unauthorized('the admin token or a key of this company');
      c.set('actor', actor);
    }
    await next();
  };
}

type ActorReader = (c: Context, access?: 'admin' | 'admin or company key') => Promise<Actor | undefined>;

/** Tells who asks: the admin, or the company in the path (`:companyId`) by a key of it; undefined for anybody else. */
export function actorReader(adminToken: string, keys: Pick<Keys, 'authenticate'>): ActorReader {
  if (adminToken === '') throw new Error('The admin token must not be empty: set RELAY_ADMIN_TOKEN');
  const expected = hashOf(adminToken);
  return async (c, access) => {
    const bearer = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '')?.[1];
    if (bearer === undefined) return undefined;
    if (timingSafeEqual(hashOf(bearer), expected)) return { kind: 'admin' };
    const key = access === 'admin' ? undefined : await keys.authenticate(bearer);
    return key && key.companyId === c.req.param('companyId') ? { kind: 'key', ...key } : undefined;
  };
}

function unauthorized(needed: string): Problem {
  return new Problem('unauthorized', `This needs ${needed}: Authorization: Bearer …`, {
    headers: { 'WWW-Authenticate': 'Bearer realm="relay"' },
  });
}
