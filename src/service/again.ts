/** Processes start in any order: what one of them needs may come later, and meanwhile it says so. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, problemResponse } from '../contract/problem.js';
import { AwayError } from './config.js';
import { serveHttp } from './server.js';
import type { Log } from './telemetry.js';

export interface Patience {
  log: Log;
  stop: AbortSignal; // ends the waiting
}

/** Does `work`; while what it needs is away, that is logged in a line, and tried again every two seconds. */
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

/**
 * Listens from the start: the process is alive, and not ready, until `serve` says what is to be answered instead.
 * @throws StartError as `serveHttp`
 */
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
    new Problem('database-unavailable', 'The relay is starting, and waits for its database. Nothing has run.'),
  );
}
