/** The pretend platform: an assignment platform and a ticket system to try the relay with, on one HTTP port. */

import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { serveHttp } from '../../service/server.js';
import { pageAssets } from '../page.js';
import { connectorApi } from './connector-api.js';
import { controlApi } from './control-api.js';
import { overviewPage } from './overview-page.js';
import { PlatformState } from './state.js';

/**
 * @param options.port 0 takes any free one
 * @param options.stateFile what happened is kept here and survives a restart; without it, it is forgotten
 * @throws StartError when the port is taken
 */
export async function startPlatform(options: {
  host: string;
  port: number;
  stateFile?: string;
}): Promise<{ url: string; close(): Promise<void> }> {
  const { host, port, stateFile } = options;
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
