/**
 * Serves Temporal's Web UI with a codec, which decrypts payloads. The API's codec needs the session cookie, but `temporal
 * server start-dev` cannot make the Web UI send it. A codec in this process needs no sign-in, and answers only this Web UI.
 */

import { type Context, Hono } from 'hono';
import { proxy } from 'hono/proxy';
import type { Authenticated, Guard } from '../api/bearer-authentication.js';
import { codecRoutes } from '../api/codec.js';
import { problemOf } from '../api/problems.js';
import { appOf } from '../api/route.js';
import type { Keyring } from '../contract/encryption.js';
import { Problem, problemResponse } from '../contract/problem.js';
import { isLocal } from '../service/client-address.js';
import { serveHttp } from '../service/server.js';

interface WebUiOptions {
  upstream: string; // the Web UI of the dev server
  codec: string | Keyring; // the URL of the relay's codec endpoints, without `/decode`; or the keys for a codec in this process
  host: string;
  port: number;
}

export function startWebUi({ upstream, codec, host, port }: WebUiOptions) {
  const isOwn = typeof codec !== 'string';
  const own = isOwn ? appOf(codecRoutes({ keyring: codec }), ownPages) : new Hono<Authenticated>();
  own.onError((error) => problemResponse(problemOf(error).problem));
  const app = new Hono()
    .get('/api/v1/settings', async (c) => {
      const settings = (await (await fetch(`${upstream}/api/v1/settings`)).json()) as object;
      const Endpoint = isOwn ? `${originOf(c)}/relay/codec` : codec;
      return Response.json({ ...settings, Codec: { Endpoint, IncludeCredentials: !isOwn } });
    })
    .route('/relay', own)
    .all('*', async ({ req }) => {
      const { pathname, search } = new URL(req.url);
      const answer = await proxy(`${upstream}${pathname}${search}`, req.raw);
      return new Response(answer.body && ReadableStream.from(untilClosed(answer.body, req.raw.signal)), answer);
    });
  // Adds no security headers, because the Web UI sets its own headers.
  return serveHttp(app, { host, port, variable: 'RELAY_TEMPORAL_UI_PORT', headers: {} });
}

/** Ends without an error if the browser closes the page, because the terminal would show the error. */
async function* untilClosed(body: ReadableStream<Uint8Array>, page: AbortSignal) {
  try {
    yield* body;
  } catch (error) {
    if (!page.aborted) throw error;
  }
}

/** The Web UI's origin, with the host that the browser uses: `localhost` or `127.0.0.1`. `serveHttp` refuses every other host. */
const originOf = (c: Context) => `http://${c.req.header('Host')}`;

/** Browsers send `Origin` with every POST, and no page can forge this header. A request through a proxy does not count as local. */
const ownPages: Guard = () => async (c, next) => {
  if (c.req.header('Origin') === originOf(c) && isLocal(c)) return next();
  throw new Problem(
    'foreign-page',
    'Only a page of this Web UI may decode data here. Programs use the codec of the API, with an admin token.',
  );
};
