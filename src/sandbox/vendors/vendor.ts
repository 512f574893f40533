/** The common part of the vendor simulators: journal, failures, refusals, and a server. Each simulator adds routes and state. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { type Fields, isObject } from '../../chain/fields.js';
import { serveHttp } from '../../service/server.js';
import { Fault } from '../fault.js';

type Env = { Bindings: HttpBindings };
export type VendorApp = Hono<Env>;
export type VendorContext = Context<Env>;

export interface Vendor<State extends VendorState, Failure extends string = string> {
  kind: string;
  app: VendorApp;
  state: State;
  faults: Faults<Failure>;
}

/** Tests read and change the state. */
export interface VendorState {
  calls: VendorCall[]; // the newest last
}

export interface VendorCall {
  at: string;
  method: string;
  path: string; // without the query
  query: Record<string, string>;
  headers: Record<string, string>;
  body?: unknown; // parsed JSON, or the fields of a form (a list for a repeated field), or text
  status: number | 'waiting' | 'dropped';
}

/**
 * Every simulator has these failures. `cut-off` breaks the connection before the request has an effect, and `cut-off-after` breaks
 * the connection after the effect. `html` answers with a page instead of JSON, without an effect. `huge` puts 2 MiB of spaces
 * before the right answer. `slow` sends the right answer late.
 */
const commonFailures = ['slow', 'cut-off', 'cut-off-after', 'huge', 'html'] as const;

const failureSchema = <Name extends string>(names: readonly Name[]) =>
  z.strictObject({
    name: z.enum([...commonFailures, ...names]),
    times: z.int().min(1).optional(),
    /** The failure applies only to requests with this `method` whose path contains `path`. */
    method: z.string().optional(),
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

  /** The current failure, if it has one of these names and applies to this request. Subtracts one from its `times`. */
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

/** An error answer of the vendor. Handlers throw it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown, // a string is sent as plain text, other values as JSON
    readonly headers: Record<string, string> = {},
  ) {
    super(`refused with ${status}`);
  }
}

interface Frame<Name extends string> {
  state: VendorState;
  faults: Faults<Name>;
  /** The answers for failures that need only an answer. For other failures, the simulator calls `faults.meets`. */
  answers: Partial<Record<Name, (c: VendorContext) => Refusal>>;
  /** @param allowed - the documented methods of this path; empty if the path is not documented */
  undocumented: (c: VendorContext, allowed: string[]) => Refusal;
  /** The answer to a request that no handler can read, such as invalid JSON. */
  broken: (c: VendorContext, error: unknown) => Refusal;
  /** Checks credentials and limits before a failure applies. @throws Refusal */
  guard?: MiddlewareHandler<Env>;
  /** The start of the paths that need no credentials. Only the common failures apply to these paths. */
  open?: string;
  getPath?: (request: Request) => string;
}

const callsKept = 1000;
const twoMebibytes = 2 * 1024 * 1024;

/** Makes an app without routes. */
export function vendorApp<Name extends string>({
  state,
  faults,
  answers,
  undocumented,
  broken,
  guard = (_, next) => next(),
  open,
  getPath,
}: Frame<Name>): VendorApp {
  const app = new Hono<Env>(getPath ? { getPath } : {});
  const failures = [...commonFailures, ...Object.keys(answers)];
  return app
    .use(async (c, next) => {
      const call = await callOf(c);
      state.calls.push(call);
      if (state.calls.length > callsKept) state.calls.shift();
      await next();
      call.status = c.res === RESPONSE_ALREADY_SENT ? 'dropped' : c.res.status;
    })
    .use(guard)
    .use(async (c, next) => {
      const failure = faults.of(c, open !== undefined && c.req.path.startsWith(open) ? commonFailures : failures);
      const answer = failure && answers[failure.name as Name];
      if (answer) return refused(answer(c));
      if (failure?.name === 'html') return htmlPage(failure.status ?? 503);
      if (failure?.name === 'slow') await faults.hold(failure.delayMs ?? 30_000);
      if (failure?.name !== 'cut-off') await next();
      if (failure?.name === 'huge') replaceAnswer(c, await padded(c.res));
      if (failure?.name === 'cut-off' || failure?.name === 'cut-off-after') {
        c.env.incoming.socket.resetAndDestroy();
        replaceAnswer(c, RESPONSE_ALREADY_SENT);
      }
      return c.res;
    })
    .notFound((c) => refused(undocumented(c, allowedAt(c.req.path))))
    .onError((error, c) => refused(error instanceof Refusal ? error : broken(c, error)));

  function allowedAt(path: string): string[] {
    const isRoute = (method: string) => app.router.match(method, path)[0].some(([[, route]]) => route.method === method);
    return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(isRoute);
  }
}

function replaceAnswer(c: VendorContext, answer: Response): void {
  c.res = undefined; // Otherwise, Hono adds the headers of the old answer.
  c.res = answer;
}

export function refused({ status, body, headers }: Refusal): Response {
  return typeof body === 'string' ? new Response(body, { status, headers }) : Response.json(body, { status, headers });
}

function htmlPage(status: number): Response {
  const page = `<!DOCTYPE html><html><head><title>${status}</title></head><body><h1>Service unavailable</h1></body></html>`;
  return new Response(page, { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } });
}

async function padded(answer: Response): Promise<Response> {
  const headers = new Headers(answer.headers);
  headers.delete('content-length');
  return new Response(' '.repeat(twoMebibytes) + (await answer.text()), { status: answer.status, headers });
}

/** The journal does not show the values of headers, parameters and body fields with these names. */
const secretNames = [
  'authorization',
  'secret',
  'token',
  'access_token',
  'refresh_token',
  'client_secret',
  'password',
  'apiintegrationcode',
  'clientid',
];

async function callOf(c: VendorContext): Promise<VendorCall> {
  const { pathname, searchParams } = new URL(c.req.url);
  return {
    at: new Date().toISOString(),
    method: c.req.method,
    path: pathname,
    query: masked(Object.fromEntries(searchParams)),
    headers: masked(c.req.header()),
    body: bodyOf(c.req.header('content-type') ?? '', await c.req.text()),
    status: 'waiting',
  };
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
export function formOf(text: string): Record<string, string | string[]> {
  const form = new URLSearchParams(text);
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => {
      const values = form.getAll(name);
      return [name, values.length > 1 ? values : (values[0] ?? '')];
    }),
  );
}

function masked<Named extends Fields>(named: Named): Named {
  const shown = Object.entries(named).map(([name, value]) => [name, secretNames.includes(name.toLowerCase()) ? '***' : value]);
  return Object.fromEntries(shown) as Named;
}

/** Serves one simulator on loopback. */
export async function serveVendor(
  { app, faults }: { app: VendorApp; faults: { release(): void } },
  { host = '127.0.0.1', port = 0 }: { host?: string; port?: number } = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const server = await serveHttp(app, { host, port, variable: 'RELAY_SANDBOX_PORT', graceMs: 0, headers: {} });
  const close = () => {
    faults.release();
    return server.close();
  };
  return { url: server.url, close };
}

/** Adds headers that the answer does not have yet. Call this function after `next`. Ignores a dropped connection. */
export function addHeaders(c: VendorContext, headers: Record<string, string>): void {
  if (c.res === RESPONSE_ALREADY_SENT) return;
  for (const [name, value] of Object.entries(headers)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
}
