/**
 * The common part of the vendor simulators: journal, failures, refusals, and a server. Each simulator adds routes, state and doubts.
 * A doubt is a question about the vendor that no document answers, or that a customer decides. `true` and `false` select the
 * behavior of the simulator.
 */

import { parse } from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { type Fields, isObject } from '../../chain/fields.js';
import { serveHttp } from '../../service/server.js';
import { Fault } from '../fault.js';
import type { VendorRecord } from './records.js';

type Env = { Bindings: HttpBindings };
export type VendorApp = Hono<Env>;
export type VendorContext = Context<Env>;

export interface Vendor<State extends VendorState, Failure extends string = string> {
  kind: string;
  settings: Record<string, string>; // the settings that connect a company to the simulator, besides `baseUrl`
  paths: RegExp; // the paths that belong to this simulator: all simulators of `npm start` share one address
  app: VendorApp;
  state: State;
  faults: Faults<Failure>;
  records(): VendorRecord[];
}

/** Adds the journal of calls to the state of a simulator. Tests read and change the state. */
export const withCalls = <Own extends object>(own: Own) => ({ ...own, calls: [] as Awaited<ReturnType<typeof callOf>>[] });
export type VendorState = Pick<ReturnType<typeof withCalls>, 'calls'>;

/**
 * Every simulator has these failures. `cut-off` breaks the connection before the request has an effect, and `cut-off-after` breaks
 * the connection after the effect. `html` answers with a page instead of JSON, without an effect. `huge` puts 2 MiB of spaces
 * before the right answer. `slow` sends the right answer late.
 */
export const commonFailures = ['slow', 'cut-off', 'cut-off-after', 'huge', 'html'] as const;

const failureSchema = <Name extends string>(names: readonly Name[]) =>
  z.strictObject({
    name: z.enum([...commonFailures, ...names]),
    times: z.int().min(1).optional(),
    method: z.string().optional(), // the failure applies only to requests with this `method` whose path contains `path`
    path: z.string().optional(),
    delayMs: z.int().min(0).max(600_000).optional(), // only for `slow`; default: 30,000
    status: z.int().min(200).max(599).optional(), // only for `html`; default: 503
  });

export type VendorFailure<Name extends string> = z.infer<ReturnType<typeof failureSchema<Name>>>;

/** `now` is the current failure, for example `faults.now = { name: 'validation', times: 1 }`. */
export class Faults<Name extends string = string> extends Fault<VendorFailure<Name>> {
  private held = new AbortController();

  constructor(readonly names: readonly Name[]) {
    super(failureSchema(names));
  }

  /** If the current failure has one of these names and applies to this request, returns it, and subtracts one from its `times`. */
  of(c: VendorContext, names: readonly string[]): VendorFailure<Name> | undefined {
    return this.meet(
      ({ name, method = c.req.method, path = '' }) =>
        names.includes(name) && method === c.req.method && new URL(c.req.url).pathname.toLowerCase().includes(path.toLowerCase()),
    );
  }

  /** Whether this failure applies to this request. Simulators call this method for failures that their own code produces. */
  meets(c: VendorContext, name: Name): boolean {
    return this.of(c, [name]) !== undefined;
  }

  async hold(delayMs: number): Promise<void> {
    await sleep(delayMs, undefined, { signal: this.held.signal, ref: false }).catch(() => {});
  }

  /** Ends the delay of all requests that `slow` delays. */
  release(): void {
    this.held.abort();
    this.held = new AbortController();
  }
}

/** @param answers - the failures that need only an answer. @param own - the failures that the simulator's own code produces */
export const faultsOf = <Name extends string, Own extends string>(answers: Record<Name, unknown>, ...own: Own[]) =>
  new Faults<Name | Own>([...(Object.keys(answers) as Name[]), ...own]);

/** An error answer of the vendor, which handlers throw. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown, // a string is sent as plain text, other values as JSON
    readonly headers: Record<string, string> = {},
  ) {
    super(`refused with ${status}`);
  }
}

/** Throws the refusal in the middle of an expression. */
export function refuse(refusal: Refusal): never {
  throw refusal;
}

interface Frame<Name extends string> {
  state: VendorState;
  faults: Faults<Name>;
  /** The answers for failures that need only an answer. For other failures, the simulator calls `faults.meets`. */
  answers: Partial<Record<Name, (c: VendorContext) => Refusal>>;
  /** `noPath` is the answer if the path is not documented. `noMethod` is the answer if the path has only other methods. */
  noPath: (c: VendorContext) => Refusal;
  noMethod: (c: VendorContext, allowed: string[]) => Refusal;
  /** The answer to a request that no handler can read, such as invalid JSON. `why` is for people. */
  broken: (c: VendorContext, error: unknown, why: string) => Refusal;
  /** Checks credentials and limits, before a failure applies. Not for open paths. The returned function runs after the answer. */
  guard?: (c: VendorContext) => Promise<(() => void) | undefined>;
  /** The start of the paths that need no credentials. Only the common failures apply to these paths. */
  open?: string;
  getPath?: (request: Request) => string;
}

/** Makes an app without routes. */
export function vendorApp<Name extends string>(frame: Frame<Name>): VendorApp {
  const { state, faults, answers, noPath, noMethod, broken, guard, open, getPath } = frame;
  const app = new Hono<Env>(getPath ? { getPath } : {});
  const failures = [...commonFailures, ...Object.keys(answers)];
  const isOpen = (c: VendorContext) => open !== undefined && c.req.path.startsWith(open);
  return app
    .use(async (c, next) => {
      const call = await callOf(c);
      state.calls.push(call);
      if (state.calls.length > 1000) state.calls.shift();
      await next();
      call.status = c.res === RESPONSE_ALREADY_SENT ? 'dropped' : c.res.status;
    })
    .use(async (c, next) => {
      const leave = isOpen(c) ? undefined : await guard?.(c);
      await next();
      leave?.();
    })
    .use(async (c, next) => {
      const failure = faults.of(c, isOpen(c) ? commonFailures : failures);
      const answer = failure && answers[failure.name as Name];
      if (answer) return refused(answer(c));
      if (failure?.name === 'html') return htmlPage(failure);
      if (failure?.name === 'slow') await faults.hold(failure.delayMs ?? 30_000);
      if (failure?.name !== 'cut-off') await next();
      if (failure?.name === 'huge') replaceAnswer(c, await padded(c.res));
      if (failure?.name === 'cut-off' || failure?.name === 'cut-off-after') {
        c.env.incoming.socket.resetAndDestroy();
        replaceAnswer(c, RESPONSE_ALREADY_SENT);
      }
      return c.res;
    })
    .notFound((c) => {
      const isRoute = (method: string) => app.router.match(method, c.req.path)[0].some(([[, route]]) => route.method === method);
      const allowed = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(isRoute);
      return refused(allowed.length > 0 ? noMethod(c, allowed) : noPath(c));
    })
    .onError((error, c) => refused(error instanceof Refusal ? error : broken(c, error, whyOf(error))));
}

const whyOf = (error: unknown) => (error instanceof z.ZodError ? z.prettifyError(error) : 'The request body is not valid JSON.');

function replaceAnswer(c: VendorContext, answer: Response): void {
  c.res = undefined; // Without this line, Hono would add the headers of the old answer.
  c.res = answer;
}

const refused = ({ status, body, headers }: Refusal) =>
  typeof body === 'string' ? new Response(body, { status, headers }) : Response.json(body, { status, headers });

function htmlPage({ status = 503 }): Response {
  const page = `<!DOCTYPE html><html><head><title>${status}</title></head><body><h1>Service unavailable</h1></body></html>`;
  return new Response(page, { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } });
}

async function padded(answer: Response): Promise<Response> {
  const headers = new Headers(answer.headers);
  headers.delete('content-length');
  return new Response(' '.repeat(2 * 1024 * 1024) + (await answer.text()), { status: answer.status, headers });
}

/** The journal does not show the values of headers, parameters and body fields with these names. */
const secretNames =
  'authorization secret token access_token refresh_token client_secret password apiintegrationcode clientid'.split(' ');

async function callOf(c: VendorContext) {
  const { pathname: path, searchParams } = new URL(c.req.url);
  const body = bodyOf(c.req.header('content-type') ?? '', await c.req.text());
  const [query, headers] = [masked(Object.fromEntries(searchParams)), masked(c.req.header())];
  const status = 'waiting' as number | 'waiting' | 'dropped';
  return { at: new Date().toISOString(), method: c.req.method, path, query, headers, body, status };
}

function bodyOf(type: string, text: string): unknown {
  if (text === '') return undefined;
  if (type.startsWith('application/x-www-form-urlencoded')) return masked(formOf(text));
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? masked(json) : json;
  } catch {
    return text;
  }
}

/** Parses a form. A field that occurs several times becomes a list. */
export const formOf = (text: string) => ({ ...parse(text) });

function masked<Named extends Fields>(named: Named): Named {
  const shown = Object.entries(named).map(([name, value]) => [name, secretNames.includes(name.toLowerCase()) ? '***' : value]);
  return Object.fromEntries(shown) as Named;
}

export async function serveVendor({ app, faults }: { app: VendorApp; faults: { release(): void } }) {
  const server = await serveHttp(app, { host: '127.0.0.1', port: 0, variable: 'RELAY_SANDBOX_PORT', graceMs: 0, headers: {} });
  const close = () => {
    faults.release();
    return server.close();
  };
  return { url: server.url, close };
}

export function urlWith(c: VendorContext, parameter: string, value: unknown): URL {
  const url = new URL(c.req.url);
  url.searchParams.set(parameter, `${value}`);
  return url;
}

/** Adds headers that the answer does not have yet. Call this function after the answer. Ignores a dropped connection. */
export function addHeaders(c: VendorContext, headers: Record<string, string>): void {
  if (c.res === RESPONSE_ALREADY_SENT) return;
  for (const [name, value] of Object.entries(headers)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
}
