/** The HTTP API, put together. */

import { Hono, type MiddlewareHandler } from 'hono';
import { RuleNotices } from '../notices/rule-notices.js';
import type { Metrics } from '../service/metrics.js';
import type { Store } from '../store/store.js';
import { noticeRoutes } from './admin/notices.js';
import { pauseRoutes } from './admin/pause.js';
import { adminRoutes } from './admin.js';
import { createGuard } from './bearer-authentication.js';
import { chainRoutes } from './chains.js';
import { docsRoutes } from './docs.js';
import { limitFailures } from './limits.js';
import { answerProblems } from './problems.js';
import { rejectedRoutes } from './rejected.js';
import { Rejections } from './rejections.js';
import { type RelayOptions, relayRoutes } from './relay.js';
import { appOf, type Route } from './route.js';
import { serviceRoutes } from './service-routes.js';

export interface ApiOptions extends Omit<RelayOptions, 'rejections'> {
  store: Store;
  adminToken: string;
  metrics: Metrics;
  /** Is told when nobody else can be. */
  operatorEmail?: string;
}

/** How long Temporal has to answer all that a request about chains asks of it. */
const temporalTimeoutMs = 10_000;

export function createApi(options: ApiOptions): Hono {
  const { client, log, metrics, limits, adminToken, store } = options;
  const inTime: MiddlewareHandler = (_c, next) => client.withDeadline(Date.now() + temporalTimeoutMs, next);
  return answerProblems(new Hono(), (error) => log.error({ err: error }, 'a request failed unexpectedly'))
    .use(metrics.middleware)
    .use(limitFailures(limits))
    .use('/chains/*', inTime)
    .use('/co/:companyId/chains/*', inTime)
    .route('/', appOf(apiRoutes(options), createGuard(adminToken, store.keys)));
}

export function apiRoutes(options: ApiOptions): Route[] {
  const { client, log } = options;
  const rejections = new Rejections({ ...options, notices: new RuleNotices(client, log) });
  const routes = [
    ...relayRoutes({ ...options, rejections }),
    ...rejectedRoutes({ ...options, rejections }),
    ...chainRoutes(options),
    ...adminRoutes(options),
    ...pauseRoutes(options),
    ...noticeRoutes(options),
    ...serviceRoutes(options),
  ];
  return [...routes, ...docsRoutes(options, routes)];
}
