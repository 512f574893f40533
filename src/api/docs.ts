/** The documentation of the API: the OpenAPI document, `/docs` made from it, and a page for each type of problem. */

import { html } from 'hono/html';
import { z } from 'zod';
import { type ProblemSlug, problemTypeList, problemTypes } from '../contract/problem-types.js';
import { ruleFileJsonSchema } from '../contract/rule-file.js';
import type { Access } from './bearer-authentication.js';
import {
  type DescribedAnswer,
  type DescribedOperation,
  everywhere,
  type OpenApi,
  openApi,
  pathOf,
  problemExample,
  problemsOf,
  type Schema,
  tagOf,
} from './openapi.js';
import { type Html, inline, json, prose, sendPage } from './page.js';
import { found } from './problems.js';
import { type ApiOptions, type Route, route } from './route.js';

/** @param others - the other routes, which the documentation also describes */
export function docsRoutes({ links }: Pick<ApiOptions, 'links'>, others: readonly Route[]): Route[] {
  const page: Route['answers'] = { 200: ['A page.', 'text/html'] };
  const routes: Route[] = [
    route.anyone('GET /openapi.json', 'getOpenApi', 'Read the OpenAPI document', {
      answers: { 200: ['OpenAPI 3.1.', z.looseObject({ openapi: z.string() })] },
      handle: (c) => c.json(document),
    }),
    route.anyone('GET /schemas/rule.json', 'getRuleFileSchema', 'Read the JSON Schema of rules as files', {
      description: 'With it, an editor completes the fields of a YAML file that `relay rules pull` wrote.',
      answers: { 200: ['JSON Schema, draft 7.', z.looseObject({ $schema: z.string() })] },
      handle: (c) => c.json(ruleSchema),
    }),
    route.anyone('GET /docs', 'getDocs', 'Read the documentation of the API', {
      answers: page,
      handle: (c) => sendPage(c, docsPage(document, all)),
    }),
    route.anyone('GET /problems/:slug', 'getProblemType', 'Read the meaning of a problem type, and what to do', {
      answers: page,
      handle(c, { slug }) {
        const type = problemTypeList.find((type) => type.slug === slug);
        return sendPage(c, problemPage(found(type, `problem type ${slug}`)));
      },
    }),
  ];
  const ruleSchema = ruleFileJsonSchema();
  const all = [...others, ...routes];
  const document = openApi(links.api, all);
  return routes;
}

function docsPage(document: OpenApi, routes: readonly Route[]): { title: string; main: Html } {
  const title = `${document.info.title} API`;
  const main = html`<h1>${title}</h1>
<p class="soft">Version ${document.info.version}, at <code>${document.servers[0]?.url ?? ''}</code>.
For programs: <a href="/openapi.json">openapi.json</a></p>
${prose(document.info.description)}
<nav>${document.tags.map(
    ({ name, description }) => html`<h2>${name}</h2><p>${inline(description)}</p>
<ul>${routes
      .filter((route) => tagOf(route) === name)
      .map((route) => html`<li><a href="#${route.id}">${heading(route)}</a> ${route.summary}</li>`)}</ul>`,
  )}
<h2>More</h2><ul class="plain"><li><a href="#schemas">Schemas</a></li><li><a href="#problems">Problems</a></li></ul></nav>
<h2>Endpoints</h2>
<p>Every endpoint may also answer with these problems: ${problems(everywhere)}</p>
${routes.map((route) => {
  const described = document.paths[pathOf(route)]?.[route.method];
  return described && endpoint(route, described);
})}
<h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas).map(
  ([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>
${prose(schema.description ?? '')}${schema.properties ? '' : html`<p>${typeOf(schema)}</p>`}${tablesOf(schema)}</section>`,
)}
<h2 id="problems">Problems</h2>
<p>Every error is a problem document: ${words({ $ref: 'Problem' })}.
Its <code>type</code> is the path of a page that says what to do.</p>
<section><table>${problemTypeList.map(
    ({ slug, status, title, meaning }) =>
      html`<tr><td>${status}</td><td>${problems([slug])}</td><td>${title}. ${inline(meaning)}</td></tr>`,
  )}</table></section>`;
  return { title, main };
}

const accessTexts: Record<Access, string> = {
  public: 'Needs no token.',
  'relay tokens':
    'Needs relayId and relayAccessToken in every action. ' +
    'A dry run shows more with the admin token or a key of the company as Authorization: Bearer …',
  'admin or company key': 'Needs the admin token or a key of the company as Authorization: Bearer …',
  'admin or author key':
    'Needs the admin token, or a key of the company with the role `author` or `manage`, as Authorization: Bearer …',
  'admin or manage key': 'Needs the admin token, or a key of the company with the role `manage`, as Authorization: Bearer …',
  admin: 'Needs the admin token as Authorization: Bearer …',
  'admin or this machine': 'Needs the admin token as Authorization: Bearer …, except from the same machine.',
};

function endpoint(route: Route, { parameters, requestBody, responses }: DescribedOperation): Html {
  const body = requestBody?.content['application/json']?.schema;
  const own = problemsOf(route);
  return html`<section id="${route.id}">
<h3>${heading(route)}</h3>
<p>${route.summary}</p>
${prose(route.description ?? '')}
<p class="soft">${accessTexts[route.access]}</p>
${parameters.length > 0 && html`<h4>Parameters</h4><table>${parameters.map(parameterRow)}</table>`}
${body && html`<h4>Body${requestBody?.required ? '' : ' (optional)'}</h4>`}
${body && html`<p><code>application/json</code>: ${typeOf(body)}</p>${tablesOf(body)}`}
${Object.entries(route.examples ?? {}).map(
  ([name, { summary, value }]) =>
    html`<details><summary>Example <code>${name}</code>: ${summary}</summary>${json(value)}</details>`,
)}
<h4>Answers</h4><table>${Object.keys(route.answers).map((status) => answerRow(status, responses[status]))}</table>
${own.length > 0 && html`<h4>Problems</h4><p>${problems(own)}</p>`}
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

function heading(route: Route): Html {
  return html`<code><span class="method">${route.method}</span> ${pathOf(route)}</code>`;
}

/** For example `400 invalid-body · 404 not-found`, with links. */
function problems(slugs: readonly ProblemSlug[]): Html {
  const links = slugs.map((slug) => html`${problemTypes[slug].status} <a href="/problems/${slug}"><code>${slug}</code></a>`);
  return joined(links, ' · ');
}

/** For example `array of string, at most 50`. */
function typeOf(schema: Schema): Html {
  return html`${words(schema)}${limits(schema)}`;
}

/** A table of fields for each object in the schema. */
function tablesOf(schema: Schema): Html {
  const parts = schema.type === 'array' ? [schema.items] : alternativesOf(schema);
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, asSchema(field)] as const);
  const rows = fields.map(
    ([name, field]) => html`<tr><td><code>${name}</code></td><td>${schema.required?.includes(name) ? 'required' : 'optional'}</td>
<td>${typeOf(field)}</td><td>${inline(field.description ?? '')}${tablesOf(field)}</td></tr>`,
  );
  return html`${rows.length > 0 ? html`<table>${rows}</table>` : ''}${parts.map((part) => tablesOf(asSchema(part)))}`;
}

function words(schema: Schema): Html {
  const name = schema.$ref?.replace(/^.*\//, '');
  if (name !== undefined) return html`<a href="#schema-${name}">${name}</a>`;
  const values = schema.const === undefined ? schema.enum : [schema.const];
  if (values) return joined(values.map((value) => html`<code>${JSON.stringify(value)}</code>`));
  if (schema.type === 'array') return html`array of ${words(asSchema(schema.items))}`;
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return joined(alternatives.map(words));
  const plain = { 'date-time': 'time', uri: 'URL' }[schema.format ?? ''] ?? schema.type ?? 'anything';
  return html`${[plain].flat().join(' or ')}`;
}

function limits({ default: standard, maxLength, maxItems, minimum, maximum }: Schema): string {
  return [
    standard === undefined ? '' : `, default ${JSON.stringify(standard)}`,
    maxLength === undefined ? '' : `, at most ${maxLength} characters`,
    maxItems === undefined ? '' : `, at most ${maxItems}`,
    maximum === undefined ? '' : `, ${minimum ?? 0} to ${maximum}`,
  ].join('');
}

function alternativesOf({ anyOf = [], oneOf = [] }: Schema): Schema[] {
  return [...anyOf, ...oneOf].map(asSchema);
}

/** JSON Schema also allows `true` as a schema, and an array of schemas as `items`. zod writes neither form. */
function asSchema(schema: Schema['items'] | Schema['not']): Schema {
  return typeof schema === 'object' && !Array.isArray(schema) ? schema : {};
}

function joined(parts: Html[], by = ' or '): Html {
  return html`${parts.map((part, place) => html`${place > 0 ? by : ''}${part}`)}`;
}

function problemPage(type: (typeof problemTypeList)[number]): { title: string; main: Html } {
  const { slug, status, title, meaning, whatToDo } = type;
  const main = html`<h1>${title}</h1>
<p class="soft">Status ${status}, type <code>/problems/${slug}</code></p>
<section><h3>What it means</h3><p>${inline(meaning)}</p></section>
<section><h3>What to do</h3><p>${inline(whatToDo)}</p></section>
<section><h3>Example</h3>${json(problemExample(type))}</section>
<p><a href="/docs#problems">All problem types</a> · <a href="/docs">The API</a></p>`;
  return { title: `${title} (${status})`, main };
}
