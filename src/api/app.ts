/** The HTTP API, put together. */

import { Hono, type MiddlewareHandler } from 'hono';
import type { Links } from '../chain/chain.js';
import type { StartOptions } from '../chains/start.js';
import { RuleNotices } from '../notices/rule-notices.js';
import type { Metrics } from '../service/telemetry.js';
import type { Store } from '../store/store.js';
import { actorReader, createGuard } from './bearer-authentication.js';
import { bulkRoutes } from './bulk.js';
import { chainRoutes } from './chains.js';
import { companyRoutes } from './companies.js';
import { keyRoutes, tokenRoutes } from './credentials.js';
import { type DryRunOptions, dryRun, dryRunSchema } from './dry-run.js';
import { type Limits, limitFailures } from './limits.js';
import { auditRoutes, noticeRoutes, pauseRoutes } from './operating.js';
import { answerProblems } from './problems.js';
import { rejectedRoutes } from './rejected.js';
import { Rejections } from './rejections.js';
import { relayRoute } from './relay.js';
import { appOf, type Route } from './route.js';
import { ruleRoutes } from './rules.js';
import { docsRoutes, serviceRoutes } from './service.js';

interface AdminOptions {
  store: Store;
  /** Is told where a company has nobody to notify. Without it every company must name somebody. */
  operatorEmail?: string;
}

export interface ApiOptions extends StartOptions, AdminOptions, Pick<DryRunOptions, 'connectors'> {
  adminToken: string;
  limits: Limits;
  links: Links;
  metrics: Metrics;
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
  const { client, log, store, adminToken } = options;
  const rejections = new Rejections({ ...options, notices: new RuleNotices(client, log) });
  const actorOf = actorReader(adminToken, store.keys);
  const routes = [
    relayRoute({
      ...options,
      rejections,
      dryRun: {
        schema: dryRunSchema,
        of: async (c, request) => dryRun(options, { ...request, valuesShown: (await actorOf(c)) !== undefined }),
      },
    }),
    ...rejectedRoutes({ ...options, rejections }),
    // Before the chains, since `bulk` could be the id of one.
    ...bulkRoutes(options),
    ...chainRoutes(options),
    ...adminRoutes(options),
    ...pauseRoutes(options),
    ...noticeRoutes(options),
    ...serviceRoutes(options),
  ];
  return [...routes, ...docsRoutes(options, routes)];
}

/** Companies, rules, tokens, keys and the audit, for the holder of the admin token: all that needs nothing but the store. */
export function adminRoutes({ store, operatorEmail }: AdminOptions): Route[] {
  return [
    ...companyRoutes(store, operatorEmail),
    ...ruleRoutes(store),
    ...tokenRoutes(store),
    ...keyRoutes(store),
    ...auditRoutes(store),
  ];
}
