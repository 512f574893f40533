/** Serves the API on a port. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { ConfigError } from '../config.js';

/**
 * @returns `close`, which lets requests under way end for at most 10 seconds.
 * @throws ConfigError when the port cannot be listened on.
 */
export async function serveApi(app: Hono, { host, port }: { host: string; port: number }): Promise<{ close(): Promise<void> }> {
  const server = createServer(
    { requestTimeout: 15_000, headersTimeout: 10_000, keepAliveTimeout: 65_000 },
    getRequestListener(app.fetch),
  );
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') throw new ConfigError(`port ${port} is taken: stop what uses it, or set PORT`);
    throw new ConfigError(`the API cannot listen on ${host}:${port} (${String(code)}): set HOST and PORT`);
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
