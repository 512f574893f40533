/** An HTTP server of the sandbox: a Hono app on a port, with an end that does not wait for clients. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { authority, listenError } from './ports.js';

type Fetch = Parameters<typeof getRequestListener>[0];

/**
 * @param at `port` 0 takes any free one; `variable` is the environment variable that sets the port
 * @throws StartError when the port is taken
 */
export async function serveHttp(
  fetch: Fetch,
  at: { host: string; port: number; variable: string },
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(getRequestListener(fetch));
  server.listen(at.port, at.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenError(error, at.host, at.port, at.variable);
  }
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : at.port;
  return {
    url: `http://${authority(at.host, port)}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** Refuses what a foreign web page makes a browser send: these servers do not ask who is calling. */
export const refuseForeignPages: MiddlewareHandler = async (c, next) => {
  if (c.req.method !== 'GET' && c.req.header('sec-fetch-site') === 'cross-site') return c.text('not from another web site', 403);
  return next();
};
