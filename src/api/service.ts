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
import { type Answer, type Route, route } from './route.js';

/** @param others - the other routes of the API; the document has these too. */
export function docsRoutes({ links }: { links: Links }, others: readonly Route[]): Route[] {
  const page: Route['answers'] = { 200: ['A page.', 'text/html'] };
  const routes: Route[] = [
    route('GET /openapi.json', 'getOpenApi', 'This description of the API, for programs', {
      access: 'public',
      answers: { 200: ['OpenAPI 3.1.', z.looseObject({ openapi: z.string() })] },
      handle: (c) => c.json(document),
    }),
    route('GET /docs', 'getDocs', 'This description of the API, for people', {
      access: 'public',
      answers: page,
      handle: (c) => sendPage(c, docsPage(document, all)),
    }),
    route('GET /problems/:slug', 'getProblemType', 'What a type of problem means, and what to do about it', {
      access: 'public',
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
    route(`GET ${path}`, id, summary, { access: 'public', answers, handle: (c) => health.fetch(c.req.raw) });
  const readiness = (status: string) => z.object({ status: z.literal(status), temporal: z.string(), database: z.string() });
  return [
    ofHealth('/healthz', 'getHealth', 'Whether the process is alive', {
      200: ['It is.', z.object({ status: z.literal('ok') })],
    }),
    ofHealth('/readyz', 'getReadiness', 'Whether Temporal and the database can be reached', {
      200: ['Both can.', readiness('ready')],
      503: ['One cannot.', readiness('not ready')],
    }),
    ofHealth('/metrics', 'getMetrics', 'What the process has counted, for Prometheus', {
      200: ['In the text format of Prometheus.', 'text/plain'],
    }),
  ];
}
