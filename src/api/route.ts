/**
 * Routes: handler and OpenAPI description in one place. A request is authenticated first; then the schemas of the OpenAPI document
 * validate its query and body.
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

export interface ApiOptions extends StartOptions, CallersOptions {
  store: Store;
  connectors: Pick<Connectors, 'platformOf' | 'ticketingOf'>;
  keyring?: Keyring; // for payloads; absent: they are not encrypted
  /** Gets the notices of companies without contacts. Absent: every company needs a contact. */
  operatorEmail?: string;
  limits: Limits;
  /** Default: the defaults of the environment variables. */
  quotas?: Required<CompanyLimits>;
  links: Links;
  /** Temporal's Web UI. `/web-ui` redirects there, and its pages may call the codec with a session. */
  webUi?: string;
  metrics: Metrics;
  metricsToken?: string; // the bearer token with which other machines may read `/metrics`
  tracing?: Tracing; // absent: nothing is traced
  stop?: AbortSignal; // aborts when the process stops
  /** Called after the last request. */
  closers?: { add(name: string, close: () => unknown): void };
}

/** A string in place of the schema is a media type: the body is not JSON. The last element describes headers by their names. */
export type Answer = readonly [
  description: string,
  body?: z.ZodType | 'text/html' | 'text/plain' | 'text/event-stream',
  headers?: Record<string, string>,
];

interface Description<Path, Who, Query, Body> {
  description?: string;
  query?: Query;
  headers?: z.ZodObject;
  /** A JSON object. No body counts as `{}`. */
  body?: Body;
  /** For handlers that read the body themselves: it is not an object, or a PATCH depends on the stored settings. */
  rawBody?: z.ZodType;
  maxBodyBytes?: number; // default: the limit of a chain
  /** The handler limits the body itself, because it also reads the start of a body that is too large. */
  boundsBody?: true;
  examples?: Record<string, { summary: string; value: unknown }>;
  /** The rate limit of keys. Default for `manager` routes: depends on the method. */
  use?: Use;
  /** By status. */
  answers: Record<number, Answer>;
  /** Errors are shown as HTML pages. */
  onPage?: boolean;
  /** Further problems, beyond those that follow from path, access, `query` and `body`. */
  problems?: readonly ProblemSlug[];
  /** @param asked - the path's parameters by name, the actor, the validated query and body */
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
  /** In Hono's form: `/co/:companyId/chains`. openapi.ts describes the parameters. */
  path: string;
  /** The operation's id, for generated clients. */
  id: string;
  summary: string;
  access: Access;
  handle(c: Context<Authenticated>): Promise<Response>;
}

/** Paths that need credentials even if there is no route: strangers do not learn which routes exist. */
const guarded = {
  '/admin/companies/:companyId/*': 'admin or manage key',
  // A key passes this guard only if it has passed the one before.
  '/admin/*': 'admin or manage key',
  '/chains/*': 'admin',
  '/codec/*': 'admin',
  '/co/:companyId/chains/*': 'admin or company key',
  '/co/:companyId/causes/*': 'admin or company key',
  '/co/:companyId/rejected/*': 'admin or company key',
} as const;

/** By required access. */
export const route = {
  anyone: routeFor('public'),
  sender: routeFor('relay tokens'),
  company: routeFor('admin or company key'),
  manager: routeFor('admin or manage key'),
  admin: routeFor('admin'),
};

export function routeFor<Who extends Access>(access: Who) {
  return <
    Path extends string,
    Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
    Body extends z.ZodType = z.ZodUndefined,
  >(
    endpoint: `${Uppercase<Method>} ${Path}`,
    id: string,
    summary: string,
    description: Description<Path, Who, Query, Body>,
  ): Route => {
    const [method = '', path = ''] = endpoint.split(' ');
    const { query, body, handle } = description;
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
  };
}

export function appOf(routes: readonly Route[], guard: Guard, limits?: Limits): Hono<Authenticated> {
  const app = new Hono<Authenticated>();
  for (const [paths, access] of Object.entries(guarded)) app.use(paths, guard(access));
  for (const { method, path, access, use, maxBodyBytes, boundsBody, handle } of routes) {
    const counted: MiddlewareHandler<Authenticated> = use && limits ? limitUse(limits, use) : (_c, next) => next();
    const bounds = boundsBody ? [] : [limitBody(maxBodyBytes)];
    app.on(method.toUpperCase(), [path], guard(access), counted, ...bounds, handle);
  }
  return app;
}
