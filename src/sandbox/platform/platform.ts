/**
 * The demo platform: an assignment platform and a ticket system with the relay's connector API. Each idempotency key has only
 * one effect. A journal records every call.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { serveHttp } from '../../service/server.js';
import type { PlatformFailure } from '../fault.js';
import { found, jsonBody, pageServer, refusal } from '../page.js';
import { vendorSimulators } from '../vendors/simulators.js';
import { controlOf } from './control.js';
import { type Answer, fieldSchema, PlatformState } from './state.js';
import { Webhooks } from './webhooks.js';
import { groups, workersReached } from './world.js';

/**
 * @param options.port 0 means any free port
 * @param options.stateFile keeps the state over restarts; if absent, the state is only in memory
 * @throws StartError if the port is in use
 */
export async function startPlatform({ host, port, stateFile }: { host: string; port: number; stateFile?: string }) {
  const closing = new AbortController();
  const state = new PlatformState(stateFile);
  const webhooks = new Webhooks(state);
  const vendors = vendorSimulators();
  const app = pageServer()
    .route('/', vendors.routes)
    .route('/', connectorApi(state, closing.signal))
    .route('/', controlOf(state, webhooks));
  const server = await serveHttp(app, { host, port, variable: 'RELAY_SANDBOX_PORT', graceMs: 0 });
  const close = () => {
    closing.abort();
    webhooks.close();
    vendors.release();
    return server.close();
  };
  return { url: server.url, state, webhooks, close };
}

const sendBodySchema = z.object({ groupIds: z.array(z.string()).default([]), radiusMiles: z.number().nonnegative().optional() });
const sendsKept = 50;
const patchBodySchema = z.object({ userDefinedFields: z.array(fieldSchema).min(1) });

type Act = (state: PlatformState, id: string, body: unknown) => Answer['body'];

function connectorApi(state: PlatformState, closing: AbortSignal): Hono<{ Bindings: HttpBindings }> {
  /** Makes a handler from `act`. The handler adds the journal, failures, delays and idempotency. */
  const endpoint = (subject: PlatformFailure['path'], act: Act) => async (c: Context<{ Bindings: HttpBindings }, '/:id'>) => {
    const { method } = c.req;
    const path = new URL(c.req.url).pathname;
    const idempotencyKey = c.req.header('idempotency-key');
    const body = await jsonBody(c);
    const call = state.arrived({ method, path, idempotencyKey, body });
    const met = state.fault.meet(({ path: only = subject }) => only === subject);
    const { status, dropConnection = false, delayMs, afterActing, retryAfterSeconds } = met ?? {};
    const fails = status !== undefined || dropConnection;
    if (delayMs !== undefined) await sleep(delayMs, undefined, { signal: closing });

    const scope = `${method} ${path} ${idempotencyKey}`;
    const earlier = state.answers.get(scope);
    let answer: Answer = { status: status ?? 503, body: { error: 'this is a test error' } };
    if (!fails || afterActing) {
      const done = earlier ?? answerOf(() => act(state, c.req.param('id'), body));
      if (idempotencyKey !== undefined && method !== 'GET' && done.status < 300) state.put('answers', scope, done);
      if (!fails) answer = done;
    }
    const shown = dropConnection ? 'dropped' : answer.status;
    state.put('calls', `${call.number}`, { ...call, status: shown, repeat: earlier !== undefined });
    if (dropConnection) {
      c.env.incoming.socket.resetAndDestroy();
      return RESPONSE_ALREADY_SENT;
    }
    const headers = new Headers(fails && retryAfterSeconds !== undefined ? { 'Retry-After': `${retryAfterSeconds}` } : {});
    return Response.json(answer.body, { status: answer.status, headers });
  };
  return new Hono<{ Bindings: HttpBindings }>()
    .get('/groups', (c) => c.json({ groups: groups.map(({ id, name }) => ({ id, name })) }))
    .get('/assignments/:id', endpoint('assignments', readAssignment))
    .get('/tickets/:id', endpoint('tickets', readTicket))
    .post('/assignments/:id/send', endpoint('send', send))
    .patch('/tickets/:id', endpoint('tickets', updateTicket));
}

function answerOf(act: () => Answer['body']): Answer {
  try {
    return { status: 200, body: act() };
  } catch (error) {
    return refusal(error);
  }
}

const readAssignment = ({ assignments }: PlatformState, id: string) => found(assignments.get(id), `assignment ${id}`);
const readTicket = ({ tickets }: PlatformState, id: string) => found(tickets.get(id), `ticket ${id}`);

/** If the assignment is neither a draft nor sent, a send reaches no worker and does not change the status. */
function send(state: PlatformState, id: string, body: unknown): Answer['body'] {
  const assignment = readAssignment(state, id);
  const wanted = sendBodySchema.parse(body);
  const open = assignment.status === 'draft' || assignment.status === 'sent';
  const workers = open ? workersReached(assignment.location, wanted) : [];
  const status = workers.length > 0 ? 'sent' : assignment.status;
  const sends = [...assignment.sends, { at: new Date().toISOString(), ...wanted, workers }].slice(-sendsKept);
  state.change({ id, status, sends });
  return { id, status, recipients: workers.length, workers };
}

/** Creates the ticket if it does not exist. */
function updateTicket(state: PlatformState, id: string, body: unknown): Answer['body'] {
  const update = patchBodySchema.parse(body);
  const fields = new Map(state.tickets.get(id)?.userDefinedFields.map(({ name, value }) => [name, value]));
  for (const { name, value } of update.userDefinedFields) fields.set(name, value);
  const userDefinedFields = [...fields].map(([name, value]) => ({ name, value }));
  const ticket = { id, userDefinedFields, updatedAt: new Date().toISOString() };
  state.put('tickets', id, ticket);
  return ticket;
}
