/**
 * The pretend platform: an assignment platform and a ticket system to try the relay with, on one HTTP port. It speaks the
 * protocol of the generic connectors: what it is asked to do is done once for an idempotency key, and every call is entered in
 * the journal, whatever becomes of it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { serveHttp } from '../../service/server.js';
import type { PlatformFailure } from '../fault.js';
import { pageAssets } from '../page.js';
import { controlApi } from './control-api.js';
import { overviewPage } from './overview-page.js';
import { type Answer, fieldSchema } from './records.js';
import { PlatformState } from './state.js';
import { workersReached } from './workers.js';

/**
 * @param options.port 0 takes any free one
 * @param options.stateFile what happened is kept here and survives a restart; without it, it is forgotten
 * @throws StartError when the port is taken
 */
export async function startPlatform({ host, port, stateFile }: { host: string; port: number; stateFile?: string }) {
  const closing = new AbortController();
  const state = new PlatformState(stateFile);
  const app = new Hono<{ Bindings: HttpBindings }>()
    .route('/', pageAssets())
    .route('/', connectorApi(state, closing.signal))
    .route('/', controlApi(state))
    .route('/', overviewPage(state));
  app.notFound((c) => c.json({ error: `nothing at ${c.req.path}` }, 404));
  app.onError((error, c) => c.json({ error: error.message }, 500));
  const server = await serveHttp(app, { host, port, variable: 'RELAY_SANDBOX_PORT', graceMs: 0 });
  return {
    url: server.url,
    async close() {
      closing.abort();
      await server.close();
      state.close();
    },
  };
}

const sendBodySchema = z.object({ groupIds: z.array(z.string()).default([]), radiusMiles: z.number().nonnegative().optional() });
const patchBodySchema = z.object({ userDefinedFields: z.array(fieldSchema).min(1) });
const sendsKept = 50;
const bodyLimit = 256 * 1024;

/** What a call does to what is kept, and how it is answered. */
type Act = (state: PlatformState, id: string, body: unknown) => Answer;

/** @param closing aborts the waiting of slow answers */
function connectorApi(state: PlatformState, closing: AbortSignal): Hono<{ Bindings: HttpBindings }> {
  /** Journal, failure, delay and idempotency around one act, which says what to answer. */
  const endpoint = (subject: PlatformFailure['path'], act: Act) => async (c: Context<{ Bindings: HttpBindings }, '/:id'>) => {
    const { method } = c.req;
    const path = new URL(c.req.url).pathname;
    const idempotencyKey = c.req.header('idempotency-key');
    const text = await c.req.text();
    const tooLong = text.length > bodyLimit;
    const body = tooLong ? `${text.slice(0, 1000)}…` : text === '' ? undefined : parsed(text);
    const call = state.arrived({ method, path, idempotencyKey, body });
    const failure = state.fault.meet((failure) => failure.path === undefined || failure.path === subject);
    const fails = failure?.status !== undefined || failure?.dropConnection === true;
    if (failure?.delayMs !== undefined) await sleep(failure.delayMs, undefined, { signal: closing });

    const scope = idempotencyKey === undefined || method === 'GET' ? undefined : `${method} ${path} ${idempotencyKey}`;
    const earlier = scope === undefined ? undefined : state.answers.get(scope);
    let answer: Answer = { status: failure?.status ?? 503, body: { error: 'told to fail at /control/fail' } };
    if (!fails || failure?.afterActing === true) {
      const done = earlier ?? (tooLong ? { status: 413, body: { error: 'too long' } } : act(state, c.req.param('id'), body));
      if (scope !== undefined && earlier === undefined && done.status < 300) state.put('answers', scope, done);
      if (!fails) answer = done;
    }
    const dropped = failure?.dropConnection === true;
    const status = dropped ? 'dropped' : answer.status;
    state.put('calls', `${call.number}`, { ...call, status, repeat: earlier !== undefined });
    if (dropped) {
      c.env.incoming.socket.resetAndDestroy();
      return RESPONSE_ALREADY_SENT;
    }
    const headers = new Headers({ 'Content-Type': 'application/json' });
    if (fails && failure?.retryAfterSeconds !== undefined) headers.set('Retry-After', `${failure.retryAfterSeconds}`);
    return new Response(JSON.stringify(answer.body), { status: answer.status, headers });
  };
  return new Hono<{ Bindings: HttpBindings }>()
    .get('/assignments/:id', endpoint('assignments', readAssignment))
    .get('/tickets/:id', endpoint('tickets', readTicket))
    .post('/assignments/:id/send', endpoint('send', send))
    .patch('/tickets/:id', endpoint('tickets', updateTicket));
}

const readAssignment: Act = ({ assignments }, id) => found(assignments.get(id), `assignment ${id}`);
const readTicket: Act = ({ tickets }, id) => found(tickets.get(id), `ticket ${id}`);

function found(body: Answer['body'] | undefined, what: string): Answer {
  return body === undefined ? { status: 404, body: { error: `no ${what}` } } : { status: 200, body };
}

/** An assignment that is past being sent (accepted, cancelled …) reaches nobody and stays as it is. */
function send(state: PlatformState, id: string, body: unknown): Answer {
  const assignment = state.assignments.get(id);
  if (assignment === undefined) return found(assignment, `assignment ${id}`);
  const wanted = sendBodySchema.safeParse(body);
  if (!wanted.success) return { status: 400, body: { error: z.prettifyError(wanted.error) } };
  const open = assignment.status === 'draft' || assignment.status === 'sent';
  const workers = open ? workersReached(assignment.location, wanted.data) : [];
  const status = open && workers.length > 0 ? 'sent' : assignment.status;
  const sends = [...assignment.sends, { at: new Date().toISOString(), ...wanted.data, workers }].slice(-sendsKept);
  state.change(id, { status, sends });
  return { status: 200, body: { id, status, recipients: workers.length, workers } };
}

/** A ticket that is not there is made. */
function updateTicket(state: PlatformState, id: string, body: unknown): Answer {
  const update = patchBodySchema.safeParse(body);
  if (!update.success) return { status: 400, body: { error: z.prettifyError(update.error) } };
  const fields = new Map(state.tickets.get(id)?.userDefinedFields.map(({ name, value }) => [name, value]));
  for (const { name, value } of update.data.userDefinedFields) fields.set(name, value);
  const userDefinedFields = [...fields].map(([name, value]) => ({ name, value }));
  const ticket = { id, userDefinedFields, updatedAt: new Date().toISOString() };
  state.put('tickets', id, ticket);
  return { status: 200, body: ticket };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
