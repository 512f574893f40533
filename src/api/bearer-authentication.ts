/** Who asks: the admin by the admin token, or a company by a key of it. Senders of chains are in relay-authentication.ts. */

import { timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import type { Actor } from '../contract/audit.js';
import { hashOf } from '../contract/credential.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';

/** The environment of Hono handlers behind a guard: `c.get('actor')`. */
export interface Authenticated {
  Variables: { actor: Actor };
}

/** Who may call a route. `relay tokens` are in the body, and the route itself authenticates them (relay-authentication.ts). */
export type Access = 'public' | 'relay tokens' | 'admin or company key' | 'admin';

/** Lets only these callers pass, and answers 401 to everybody else. */
export type Guard = (access: Access) => MiddlewareHandler<Authenticated>;

export function createGuard(adminToken: string, keys: Pick<Store['keys'], 'authenticate'>): Guard {
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

/** Tells who asks: the admin, or the company in the path (`:companyId`) by a key of it; undefined for anybody else. */
export function actorReader(adminToken: string, keys: Pick<Store['keys'], 'authenticate'>) {
  if (adminToken === '') throw new Error('The admin token must not be empty: set RELAY_ADMIN_TOKEN');
  const expected = hashOf(adminToken);
  return async (c: Context, access?: Access): Promise<Actor | undefined> => {
    const bearer = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '')?.[1];
    if (bearer === undefined) return undefined;
    if (timingSafeEqual(hashOf(bearer), expected)) return { kind: 'admin' };
    const key = access === 'admin' ? undefined : await keys.authenticate(bearer);
    return key && key.companyId === c.req.param('companyId') ? { kind: 'key', ...key } : undefined;
  };
}

function unauthorized(needed: string): Problem {
  const headers = { 'WWW-Authenticate': 'Bearer realm="relay"' };
  return new Problem('unauthorized', `This needs ${needed}: Authorization: Bearer …`, { headers });
}
