/** JSON Schemas as the page at `/docs` shows them: a type in a few words, and tables of the fields in it. */

import { html } from 'hono/html';
import type { Schema } from './openapi.js';
import { type Html, inline } from './page.js';

/** Such as `array of string, at most 50`. */
export function typeOf(schema: Schema): Html {
  return html`${words(schema)}${limits(schema)}`;
}

/** The fields of the objects in it, a table for each. */
export function tablesOf(schema: Schema): Html {
  const parts = schema.type === 'array' ? [schema.items] : alternativesOf(schema);
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, asSchema(field)] as const);
  const rows = fields.map(
    ([name, field]) => html`<tr><td><code>${name}</code></td><td>${schema.required?.includes(name) ? 'required' : 'optional'}</td>
<td>${typeOf(field)}</td><td>${inline(field.description ?? '')}${tablesOf(field)}</td></tr>`,
  );
  return html`${rows.length > 0 ? html`<table>${rows}</table>` : ''}${parts.map((part) => tablesOf(asSchema(part)))}`;
}

export function link(name: string): Html {
  return html`<a href="#schema-${name}">${name}</a>`;
}

function words(schema: Schema): Html {
  if (schema.$ref !== undefined) return link(schema.$ref.replace(/^.*\//, ''));
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

/**
 * JSON Schema knows `true` too, which stands for anything, and several schemas for the items of an array; zod writes neither
 * here.
 */
function asSchema(schema: Schema['items'] | Schema['not']): Schema {
  return typeof schema === 'object' && !Array.isArray(schema) ? schema : {};
}

function joined(parts: Html[]): Html {
  return html`${parts.map((part, place) => html`${place > 0 ? ' or ' : ''}${part}`)}`;
}
