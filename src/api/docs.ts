/** The API's own documentation: the OpenAPI document, a page made of it, and a page for each type of problem. Open to everybody. */

import { Hono } from 'hono';
import type { Links } from '../service/config.js';
import { docsPage } from './docs-page.js';
import { openApi } from './openapi.js';
import { sendPage } from './page.js';
import { notFound } from './problem.js';
import { problemPage } from './problem-page.js';
import { problemTypeList } from './problem-types.js';

export function docsRoutes({ links }: { links: Links }): Hono {
  const document = openApi(links.api);
  return new Hono()
    .get('/openapi.json', (c) => c.json(document))
    .get('/docs', (c) => sendPage(c, docsPage(document)))
    .get('/problems/:slug', (c) => {
      const type = problemTypeList.find(({ slug }) => slug === c.req.param('slug'));
      if (!type) throw notFound(`type of problem ${c.req.param('slug')}`);
      return sendPage(c, problemPage(type.slug));
    });
}
