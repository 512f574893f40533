/** Local HTTP servers for tests of the command `relay`: a real app, or scripted answers and a record of the requests. */

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';

export interface LocalApi {
  url: string;
  close(): Promise<void>;
}

export async function listen(listener: RequestListener): Promise<LocalApi> {
  // By default, Node closes an idle connection after five seconds. A busy test may pause longer.
  const server = createServer({ keepAliveTimeout: 65_000 }, listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export function serve(app: Hono): Promise<LocalApi> {
  return listen(getRequestListener(app.fetch));
}

export interface Asked {
  method: string;
  /** Path and query. */
  path: string;
  authorization: string | undefined;
  idempotencyKey: string | undefined;
  /** The header `webhook-signature`. */
  signature?: string;
  body: string;
}

export interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Text is sent unchanged, anything else as JSON. */
  body?: unknown;
}

/** Answers with `answer`, and records every request in `asked`. */
export async function scripted(answer: (asked: Asked) => ScriptedAnswer): Promise<LocalApi & { asked: Asked[] }> {
  const asked: Asked[] = [];
  const api = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { 'idempotency-key': key, 'webhook-signature': signature } = request.headers;
    const one: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      authorization: request.headers.authorization,
      idempotencyKey: Array.isArray(key) ? key[0] : key,
      body,
      ...(typeof signature === 'string' && { signature }),
    };
    asked.push(one);
    const { status = 200, headers, body: said } = answer(one);
    const type = status >= 400 ? 'application/problem+json' : 'application/json';
    response.writeHead(status, { 'Content-Type': type, ...headers });
    response.end(said === undefined ? '' : typeof said === 'string' ? said : JSON.stringify(said));
  });
  return { ...api, asked };
}

/** A problem document in the API's form. */
export function problem(
  status: number,
  title: string,
  detail: string,
  errors?: { pointer: string; detail: string }[],
): ScriptedAnswer {
  return { status, body: { type: '/problems/x', title, status, detail, ...(errors && { errors }) } };
}
