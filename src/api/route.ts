/**
 * A route has its handler and its OpenAPI description in one place. The relay authenticates a request first. Then it validates the
 * query and the body with the same schemas that the OpenAPI document shows.
 */

import { type Context, Hono, type MiddlewareHandler } from 'hono';
import type { ParamKeys } from 'hono/types';
import type { z } from 'zod';
import type { Links } from '../chain/chain.js';
import type { Connectors } from '../connectors/connectors.js';
import type { OpenId } from '../connectors/openid.js';
import type { Caller } from '../contract/audit.js';
import type { CompanyLimits, Simulators } from '../contract/company.js';
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
  connectors: Pick<Connectors, 'platformOf' | 'ticketingOf' | 'operatorMail'>;
  openId?: OpenId; // the service where people sign in
  keyring?: Keyring; // encrypts Temporal's payloads; without a keyring, the payloads are not encrypted
  /** The address that gets the notices of companies without contacts. Without this address, every company needs a contact. */
  operatorEmail?: string;
  limits: Limits;
  /** The limits of a company without its own limits. Default: the defaults of the environment variables. */
  quotas?: Required<CompanyLimits>;
  links: Links;
  /** The address of Temporal's Web UI. `/web-ui` opens this address. Pages of the Web UI may call `/codec` with a session. */
  webUi?: string;
  /** The simulators on this machine, only with `npm start`. People and keys may set their internal addresses. */
  simulators?: Simulators;
  metrics: Metrics;
  metricsToken?: string; // other machines may read `/metrics` with this bearer token
  tracing?: Tracing; // absent if tracing is off
  stop?: AbortSignal; // the process aborts this signal when it stops
  /** When the process stops, it calls the added functions after the last request. */
  closers?: { add(name: string, close: () => unknown): void };
}

/** `body`: the schema of a JSON body, or the media type of any other body. `headers`: the name and description of each header. */
export type Answer = readonly [
  description: string,
  body?: z.ZodType | 'text/html' | 'text/plain' | '*/*' | 'text/event-stream',
  headers?: Record<string, string>,
];

interface Description<Path, Who, Query, Body> {
  description?: string;
  query?: Query;
  headers?: z.ZodObject;
  /** The schema of a JSON object. A missing body counts as `{}`. */
  body?: Body;
  rawBody?: z.ZodType; // the schema of a body that the handler itself reads, for example because the body is an array
  maxBodyBytes?: number; // default: the limit of a chain's request
  boundsBody?: true; // the handler itself limits the body, because it also reads the start of a body that is too large
  examples?: Record<string, { summary: string; value: unknown }>;
  /** The rate limit for keys. Default for `author` and `manager` routes: `reads` for GET, otherwise `steering`. */
  use?: Use;
  answers: Record<number, Answer>; // by HTTP status
  onPage?: boolean; // the route shows errors as HTML pages
  /** Only the problems that openapi.ts cannot derive from the path, the access, `query` and `body`. */
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
  /** A path in Hono's form: `/co/:companyId/chains`. openapi.ts describes the parameters. */
  path: string;
  id: string; // the `operationId` in OpenAPI, which generated clients use as a name
  summary: string;
  access: Access;
  handle(c: Context<Authenticated>): Promise<Response>;
}

/** The problems of a decision about an action. */
export const steeringProblems = ['invalid-body', 'already-ended', 'not-steerable', 'temporal-unavailable'] as const;

/** These paths need credentials even if no route matches. Strangers therefore do not learn which routes exist. */
const guarded = {
  '/admin/companies/:companyId/*': 'admin or company key', // the route itself may need a higher role
  // This path names no company. So this guard accepts a key only if the guard of the line above has already accepted the key.
  '/admin/*': 'admin or company key',
  '/chains/*': 'admin',
  '/codec/*': 'admin',
  '/co/:companyId/assignments/*': 'admin or company key',
  '/co/:companyId/chains/*': 'admin or company key',
  '/co/:companyId/causes/*': 'admin or company key',
  '/co/:companyId/rejected/*': 'admin or company key',
} as const;

export const ofRule = '/admin/companies/:companyId/rules/:relayId';
export const route = {
  anyone: routeFor('public'),
  sender: routeFor('relay tokens'),
  company: routeFor('admin or company key'),
  author: routeFor('admin or author key'),
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
    const isManaging = access === 'admin or manage key' || access === 'admin or author key';
    const managing = isManaging ? (method === 'GET' ? 'reads' : 'steering') : undefined;
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
