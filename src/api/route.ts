/**
 * A route that describes itself: what OpenAPI says of it stands beside its handler, and the app takes routes in no other form.
 * A request is authenticated before any of its query or body is read; both are read by the schemas that the document shows.
 */

import { type Context, Hono, type MiddlewareHandler } from 'hono';
import type { ParamKeys } from 'hono/types';
import type { z } from 'zod';
import type { Links } from '../chain/chain.js';
import type { Connectors } from '../connectors/connectors.js';
import type { Caller } from '../contract/audit.js';
import type { CompanyLimits } from '../contract/company.js';
import type { Keyring } from '../contract/encryption.js';
import type { ProblemSlug } from '../contract/problem-types.js';
import type { Metrics } from '../service/telemetry.js';
import type { Tracing } from '../service/tracing.js';
import type { Store } from '../store/store.js';
import type { StartOptions } from '../temporal/start.js';
import type { Access, Authenticated, CallersOptions, Guard } from './bearer-authentication.js';
import { limitBody, parseAs, parseQuery, readObject } from './input.js';
import { type Limits, limitUse, type Use } from './limits.js';

/** What the routes work with. */
export interface ApiOptions extends StartOptions, CallersOptions {
  store: Store;
  connectors: Pick<Connectors, 'platformOf' | 'ticketingOf'>;
  keyring?: Keyring; // of payloads; absent: they are not encrypted
  /** Is told where a company has nobody to notify. Without it every company must name somebody. */
  operatorEmail?: string;
  limits: Limits;
  /** What each company may use; default: as the environment has them by default. */
  quotas?: Required<CompanyLimits>;
  links: Links;
  metrics: Metrics;
  metricsToken?: string; // opens `/metrics` to another machine, beside the admin token
  tracing?: Tracing; // absent: nothing is traced
  stop?: AbortSignal; // of the process
  /** Gets what is to be done when no request comes any more. */
  closers?: { add(name: string, close: () => unknown): void };
}

/** A body is JSON, unless a media type stands in place of its schema. Headers are described by their names. */
export type Answer = readonly [
  description: string,
  body?: z.ZodType | 'text/html' | 'text/plain' | 'text/event-stream',
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
  /**
   * A body that the handler itself reads: because it is no object, or because what is stored decides how it is read, as for
   * PATCH.
   */
  rawBody?: z.ZodType;
  maxBodyBytes?: number; // default: that of a chain
  examples?: Record<string, { summary: string; value: unknown }>;
  /** What it counts as for the holder of a key, who may do so much of it a minute. Default of what manages a company: by its method. */
  use?: Use;
  /** By status. */
  answers: Record<number, Answer>;
  /** The types of problems that it may answer with, beside those that follow from its path, access, `query` and `body`. */
  problems?: readonly ProblemSlug[];
  /** Gets, read and checked, the parameters of the path by their names, who asks, the query and the body. */
  handle(
    c: Context<Authenticated>,
    asked: Record<ParamKeys<Path>, string> & {
      actor: Who extends `admin${string}` ? Caller : undefined;
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
  '/admin/companies/:companyId/*': 'admin or manage key',
  // A key passes it only where the guard before has let it in.
  '/admin/*': 'admin or manage key',
  '/chains/*': 'admin',
  '/codec/*': 'admin',
  '/co/:companyId/chains/*': 'admin or company key',
  '/co/:companyId/causes/*': 'admin or company key',
  '/co/:companyId/rejected/*': 'admin or company key',
} as const;

function accessOf(path: string): Access {
  const [, access = 'admin'] = Object.entries(guarded).find(([paths]) => `${path}/`.startsWith(paths.slice(0, -1))) ?? [];
  return path.startsWith('/admin/') && !path.startsWith('/admin/companies/:companyId') ? 'admin' : access;
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
  const managing = access === 'admin or manage key' ? (method === 'GET' ? 'reads' : 'steering') : undefined;
  return {
    ...description,
    use: description.use ?? managing,
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

export function appOf(routes: readonly Route[], guard: Guard, limits?: Limits): Hono<Authenticated> {
  const app = new Hono<Authenticated>();
  for (const [paths, access] of Object.entries(guarded)) app.use(paths, guard(access));
  for (const { method, path, access, use, maxBodyBytes, handle } of routes) {
    const counted: MiddlewareHandler<Authenticated> = use && limits ? limitUse(limits, use) : (_c, next) => next();
    app.on(method.toUpperCase(), path, guard(access), counted, limitBody(maxBodyBytes), handle);
  }
  return app;
}
