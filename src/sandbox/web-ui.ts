/**
 * Temporal's Web UI with the relay's codec endpoints in its settings, and told to send the cookie of a session there, for which
 * `temporal server start-dev` has no setting.
 */

import { Hono } from 'hono';
import { proxy } from 'hono/proxy';
import { serveHttp } from '../service/server.js';

interface WebUiOptions {
  upstream: string; // the Web UI of the dev server
  codec: string; // the URL of the codec endpoints, without `/decode`
  host: string;
  port: number;
}

export function startWebUi({ upstream, codec, host, port }: WebUiOptions) {
  const app = new Hono()
    .get('/api/v1/settings', async () => {
      const settings = (await (await fetch(`${upstream}/api/v1/settings`)).json()) as object;
      return Response.json({ ...settings, Codec: { Endpoint: codec, IncludeCredentials: true } });
    })
    .all('*', ({ req }) => {
      const { pathname, search } = new URL(req.url);
      return proxy(`${upstream}${pathname}${search}`, req.raw);
    });
  // The Web UI says itself what its pages may load.
  return serveHttp(app, { host, port, variable: 'RELAY_TEMPORAL_UI_PORT', headers: {} });
}
