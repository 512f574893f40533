/** Writes a log line for each request and, with tracing, a span. */

import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { loggableId } from '../contract/credential.js';
import type { Log } from '../service/telemetry.js';
import type { Tracing } from '../service/tracing.js';

const watched = ['/healthz', '/readyz', '/metrics']; // monitoring calls these paths every few seconds

/** Logs these statuses only at `debug`, so that strangers cannot fill the log. Other lines report these failures and limits. */
const detail = [401, 404, 405, 408, 413, 415, 429];

/** Logs the route and ids, and the id of an accepted chain. Logs no path and no query, because they may contain a secret. */
export function logRequests(log: Log): MiddlewareHandler {
  return async (c, next) => {
    const begun = performance.now();
    await next();
    const { status } = c.res;
    const route = routePath(c, -1);
    const level = detail.includes(status) || watched.includes(route) ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    const facts = { ...idsOf(c), ms: Math.round(performance.now() - begun) };
    log[level]({ method: c.req.method, route, status, ...facts }, 'request answered');
  };
}

/** The span of a request is the parent of the spans of its chain. The `traceparent` of a proxy is the parent of this span. */
export function traceRequests(tracing: Tracing): MiddlewareHandler {
  return async (c, next) => {
    if (watched.includes(c.req.path)) return next();
    const span = tracing.begin(c.req.method, { kind: 'server', parent: c.req.header('traceparent') });
    c.set('traceparent', span.traceparent);
    await next();
    const { status } = c.res;
    const route = routePath(c, -1);
    const { companyId, chainId, index } = idsOf(c);
    const attributes = {
      'http.request.method': c.req.method,
      'http.route': route,
      'http.response.status_code': status,
      'relay.company_id': companyId,
      'relay.chain_id': chainId,
      'relay.action_index': index,
    };
    span.end({ name: `${c.req.method} ${route}`, attributes, failed: status >= 500 ? String(status) : undefined });
  };
}

function idsOf(c: Context) {
  const [, company, chain, index, verb] = subject.exec(c.res.headers.get('Location') ?? c.req.path) ?? [];
  return {
    companyId: loggableId(company),
    chainId: loggableId(chain),
    ...(index !== undefined && { index: Number(index), verb }),
  };
}

const subject =
  /^\/(?:co|admin\/companies)\/([\w-]{1,64})(?:\/chains\/([\w-]{1,64})(?:\/actions\/(\d{1,6})\/([A-Za-z]{1,20})$)?)?(?:\/|$)/;
