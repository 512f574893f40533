/** Listens on ports: with a Hono app, and problem documents for what never reaches it, or any other server. */

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, STATUS_CODES } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server';
import { isLoopback } from '../contract/loopback.js';
import { Problem, problemResponse } from '../contract/problem.js';
import { StartError } from './config.js';

interface Listening {
  host: string;
  port: number; // 0 takes any free one
  variable?: string; // of the environment, that sets the port; default: PORT
}

type Bindings = HttpBindings | Http2Bindings;

interface Options {
  /** Of the URL under which a proxy on this machine offers it. */
  publicHost?: string;
  /** How long a request may take to arrive, headers and body. */
  requestTimeoutMs?: number;
  /** How long it may take from its headers until its answer has been taken, however slowly somebody reads. */
  answerTimeoutMs?: number;
  /** With more, new ones are closed, and those that wait for a further request. */
  maxConnections?: number;
  /** How long requests under way may go on when the server is closed. */
  graceMs?: number;
  /** Of every answer, unless the app says otherwise. */
  headers?: Record<string, string>;
}

/**
 * Listening on loopback, it answers only requests to a loopback name or `publicHost`: a web page whose own name leads to this
 * machine (DNS rebinding) gets nothing. Elsewhere a load balancer may call it by any name or address.
 * @throws StartError when the port cannot be listened on.
 */
export async function serveHttp(
  app: { fetch(request: Request, env: Bindings): Response | Promise<Response> },
  {
    publicHost,
    requestTimeoutMs = 15_000,
    answerTimeoutMs = 60_000,
    maxConnections = 1000,
    graceMs = 10_000,
    headers: standardHeaders = guardedHeaders,
    ...at
  }: Listening & Options,
) {
  const isKnown = (host: string) => !isLoopback(at.host) || isLoopback(host) || host === publicHost;
  const answer = async (request: Request, env: Bindings): Promise<Response> => {
    for (const [name, value] of Object.entries(standardHeaders)) env.outgoing.setHeader(name, value);
    const { headers } = env.incoming;
    const host = hostIn(headers.host ?? '');
    const refusal = isAmbiguous(env.incoming, host) ? twoHosts : isKnown(host) ? undefined : misdirected(host);
    const response = refusal ? problemResponse(refusal) : await app.fetch(request, env);
    const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
    // With a body left unread, the connection is not fit for another request: the client has to know before it sends one.
    if (hasBody && !env.incoming.readableEnded) response.headers.set('Connection', 'close');
    return response;
  };
  const errorHandler = (error: unknown) => problemResponse(error instanceof RequestError ? unreadable : internal);
  const settings = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(requestTimeoutMs, 10_000),
    // Node looks for requests that take too long this often, and by itself only twice a minute.
    connectionsCheckingInterval: requestTimeoutMs / 3,
    keepAliveTimeout: 65_000,
    requireHostHeader: false, // The listener asks for it, and says so in a problem document.
  };
  const server = createServer(settings, getRequestListener(answer, { errorHandler }));
  server.on('clientError', (error, socket) => void answerBroken(error, socket));
  server.maxConnections = maxConnections;
  server.on('drop', () => server.closeIdleConnections());
  server.on('request', ({ socket }, response) => {
    const tooLong = setTimeout(() => socket.destroy(), answerTimeoutMs);
    response.once('close', () => clearTimeout(tooLong));
  });
  const address = await listen(server, at);
  return {
    url: `http://${address}`,
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      if (graceMs === 0) server.closeAllConnections(); // Before what is under way can still be answered.
      const grace = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(grace);
    },
  };
}

/** What is answered is for whoever asked, now, is what it says it is, and as a page may load, send and be framed by nothing. */
const guardedHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Of a `Host` header, in lower case: without the port. */
const hostIn = (header: string) => header.toLowerCase().replace(/:\d*$/, '');

/** Whether a proxy may have read another host in the request: in a second `Host` header, or in a target that is a whole URL. */
function isAmbiguous({ rawHeaders, url = '' }: Bindings['incoming'], host: string): boolean {
  if (rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length > 1) return true;
  return URL.canParse(url) && hostIn(new URL(url).host) !== host;
}

const twoHosts = new Problem(
  'bad-request',
  'The request names two hosts: send one Host header, and no other host in its target.',
);
const misdirected = (host: string) =>
  new Problem('misdirected', `The relay does not go by the name "${host}". Its operator sets RELAY_PUBLIC_URL to a URL with it.`);

const internal = new Problem('internal', 'Something went wrong here.');
const unreadable = new Problem('bad-request', 'This is not an HTTP request that the relay can read.');
const broken: Record<string, Problem> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Problem('request-timeout', 'The request did not arrive in full in time.'),
  HPE_HEADER_OVERFLOW: new Problem('headers-too-large', 'The headers of the request are too large.'),
};

/** Answers what is no HTTP request, or arrives too slowly, and hangs up. */
async function answerBroken({ code = '' }: NodeJS.ErrnoException, socket: Duplex): Promise<void> {
  if (!socket.writable || code === 'ECONNRESET') return void socket.destroy();
  const problem = broken[code] ?? unreadable;
  const body = await problemResponse(problem).text();
  const status = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`;
  const headers = { Connection: 'close', 'Content-Type': 'application/problem+json', 'Content-Length': Buffer.byteLength(body) };
  const head = Object.entries({ ...headers, ...guardedHeaders })
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n');
  socket.end(`${status}\r\n${head}\r\n\r\n${body}`, () => socket.destroy());
}

/** @returns `host:port`, as a client on this machine writes it. @throws StartError that names the variable to change. */
export async function listen(server: Server, { host, port, variable = 'PORT' }: Listening): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const noAddress = `this machine has no address "${host}": set HOST`;
    const refusals: Record<string, string> = {
      EADDRINUSE: `port ${port} is taken: stop what uses it, or set ${variable}`,
      EACCES: `port ${port} is not open to this user: set ${variable} to one above 1023`,
      EADDRNOTAVAIL: noAddress,
      ENOTFOUND: noAddress,
      EAI_AGAIN: noAddress,
    };
    const refusal = error instanceof Error && 'code' in error ? refusals[String(error.code)] : undefined;
    throw refusal === undefined ? error : new StartError(refusal);
  }
  const address = server.address();
  return authority(host, address !== null && typeof address === 'object' ? address.port : port);
}

/** A server that listens everywhere is reached on the loopback address. */
export function authority(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

/** As `listen`. */
export async function assertPortFree(host: string, port: number, variable: string): Promise<void> {
  const server = createTcpServer();
  await listen(server, { host, port, variable });
  server.close();
  await once(server, 'close');
}

/**
 * A port that nothing listens on now, below those that systems hand out by themselves (Linux: from 32,768 on): hardly anything
 * takes it before its owner listens there.
 * @throws StartError where the machine has no such address.
 */
export async function freePort(host: string): Promise<number> {
  for (let tries = 20; ; tries -= 1) {
    const port = randomInt(10_000, 32_768);
    try {
      await assertPortFree(host, port, 'PORT');
      return port;
    } catch (error) {
      if (tries === 0) throw error;
    }
  }
}
