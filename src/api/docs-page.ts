/** The OpenAPI document as a page for people. */

import { html } from 'hono/html';
import { type ProblemSlug, problemTypeList, problemTypes } from '../contract/problem-types.js';
import type { Access } from './bearer-authentication.js';
import { link, tablesOf, typeOf } from './docs-schema.js';
import { type DescribedAnswer, type DescribedOperation, everywhere, type OpenApi, pathOf, problemsOf } from './openapi.js';
import { type Html, inline, json, prose } from './page.js';
import type { RouteDescription } from './route.js';

interface Operation {
  route: RouteDescription;
  described: DescribedOperation;
}

/** @param routes - those that the document describes. */
export function docsPage(document: OpenApi, routes: readonly RouteDescription[]): { title: string; main: Html } {
  const title = `${document.info.title} API`;
  const operations = routes.flatMap((route): Operation[] => {
    const described = document.paths[pathOf(route)]?.[route.method];
    return described ? [{ route, described }] : [];
  });
  const main = html`<h1>${title}</h1>
<p class="soft">Version ${document.info.version}, at <code>${document.servers[0]?.url ?? ''}</code>.
For programs: <a href="/openapi.json">openapi.json</a></p>
${prose(document.info.description)}
<nav>${document.tags.map(
    ({ name, description }) => html`<h2>${name}</h2><p>${inline(description)}</p>
<ul>${operations
      .filter(({ described }) => described.tags[0] === name)
      .map(({ route }) => html`<li><a href="#${route.id}">${heading(route)}</a> ${route.summary}</li>`)}</ul>`,
  )}
<h2>Further down</h2><ul class="plain"><li><a href="#schemas">Schemas</a></li><li><a href="#problems">Problems</a></li></ul></nav>
<h2>Endpoints</h2>
<p>Beside its own, every endpoint may answer with these problems: ${problems(everywhere)}</p>
${operations.map(endpoint)}
<h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas).map(
  ([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>
${prose(schema.description ?? '')}${schema.properties ? '' : html`<p>${typeOf(schema)}</p>`}${tablesOf(schema)}</section>`,
)}
<h2 id="problems">Problems</h2>
<p>Every error is a problem document: ${link('Problem')}. Its <code>type</code> is the path of a page that says what to do.</p>
<section><table>${problemTypeList.map(
    ({ slug, status, title, meaning }) =>
      html`<tr><td>${status}</td><td>${problems([slug])}</td><td>${title}. ${inline(meaning)}</td></tr>`,
  )}</table></section>`;
  return { title, main };
}

const accessTexts: Record<Access, string> = {
  public: 'Open to everybody.',
  'relay tokens':
    'Needs relayId and relayAccessToken in every action. ' +
    'A dry run shows more with the admin token or a key of the company as Authorization: Bearer …',
  'admin or company key': 'Needs the admin token or a key of the company as Authorization: Bearer …',
  admin: 'Needs the admin token as Authorization: Bearer …',
};

function endpoint({ route, described }: Operation): Html {
  const { parameters, requestBody } = described;
  const body = requestBody?.content['application/json']?.schema;
  const own = problemsOf(route).filter((slug) => !everywhere.some((other) => other === slug));
  return html`<section id="${route.id}">
<h3>${heading(route)}</h3>
<p>${route.summary}</p>
${prose(route.description ?? '')}
<p class="soft">${accessTexts[route.access]}</p>
${parameters.length > 0 ? html`<h4>Parameters</h4><table>${parameters.map(parameterRow)}</table>` : ''}
${
  body
    ? html`<h4>Body${requestBody?.required ? '' : ' (may be absent)'}</h4>
<p><code>application/json</code>: ${typeOf(body)}</p>${tablesOf(body)}`
    : ''
}
${Object.entries(route.examples ?? {}).map(
  ([name, { summary, value }]) =>
    html`<details><summary>Example <code>${name}</code>: ${summary}</summary>${json(value)}</details>`,
)}
<h4>Answers</h4><table>${Object.keys(route.answers).map((status) => answerRow(status, described.responses[status]))}</table>
${own.length > 0 ? html`<h4>Problems</h4><p>${problems(own)}</p>` : ''}
</section>`;
}

function parameterRow({ name, in: place, required, description, schema }: DescribedOperation['parameters'][number]): Html {
  return html`<tr><td><code>${name}</code></td><td>${place}${required ? ', required' : ''}</td>
<td>${typeOf(schema)}</td><td>${inline(description ?? '')}</td></tr>`;
}

function answerRow(status: string, answer: DescribedAnswer = { description: '' }): Html {
  const schema = answer.content?.['application/json']?.schema;
  const shown = schema ? html`${typeOf(schema)}${tablesOf(schema)}` : Object.keys(answer.content ?? {}).join();
  const headers = Object.entries(answer.headers ?? {}).map(
    ([name, { description }]) => html`<br><code>${name}</code>: ${inline(description)}`,
  );
  return html`<tr><td>${status}</td><td>${inline(answer.description)}${headers}</td><td>${shown}</td></tr>`;
}

function heading(route: RouteDescription): Html {
  return html`<code><span class="method">${route.method}</span> ${pathOf(route)}</code>`;
}

/** `400 invalid-body · 404 not-found`, with links. */
function problems(slugs: readonly ProblemSlug[]): Html {
  return html`${slugs.map(
    (slug, place) =>
      html`${place > 0 ? ' · ' : ''}${problemTypes[slug].status} <a href="/problems/${slug}"><code>${slug}</code></a>`,
  )}`;
}
