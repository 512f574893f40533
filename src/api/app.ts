/** The HTTP API, put together. */

import { Hono } from 'hono';
import { Notices } from '../notices/rule-notices.js';
import type { Metrics } from '../service/metrics.js';
import type { Store } from '../store/store.js';
import { noticeRoutes } from './admin/notices.js';
import { pauseRoutes } from './admin/pause.js';
import { adminRoutes } from './admin.js';
import { chainRoutes } from './chains.js';
import { docsRoutes } from './docs.js';
import { healthRoutes } from '../service/health.js';
import { limitFailures } from './limits.js';
import { answerProblems } from './problem.js';
import { rejectedRoutes } from './rejected.js';
import { Rejections } from './rejections.js';
import { type RelayOptions, relayRoutes } from './relay.js';

export interface ApiOptions extends Omit<RelayOptions, 'rejections'> {
  store: Store;
  adminToken: string;
  metrics: Metrics;
  /** Is told when nobody else can be. */
  operatorEmail?: string;
}

export function createApi(options: ApiOptions): Hono {
  const { client, log, metrics, limits } = options;
  const rejections = new Rejections({ ...options, notices: new Notices(client, log) });
  return answerProblems(new Hono(), (error) => log.error({ err: error }, 'a request failed unexpectedly'))
    .use(metrics.middleware)
    .use(limitFailures(limits))
    .route('/', relayRoutes({ ...options, rejections }))
    .route('/', rejectedRoutes({ ...options, rejections }))
    .route('/', chainRoutes(options))
    .route('/', adminRoutes(options))
    .route('/', pauseRoutes(options))
    .route('/', noticeRoutes(options))
    .route('/', healthRoutes(options))
    .route('/', docsRoutes(options));
}
