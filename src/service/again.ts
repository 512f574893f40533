/** Processes can start in any order. Each process waits for the systems that it needs, and logs the wait. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, problemResponse } from '../contract/problem.js';
import { AwayError } from './config.js';
import { serveHttp } from './server.js';
import type { Log } from './telemetry.js';

export type Patience = { log: Log; stop: AbortSignal };

/** Retries `work` every two seconds, with a log line, while it throws an AwayError. */
export async function again<Value>(work: () => Promise<Value>, { log, stop }: Patience): Promise<Value> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AwayError) || stop.aborted) throw error;
      log.warn(`${error.away}; trying again`);
      await sleep(2_000, undefined, { signal: stop });
    }
  }
}

type App = Parameters<typeof serveHttp>[0];

/** Listens immediately. `/readyz` answers 503 until `serve` provides the app. @throws StartError */
export async function serveEarly(options: Parameters<typeof serveHttp>[1]) {
  let app: App = { fetch: whileAway };
  const server = await serveHttp({ fetch: (request, env) => app.fetch(request, env) }, options);
  const serve = (ready: App) => {
    app = ready;
  };
  return { ...server, serve };
}

function whileAway({ url }: Request): Response {
  const { pathname } = new URL(url);
  if (pathname === '/healthz') return Response.json({ status: 'ok' });
  if (pathname === '/readyz')
    return Response.json({ status: 'not ready', temporal: 'starting', database: 'starting' }, { status: 503 });
  return problemResponse(
    new Problem('database-unavailable', 'The relay is starting and waits for its database. Nothing has run.'),
  );
}
