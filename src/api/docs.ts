/** The documentation of the API: the OpenAPI document, `/docs` where Redoc shows it, and a page for each type of problem. */

import type { Context } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import { companyIdPattern } from '../chain/chain.js';
import { problemTypeList } from '../contract/problem-types.js';
import { ruleFileJsonSchema } from '../contract/rule-file.js';
import { assetOf } from './console.js';
import { companyVariable, openApi, problemExample } from './openapi.js';
import { type Html, inline, json, sendPage, wholePage } from './page.js';
import { found } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

const ofCompany = z.object({ companyId: z.string().regex(companyIdPattern).optional().describe('The company in the examples.') });

/** @param others - the other routes, which the documentation also describes */
export function docsRoutes({ links }: Pick<ApiOptions, 'links'>, others: readonly Route[]): Route[] {
  const page: Route['answers'] = { 200: ['A page.', 'text/html'] };
  const routes: Route[] = [
    route.anyone('GET /openapi.json', 'getOpenApi', 'Read the OpenAPI document', {
      query: ofCompany,
      answers: { 200: ['OpenAPI 3.1.', z.looseObject({ openapi: z.string() })] },
      handle(c, { query: { companyId = companyVariable } }) {
        document ??= JSON.stringify(openApi(links.api, [...others, ...routes]));
        return c.body(document.replaceAll(companyVariable, companyId), 200, { 'Content-Type': 'application/json' });
      },
    }),
    route.anyone('GET /schemas/rule.json', 'getRuleFileSchema', 'Read the JSON Schema of rule files', {
      description: 'With this schema, a code editor suggests the fields of a YAML file that `relay rules pull` wrote.',
      answers: { 200: ['JSON Schema, draft 7.', z.looseObject({ $schema: z.string() })] },
      handle(c) {
        ruleSchema ??= ruleFileJsonSchema();
        return c.json(ruleSchema);
      },
    }),
    route.anyone('GET /docs', 'getDocs', 'Read the documentation of the API', {
      query: ofCompany,
      answers: page,
      handle: (c, { query }) => sendDocs(c, query.companyId),
    }),
    route.anyone('GET /problems/:slug', 'getProblemType', 'Read the meaning of a problem type, and what to do', {
      answers: page,
      handle(c, { slug }) {
        const type = problemTypeList.find((type) => type.slug === slug);
        return sendPage(c, problemPage(found(type, `problem type ${slug}`)));
      },
    }),
  ];
  // The first request creates the document and the schema. At the start, this work would take too long.
  let document: string | undefined;
  let ruleSchema: ReturnType<typeof ruleFileJsonSchema> | undefined;
  return routes;
}

/** @param companyId - the company in the examples. */
function sendDocs(c: Context, companyId?: string) {
  c.header('Content-Security-Policy', policy);
  const script = html`<style>body { margin: 0 }</style><script src="/assets/${assetOf('docs')}" defer></script>`;
  const from = `/openapi.json${companyId === undefined ? '' : `?companyId=${companyId}`}`;
  const main = html`<redoc spec-url="${from}" required-props-first="true" path-in-middle-panel="true"></redoc>
<noscript>This page needs JavaScript. For programs: <a href="/openapi.json">openapi.json</a></noscript>`;
  return c.html(wholePage({ title: 'Relay API', main }, script));
}

/** Allows the styles and the web worker that Redoc creates at run time. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; worker-src blob:; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function problemPage(type: (typeof problemTypeList)[number]): { title: string; main: Html } {
  const { slug, status, title, meaning, whatToDo } = type;
  const main = html`<h1>${title}</h1>
<p class="soft">Status ${status}, type <code>/problems/${slug}</code></p>
<section><h3>What it means</h3><p>${inline(meaning)}</p></section>
<section><h3>What to do</h3><p>${inline(whatToDo)}</p></section>
<section><h3>Example</h3>${json(problemExample(type))}</section>
<p><a href="/docs#tag/Problems">All problem types</a> · <a href="/docs">The API</a></p>`;
  return { title: `${title} (${status})`, main };
}
