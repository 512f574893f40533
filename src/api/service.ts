/**
 * What is open to everybody: the API's own documentation, which is the OpenAPI document, a page made of it, and a page for each
 * type of problem; and whether the process is alive, can do its work, and what it has counted (see service/telemetry.ts).
 */

import { z } from 'zod';
import type { Links } from '../chain/chain.js';
import { problemTypeList } from '../contract/problem-types.js';
import { type HealthOptions, healthRoutes } from '../service/telemetry.js';
import { docsPage, problemPage } from './docs.js';
import { openApi } from './openapi.js';
import { sendPage } from './page.js';
import { found } from './problems.js';
import { type Answer, type Route, type RouteDescription, route } from './route.js';

/** @param others - the other routes of the API; the document has these too. */
export function docsRoutes({ links }: { links: Links }, others: readonly RouteDescription[]): Route[] {
  const page = { 200: { description: 'A page.', mediaType: 'text/html' } };
  const routes: Route[] = [
    route('GET /openapi.json', {
      id: 'getOpenApi',
      access: 'public',
      summary: 'This description of the API, for programs',
      answers: { 200: { description: 'OpenAPI 3.1.', body: z.looseObject({ openapi: z.string() }) } },
      handle: (c) => c.json(document),
    }),
    route('GET /docs', {
      id: 'getDocs',
      access: 'public',
      summary: 'This description of the API, for people',
      answers: page,
      handle: (c) => sendPage(c, docsPage(document, all)),
    }),
    route('GET /problems/:slug', {
      id: 'getProblemType',
      access: 'public',
      summary: 'What a type of problem means, and what to do about it',
      answers: page,
      handle(c, { slug }) {
        const type = problemTypeList.find((type) => type.slug === slug);
        return sendPage(c, problemPage(found(type, `type of problem ${slug}`)));
      },
    }),
  ];
  const all = [...others, ...routes];
  const document = openApi(links.api, all);
  return routes;
}

export function serviceRoutes(options: HealthOptions): Route[] {
  const health = healthRoutes(options);
  const ofHealth = (path: string, id: string, summary: string, answers: Record<number, Answer>): Route =>
    route(`GET ${path}`, { id, access: 'public', summary, answers, handle: (c) => health.fetch(c.req.raw) });
  const readiness = (status: string) => z.object({ status: z.literal(status), temporal: z.string(), database: z.string() });
  return [
    ofHealth('/healthz', 'getHealth', 'Whether the process is alive', {
      200: { description: 'It is.', body: z.object({ status: z.literal('ok') }) },
    }),
    ofHealth('/readyz', 'getReadiness', 'Whether Temporal and the database can be reached', {
      200: { description: 'Both can.', body: readiness('ready') },
      503: { description: 'One cannot.', body: readiness('not ready') },
    }),
    ofHealth('/metrics', 'getMetrics', 'What the process has counted, for Prometheus', {
      200: { description: 'In the text format of Prometheus.', mediaType: 'text/plain' },
    }),
  ];
}
