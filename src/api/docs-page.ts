/** The OpenAPI document as a page for people. */

import { html } from 'hono/html';
import { problemTypeList } from '../contract/problem-types.js';
import { fieldTable, link, shape, typeOf } from './docs-schema.js';
import type { DescribedAnswer, DescribedOperation, OpenApi, Parameter } from './openapi.js';
import { type Html, inline, json, prose } from './page.js';

export function docsPage(document: OpenApi): { title: string; main: Html } {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const everywhere = problemsOf(operations[0]?.operation).filter(({ slug }) =>
    operations.every(({ operation }) => problemsOf(operation).some((problem) => problem.slug === slug)),
  );
  const main = html`<h1>${document.info.title} API</h1>
<p class="soft">Version ${document.info.version}, at <code>${document.servers[0]?.url ?? ''}</code>. For programs: <a href="/openapi.json">openapi.json</a></p>
${prose(document.info.description)}
<nav>${document.tags.map(
    ({ name, description }) => html`<h2>${name}</h2><p>${inline(description)}</p>
<ul>${operations
      .filter(({ operation }) => operation.tags[0] === name)
      .map(
        ({ method, path, operation }) =>
          html`<li><a href="#${operation.operationId}"><code><span class="method">${method}</span> ${path}</code></a> ${operation.summary}</li>`,
      )}</ul>`,
  )}
<h2>Further down</h2><ul class="plain"><li><a href="#schemas">Schemas</a></li><li><a href="#problems">Problems</a></li></ul></nav>
<h2>Endpoints</h2>
<p>Beside its own, every endpoint may answer with these problems: ${problems(everywhere)}</p>
${operations.map(({ method, path, operation }) => endpoint(method, path, operation, everywhere))}
<h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas).map(
  ([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>
${schema.description === undefined ? '' : prose(schema.description)}${shape(schema)}</section>`,
)}
<h2 id="problems">Problems</h2>
<p>Every error is a problem document: ${link('Problem')}. Its <code>type</code> is the path of a page that says what to do.</p>
<section><table>${problemTypeList.map(
    ({ slug, status, title, meaning }) =>
      html`<tr><td>${status}</td><td><a href="/problems/${slug}"><code>${slug}</code></a></td><td>${title}. ${inline(meaning)}</td></tr>`,
  )}</table></section>`;
  return { title: `${document.info.title} API`, main };
}

function endpoint(method: string, path: string, operation: DescribedOperation, everywhere: readonly ProblemAnswer[]): Html {
  const { operationId, summary, description, security, parameters, requestBody, responses } = operation;
  const body = Object.values(requestBody?.content ?? {})[0];
  const own = problemsOf(operation).filter(({ slug }) => !everywhere.some((problem) => problem.slug === slug));
  const answers = Object.entries(responses).filter(([, answer]) => !isProblem(answer));
  return html`<section id="${operationId}">
<h3><code><span class="method">${method}</span> ${path}</code></h3>
<p>${summary}</p>
${description === undefined ? '' : prose(description)}
<p class="soft">${accessText(security)}</p>
${parameters ? html`<h4>Parameters</h4><table>${parameters.map(parameterRow)}</table>` : ''}
${
  body?.schema
    ? html`<h4>Body${requestBody?.required ? '' : ' (may be absent)'}</h4><p><code>application/json</code>: ${typeOf(body.schema)}</p>
${body.schema.$ref === undefined ? shape(body.schema) : ''}
${Object.entries(body.examples ?? {}).map(([name, example]) =>
  'summary' in example
    ? html`<details><summary>Example <code>${name}</code>: ${example.summary}</summary>${json(example.value)}</details>`
    : '',
)}`
    : ''
}
<h4>Answers</h4><table>${answers.map(([status, answer]) => answerRow(status, answer))}</table>
${own.length > 0 ? html`<h4>Problems</h4><p>${problems(own)}</p>` : ''}
</section>`;
}

/** Who may call it, as the security requirements say: `{}` is nobody in particular. */
function accessText(security: DescribedOperation['security']): string {
  if (security.length === 0) return 'Open to everybody.';
  const bearers = security.flatMap((requirement) => Object.keys(requirement)).map((name) => bearerNames[name] ?? name);
  const needed = `${bearers.join(' or ')} as Authorization: Bearer …`;
  return security.some((requirement) => Object.keys(requirement).length === 0)
    ? `Needs relayId and relayAccessToken in every action. A dry run shows more with ${needed}.`
    : `Needs ${needed}.`;
}

const bearerNames: Record<string, string> = { adminToken: 'the admin token', companyKey: 'a key of the company' };

function parameterRow({ name, in: place, required, description, schema }: Parameter): Html {
  return html`<tr><td><code>${name}</code></td><td>${place}${required ? ', required' : ''}</td><td>${typeOf(schema)}</td><td>${inline(description ?? '')}</td></tr>`;
}

interface ProblemAnswer {
  status: string;
  slug: string;
}

function isProblem({ content }: DescribedAnswer): boolean {
  return content?.['application/problem+json'] !== undefined;
}

function problemsOf(operation: DescribedOperation | undefined): ProblemAnswer[] {
  return Object.entries(operation?.responses ?? {}).flatMap(([status, { content }]) =>
    Object.keys(content?.['application/problem+json']?.examples ?? {}).map((slug) => ({ status, slug })),
  );
}

/** `400 invalid-body, not-an-array · 404 not-found`, with links. */
function problems(all: readonly ProblemAnswer[]): Html {
  const statuses = [...new Set(all.map(({ status }) => status))];
  return html`${statuses.map((status, place) => {
    const slugs = all.filter((problem) => problem.status === status).map(({ slug }) => slug);
    return html`${place > 0 ? ' · ' : ''}${status} ${slugs.map((slug) => html`<a href="/problems/${slug}"><code>${slug}</code></a> `)}`;
  })}`;
}

function answerRow(status: string, { description, headers, content }: DescribedAnswer): Html {
  const [mediaType, body] = Object.entries(content ?? {})[0] ?? [];
  const fields = body?.schema ? fieldTable(body.schema) : '';
  const shown = mediaType !== 'application/json' || !body?.schema ? (mediaType ?? '') : fields === '' ? typeOf(body.schema) : '';
  return html`<tr><td>${status}</td><td>${inline(description)} ${shown}${Object.entries(headers ?? {}).map(
    ([name, { description }]) => html`<br><code>${name}</code>: ${inline(description)}`,
  )}${fields}</td></tr>`;
}
