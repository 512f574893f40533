/**
 * A route that describes itself: what OpenAPI says of it stands beside its handler, and the app takes routes in no other form.
 * A request is authenticated before any of its query or body is read; both are read by the schemas that the document shows.
 */

import { timingSafeEqual } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import type { ParamKeys } from 'hono/types';
import type { z } from 'zod';
import type { Links } from '../chain/chain.js';
import type { StartOptions } from '../chains/start.js';
import type { Connectors } from '../connectors/connectors.js';
import type { Actor } from '../contract/audit.js';
import { hashOf } from '../contract/credential.js';
import { Problem } from '../contract/problem.js';
import type { ProblemSlug } from '../contract/problem-types.js';
import type { Metrics } from '../service/telemetry.js';
import type { Store } from '../store/store.js';
import { limitBody, parseAs, parseQuery, readObject } from './input.js';
import type { Limits } from './limits.js';

/** The environment of Hono handlers behind a guard: `c.get('actor')`. */
export interface Authenticated {
  Variables: { actor: Actor };
}

/** Who may call a route. `relay tokens` are in the body, and the route itself authenticates them (relay-authentication.ts). */
export type Access = 'public' | 'relay tokens' | 'admin or company key' | 'admin';

/** What the routes work with. */
export interface ApiOptions extends StartOptions {
  store: Store;
  connectors: Pick<Connectors, 'platformOf' | 'ticketingOf'>;
  adminToken: string;
  /** Is told where a company has nobody to notify. Without it every company must name somebody. */
  operatorEmail?: string;
  limits: Limits;
  links: Links;
  metrics: Metrics;
}

/** A body is JSON, unless a media type stands in place of its schema. Headers are described by their names. */
export type Answer = readonly [
  description: string,
  body?: z.ZodType | 'text/html' | 'text/plain',
  headers?: Record<string, string>,
];

interface Description<Path, Who, Query, Body> {
  /** Default: who may pass the guard before its path; where there is none, `admin`. */
  access?: Who;
  description?: string;
  query?: Query;
  headers?: z.ZodObject;
  /** A JSON object; no body at all is an empty one. */
  body?: Body;
  /** A body that the handler itself reads: because it is no object, or because what is stored decides how it is read, as for PATCH. */
  rawBody?: z.ZodType;
  examples?: Record<string, { summary: string; value: unknown }>;
  /** By status. */
  answers: Record<number, Answer>;
  /** The types of problems that it may answer with, beside those that follow from its path, access, `query` and `body`. */
  problems?: readonly ProblemSlug[];
  /** Gets, read and checked, the parameters of the path by their names, who asks, the query and the body. */
  handle(
    c: Context<Authenticated>,
    asked: Record<ParamKeys<Path>, string> & {
      actor: Who extends 'admin' | 'admin or company key' ? Actor : undefined;
      query: z.infer<Query>;
      body: z.infer<Body>;
    },
  ): Response | Promise<Response>;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export interface Route extends Omit<Description<string, Access, z.ZodObject, z.ZodType>, 'handle'> {
  method: Method;
  /** As Hono writes it: `/co/:companyId/chains`. Its parameters are described in openapi.ts. */
  path: string;
  /** The operation's id, for generated clients. */
  id: string;
  summary: string;
  access: Access;
  handle(c: Context<Authenticated>): Promise<Response>;
}

/** The paths behind a guard, whether or not there is a route: a stranger is not told what there is. */
const guarded = {
  '/admin/*': 'admin',
  '/chains/*': 'admin',
  '/co/:companyId/chains/*': 'admin or company key',
  '/co/:companyId/rejected/*': 'admin or company key',
} as const;

function accessOf(path: string): Access {
  return Object.entries(guarded).find(([paths]) => path.startsWith(paths.slice(0, -'/*'.length)))?.[1] ?? 'admin';
}

/** @param endpoint - such as `GET /co/:companyId/chains`. */
export function route<
  Path extends string,
  Who extends Access = 'admin',
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
>(
  endpoint: `${Uppercase<Method>} ${Path}`,
  id: string,
  summary: string,
  description: Description<Path, Who, Query, Body>,
): Route {
  const [method = '', path = ''] = endpoint.split(' ');
  const { access = accessOf(path), query, body, handle } = description;
  return {
    ...description,
    method: method.toLowerCase() as Method,
    path,
    id,
    summary,
    access,
    handle: async (c) => {
      const asked = {
        ...c.req.param(),
        actor: c.get('actor'),
        query: query && parseQuery(query, c.req.query()),
        body: body && parseAs(body, await readObject(c)),
      };
      return handle(c, asked as Parameters<typeof handle>[1]);
    },
  };
}

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

export function appOf(routes: readonly Route[], guard: Guard): Hono<Authenticated> {
  const app = new Hono<Authenticated>();
  for (const [paths, access] of Object.entries(guarded)) app.use(paths, guard(access));
  for (const { method, path, access, handle } of routes) app.on(method.toUpperCase(), path, guard(access), limitBody, handle);
  return app;
}
