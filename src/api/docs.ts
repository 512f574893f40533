/**
 * The API's own documentation: the OpenAPI document, a page made of it, and a page for each type of problem. Open to everybody.
 */

import { z } from 'zod';
import { problemTypeList } from '../contract/problem-types.js';
import type { Links } from '../service/config.js';
import { docsPage } from './docs-page.js';
import { openApi } from './openapi.js';
import { sendPage } from './page.js';
import { problemPage } from './problem-page.js';
import { notFound } from './problems.js';
import { type Route, type RouteDescription, route } from './route.js';

/** @param others - the other routes of the API; the document has these too. */
export function docsRoutes({ links }: { links: Links }, others: readonly RouteDescription[]): Route[] {
  const page = { 200: { description: 'A page.', mediaType: 'text/html' } };
  const routes: Route[] = [
    route(
      {
        method: 'get',
        path: '/openapi.json',
        id: 'getOpenApi',
        access: 'public',
        summary: 'This description of the API, for programs',
        answers: { 200: { description: 'OpenAPI 3.1.', body: z.looseObject({ openapi: z.string() }) } },
      },
      (c) => c.json(document),
    ),
    route(
      {
        method: 'get',
        path: '/docs',
        id: 'getDocs',
        access: 'public',
        summary: 'This description of the API, for people',
        answers: page,
      },
      (c) => sendPage(c, docsPage(document, all)),
    ),
    route(
      {
        method: 'get',
        path: '/problems/:slug',
        id: 'getProblemType',
        access: 'public',
        summary: 'What a type of problem means, and what to do about it',
        answers: page,
        problems: ['not-found'],
      },
      (c) => {
        const type = problemTypeList.find(({ slug }) => slug === c.req.param('slug'));
        if (!type) throw notFound(`type of problem ${c.req.param('slug')}`);
        return sendPage(c, problemPage(type.slug));
      },
    ),
  ];
  const all = [...others, ...routes];
  const document = openApi(links.api, all);
  return routes;
}
