import { Hono, type MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { ruleNotices } from '../notices/start.js';
import { holdsOneOf } from '../service/metrics-access.js';
import { healthRoutes } from '../service/telemetry.js';
import { HeldActions } from '../temporal/causes.js';
import { adminTokenRoutes } from './admin-tokens.js';
import { assignmentRoutes } from './assignments.js';
import { type Access, Callers, createGuard } from './bearer-authentication.js';
import { causeRoutes } from './causes.js';
import { chainRoutes } from './chains.js';
import { codecCors, codecRoutes } from './codec.js';
import { type CompanyOptions, companyRoutes } from './companies.js';
import { composeRoutes } from './compose.js';
import { consoleRoutes } from './console.js';
import { contactRoutes } from './contacts.js';
import { docsRoutes } from './docs.js';
import { type Ask, eventRoutes } from './events.js';
import { exportRoutes } from './export.js';
import { reportFailures } from './failed-authentications.js';
import { Guesses } from './guesses.js';
import { healthOfRulesRoutes } from './health.js';
import { holdRoutes, sayOnPage } from './hold.js';
import { limitFailures, noteBounds } from './limits.js';
import { auditRoutes, encryptionRoutes, operatingRoutes } from './operating.js';
import { peopleRoutes } from './people.js';
import { answerProblems } from './problems.js';
import { Quotas } from './quotas.js';
import { rejectedRoutes } from './rejected.js';
import { Rejections } from './rejections.js';
import { relayRoute } from './relay.js';
import { logRequests, traceRequests } from './request-log.js';
import { type ApiOptions, appOf, type Route, routeFor } from './route.js';
import { ruleEventListRoutes } from './rule-event-list.js';
import { ruleEventRoutes } from './rule-events.js';
import { ruleTrialRoutes } from './rule-trials.js';
import { ruleVersionRoutes } from './rule-versions.js';
import { ruleRoutes } from './rules.js';
import { searchRoute } from './search.js';
import { sayOnSignInPage, sessionRoutes, type Ways } from './session.js';
import { signInRoutes } from './sign-in.js';
import { webUiRoutes } from './web-ui.js';

const temporalTimeoutMs = 10_000; // time limit of all calls to Temporal during one request

export function createApi(options: ApiOptions): Hono {
  const { client, log, metrics, limits, tracing } = options;
  const callers = new Callers(options);
  const health = healthRoutes(options);
  const scraped: MiddlewareHandler = async (c, next) =>
    holdsOneOf([options.metricsToken], c) ? health.fetch(c.req.raw) : next();
  const inTime: MiddlewareHandler = (_c, next) => client.withDeadline(Date.now() + temporalTimeoutMs, next);
  const app = answerProblems(new Hono(), (error) => log.error({ err: error }, 'a request failed unexpectedly'));
  const routes = apiRoutes(options, callers, (request, env) => app.fetch(request, env));
  if (tracing) app.use(traceRequests(tracing));
  return app
    .use(metrics.middleware)
    .use(logRequests(log))
    .use(noteBounds(metrics, log))
    .use('/sign-in', sayOnSignInPage(waysOf(options)))
    .use('/sign-in/:way{.+}', sayOnPage)
    .use('/hold/*', sayOnPage)
    .use('/confirm/*', sayOnPage)
    .use(limitFailures(limits))
    .use(reportFailures(options))
    .use('/metrics', scraped)
    .use('/codec/*', codecCors(options))
    .use('/chains/*', inTime)
    .use('/co/:companyId/chains/*', inTime)
    .use('/co/:companyId/causes/*', inTime)
    .use('/hold/*', inTime)
    .use('/admin/companies/:companyId/*', inTime)
    .route('/', appOf(routes, createGuard(callers), limits));
}

/** @param ask - sends a request to the API. The streams of events use it to call other routes. */
export function apiRoutes(options: ApiOptions, callers = new Callers(options), ask: Ask = () => new Response()): Route[] {
  const { client, log } = options;
  const rejections = new Rejections({ ...options, notices: ruleNotices(client, log) });
  options.closers?.add('the refused requests', () => rejections.settled());
  const quotas = new Quotas(options);
  const heldActions = new HeldActions(options);
  const door = { rejections, quotas, guesses: new Guesses(log) };
  const asked = [
    relayRoute(options, door, callers),
    ...ruleEventRoutes(options, door),
    ...rejectedRoutes(options, rejections, quotas),
    ...composeRoutes(options), // These routes come first. Otherwise the chain routes would read `compose` as an id.
    ...chainRoutes(options, quotas),
    ...assignmentRoutes(options),
    searchRoute(options),
    ...causeRoutes(options, rejections, heldActions),
    ...adminRoutes(options),
    ...peopleRoutes(options),
    ...ruleVersionRoutes(options),
    ...ruleTrialRoutes(options),
    ...ruleEventListRoutes(options, quotas),
    ...healthOfRulesRoutes(options.store),
    ...exportRoutes(options),
    ...operatingRoutes(options),
    ...codecRoutes(options),
    ...sessionRoutes(callers, options.limits, waysOf(options)),
    ...signInRoutes(options, callers),
    ...consoleRoutes(callers),
    ...webUiRoutes(callers, options.webUi),
    ...holdRoutes(options, heldActions),
    ...contactRoutes(options),
    ...serviceRoutes(options),
  ];
  const routes = [...asked, ...eventRoutes(ask, asked, options.stop, { callers, settings: options.store.settings })];
  return [...routes, ...docsRoutes(options, routes)];
}

const waysOf = ({ connectors, openId }: ApiOptions): Ways => ({
  mail: connectors.operatorMail !== undefined,
  openId: openId?.name,
});

export function adminRoutes(options: CompanyOptions): Route[] {
  const { store } = options;
  return [
    ...companyRoutes(options),
    ...ruleRoutes(store),
    ...adminTokenRoutes(store),
    ...auditRoutes(store),
    ...encryptionRoutes(store),
  ];
}

function serviceRoutes(options: ApiOptions): Route[] {
  const health = healthRoutes(options);
  const ofHealth = (path: string, id: string, summary: string, answers: Route['answers'], access: Access = 'public'): Route =>
    routeFor(access)(`GET ${path}`, id, summary, { answers, handle: (c) => health.fetch(c.req.raw) });
  const metrics = {
    200: ['The text format of Prometheus. Requests from the same machine need no token.', 'text/plain'],
  } as const;
  const readiness = (...status: string[]) => z.object({ status: z.enum(status), temporal: z.string(), database: z.string() });
  return [
    ofHealth('/healthz', 'getHealth', 'Check whether the process is alive', {
      200: ['The process is alive.', z.object({ status: z.literal('ok') })],
    }),
    ofHealth('/readyz', 'getReadiness', 'Check whether Temporal and the database can be reached', {
      200: ['Temporal and the database can be reached.', readiness('ready')],
      503: ['Temporal or the database cannot be reached, or the process is stopping.', readiness('not ready', 'stopping')],
    }),
    ofHealth('/metrics', 'getMetrics', 'Read the metrics of the process for Prometheus', metrics, 'admin or this machine'),
  ];
}
