/** A real HTTP server for connector tests, which records requests. */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Answers with `answer`, which a test may replace at any time. Closes after the tests of the file. */
export interface LocalHttp {
  url: string;
  received: Received[];
  connections: number;
  answer: (response: ServerResponse, request: Received) => void;
  /** The last request. */
  last(): Received;
}

export async function startHttp(): Promise<LocalHttp> {
  const local: LocalHttp = {
    url: '',
    received: [],
    connections: 0,
    answer: (response) => response.end('{}'),
    last: () => local.received.at(-1) ?? { method: '', path: '', headers: {}, body: '' },
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const received = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
    local.received.push(received);
    local.answer(response, received);
  });
  server.on('connection', () => local.connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  local.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return local;
}

/** Answers with this status, headers and body. */
export function answering(status: number, body: string | object = '', headers: Record<string, string> = {}): LocalHttp['answer'] {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (response) => response.writeHead(status, headers).end(text);
}
