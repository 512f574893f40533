/** Listens on ports, and answers invalid requests with problem documents before the requests reach the app. */

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
  port: number; // 0 means any free port
  variable?: string; // the environment variable that sets the port; default: PORT
}

type Bindings = HttpBindings | Http2Bindings;

interface Options {
  publicHost?: string; // the host of the public URL, if a proxy on this machine serves it
  requestTimeoutMs?: number; // time limit for the headers and the body of a request to arrive
  answerTimeoutMs?: number; // time limit from the headers of a request to the end of its answer, even if the client reads slowly
  maxConnections?: number; // above this number, new connections and idle connections are closed
  graceMs?: number; // how long `close` waits for running requests
  headers?: Record<string, string>; // added to an answer if the app has not set them
}

/** To prevent DNS rebinding, a server on loopback accepts only loopback names and `publicHost` as host. @throws StartError */
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
    const refusal = refusalOf(env.incoming, host) ?? (isKnown(host) ? undefined : misdirected(host));
    const response = refusal ? problemResponse(refusal) : await app.fetch(request, env);
    const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
    // If the body was not read, the connection cannot be used again. This header tells the client to open another connection.
    if (hasBody && !env.incoming.readableEnded) response.headers.set('Connection', 'close');
    return response;
  };
  const errorHandler = (error: unknown) => problemResponse(error instanceof RequestError ? unreadable : internal);
  const settings = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(requestTimeoutMs, 10_000),
    // How often Node checks for slow requests. Node's default interval of 30 seconds is too long.
    connectionsCheckingInterval: requestTimeoutMs / 3,
    keepAliveTimeout: 65_000,
    requireHostHeader: false, // the request listener checks `Host`, and answers with a problem document if the header is absent
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
      if (graceMs === 0) server.closeAllConnections(); // running requests get no answer
      const grace = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(grace);
    },
  };
}

/** With these headers, browsers do not cache, sniff or frame the answers, and pages load nothing. */
const guardedHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const hostIn = (header: string) => header.toLowerCase().replace(/:\d*$/, ''); // the host in lower case, without the port

/** Whether a proxy may see another host: there is a second `Host` header, or the target is a URL with another host or a user. */
function isAmbiguous({ rawHeaders, url = '' }: Bindings['incoming'], host: string): boolean {
  if (rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length > 1) return true;
  if (!URL.canParse(url)) return false;
  const target = new URL(url);
  return hostIn(target.host) !== host || target.username !== '' || target.password !== '';
}

/** Whether a proxy may read the path differently: encoded letters or digits, or a segment `.` or `..`. */
function isDisguised({ url = '' }: Bindings['incoming']): boolean {
  const [path = ''] = url.split('?', 1);
  return /\/(\.|%2e){1,2}(?=[/#]|$)|%(3\d|[46][1-9a-f]|[57][0-9a])/i.test(path);
}

const refusalOf = (request: Bindings['incoming'], host: string): Problem | undefined =>
  isAmbiguous(request, host) ? twoHosts : isDisguised(request) ? disguised : undefined;

const disguised = new Problem(
  'malformed-url',
  'The path must not have "." or ".." as a part, or percent-encoded letters and digits.',
);
const twoHosts = new Problem(
  'bad-request',
  'The request names two hosts, or a user before its host. Send one Host header, and no other host or user in the URL.',
);
const misdirected = (host: string) =>
  new Problem('misdirected', `This relay does not know the host name "${host}". The operator can set it in RELAY_PUBLIC_URL.`);

const internal = new Problem('internal', 'The relay could not answer the request.');
const unreadable = new Problem('bad-request', 'This is not an HTTP request that the relay can read.');
const broken: Record<string, Problem> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Problem('request-timeout', 'The complete request did not arrive in time.'),
  HPE_HEADER_OVERFLOW: new Problem('headers-too-large', 'The headers of the request are too large.'),
};

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

/** @returns `host:port` for a client on this machine. @throws StartError that names the variable to change. */
export async function listen(server: Server, { host, port, variable = 'PORT' }: Listening): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const noAddress = `this machine has no address "${host}": set HOST`;
    const refusals: Record<string, string> = {
      EADDRINUSE: `port ${port} is in use: stop the program that uses it, or set ${variable}`,
      EACCES: `this user may not use port ${port}: set ${variable} to a port above 1023`,
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

/** The `host:port` of a URL. For a server on all addresses, the host is loopback. */
export function authority(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

export async function assertPortFree(host: string, port: number, variable: string): Promise<void> {
  const server = createTcpServer();
  await listen(server, { host, port, variable });
  server.close();
  await once(server, 'close');
}

/** A free port that other programs rarely use: below the ephemeral ports (in Linux, 32,768 and above). @throws StartError */
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
