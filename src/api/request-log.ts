/** One line of the log for a request. */

import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Log } from '../service/telemetry.js';

/** Asked for by machines, every few seconds. */
const watched = ['/healthz', '/readyz', '/metrics'];

/** Strangers get these, and could fill the log: what they send is detail. Failed authentications and bounds have their own lines. */
const detail = [401, 404, 405, 408, 413, 415, 429];

/** Says only ids and names of what was asked, since a path or a query may hold anything. Of an accepted request, the new chain. */
export function logRequests(log: Log): MiddlewareHandler {
  return async (c, next) => {
    const begun = performance.now();
    await next();
    const { status } = c.res;
    const route = routePath(c, -1);
    const level = detail.includes(status) || watched.includes(route) ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    const [, companyId, chainId, index, verb] = subject.exec(c.res.headers.get('Location') ?? c.req.path) ?? [];
    const facts = { companyId, chainId, ...(index !== undefined && { index: Number(index), verb }) };
    log[level]({ method: c.req.method, route, status, ms: Math.round(performance.now() - begun), ...facts }, 'request answered');
  };
}

const subject =
  /^\/(?:co|admin\/companies)\/([\w-]{1,64})(?:\/chains\/([\w-]{1,64})(?:\/actions\/(\d{1,6})\/([A-Za-z]{1,20})$)?)?(?:\/|$)/;
