/** Serves the API on a port. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import { Problem, problemResponse } from '../contract/problem.js';
import { ConfigError } from './config.js';

export interface Listening {
  host: string;
  port: number;
  /** The variable to name when the port is taken. */
  variable?: string;
  /** How long a request may take to arrive, headers and body. */
  requestTimeoutMs?: number;
}

/**
 * @returns `close`, which lets requests under way end for at most 10 seconds.
 * @throws ConfigError when the port cannot be listened on.
 */
export async function serveApi(
  app: Hono,
  { host, port, variable = 'PORT', requestTimeoutMs = 15_000 }: Listening,
): Promise<{ close(): Promise<void> }> {
  const answer = async (request: Request, env: HttpBindings | Http2Bindings): Promise<Response> => {
    const response = await app.fetch(request, env);
    // The connection is not fit for another request, and the client has to know before it sends one.
    if (isUnread(env.incoming)) response.headers.set('Connection', 'close');
    return response;
  };
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: Math.min(requestTimeoutMs, 10_000),
      // Node looks for requests that take too long this often, and by itself only twice a minute.
      connectionsCheckingInterval: requestTimeoutMs / 3,
      keepAliveTimeout: 65_000,
      // Refused by the listener, which says so in a problem document.
      requireHostHeader: false,
    },
    getRequestListener(answer, {
      errorHandler: (error) => problemResponse(error instanceof RequestError ? unreadable() : internal),
    }),
  );
  server.on('clientError', (error, socket) => void answerBroken(error, socket));
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') throw new ConfigError(`port ${port} is taken: stop what uses it, or set ${variable}`);
    throw new ConfigError(`the API cannot listen on ${host}:${port} (${String(code)}): set HOST and ${variable}`);
  }
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      const patience = setTimeout(() => server.closeAllConnections(), 10_000);
      server.closeIdleConnections();
      await closed;
      clearTimeout(patience);
    },
  };
}

/** Whether something of the body was left unread. */
function isUnread({ headers, readableEnded }: Pick<IncomingMessage, 'headers' | 'readableEnded'>): boolean {
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  return hasBody && !readableEnded;
}

/** Answers what is no HTTP request, or arrived too slowly, and hangs up. */
async function answerBroken(error: NodeJS.ErrnoException, socket: Duplex): Promise<void> {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const problem =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new Problem('request-timeout', 'The request did not arrive in full in time.')
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? new Problem('headers-too-large', 'The headers of the request are too large.')
        : unreadable();
  const body = await problemResponse(problem).text();
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

const internal = new Problem('internal', 'Something went wrong here.');

function unreadable(): Problem {
  return new Problem('bad-request', 'This is not an HTTP request that the relay can read.');
}
