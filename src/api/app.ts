/** The HTTP API, put together. */

import { Hono } from 'hono';
import type { Store } from '../store/store.js';
import { adminRoutes } from './admin.js';
import { chainRoutes } from './chains.js';
import { healthRoutes } from './health.js';
import { answerProblems } from './problem.js';
import { type RelayOptions, relayRoutes } from './relay.js';

export interface ApiOptions extends RelayOptions {
  store: Store;
  adminToken: string;
  /** Is told when nobody else can be. */
  operatorEmail?: string;
}

export function createApi(options: ApiOptions): Hono {
  return answerProblems(new Hono(), (error) => options.log.error({ err: error }, 'a request failed unexpectedly'))
    .route('/', relayRoutes(options))
    .route('/', chainRoutes(options))
    .route('/', adminRoutes(options))
    .route('/', healthRoutes(options));
}
