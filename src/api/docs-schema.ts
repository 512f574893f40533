/** JSON Schemas as the page at `/docs` shows them: tables of fields, and types in a few words. */

import { html } from 'hono/html';
import type { Schema } from './openapi.js';
import { type Html, inline } from './page.js';

/** What is in a schema: its fields, or those of each alternative, or its type. */
export function shape(schema: Schema): Html {
  const fields = fieldTable(schema);
  if (fields !== '') return fields;
  const alternatives = alternativesOf(schema).filter(({ properties }) => properties);
  if (alternatives.length === 0) return html`<p>${typeOf(schema)}</p>`;
  return html`${alternatives.map(
    (one, place) => html`${place > 0 ? html`<p>or</p>` : ''}${inline(one.description ?? '')}${fieldTable(one)}`,
  )}`;
}

/** The fields of an object, those of objects in it under dotted names. */
export function fieldTable(schema: Schema): Html | '' {
  const fields = fieldsOf(schema, '');
  if (fields.length === 0) return '';
  return html`<table>${fields.map(
    ({ name, required, schema }) =>
      html`<tr><td><code>${name}</code></td><td>${required ? 'required' : 'optional'}</td><td>${typeOf(schema)}</td><td>${inline(schema.description ?? '')}</td></tr>`,
  )}</table>`;
}

interface Field {
  name: string;
  required: boolean;
  schema: Schema;
}

function fieldsOf(schema: Schema, prefix: string): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return [];
    const path = `${prefix}${name}`;
    return [{ name: path, required: schema.required?.includes(name) ?? false, schema: property }, ...innerFields(property, path)];
  });
}

function innerFields(schema: Schema, path: string): Field[] {
  const items = schema.items;
  if (typeof items === 'object' && !Array.isArray(items)) return innerFields(items, `${path}[]`);
  const alternatives = alternativesOf(schema);
  const [only] = alternatives;
  if (alternatives.length === 1 && only) return innerFields(only, path);
  return fieldsOf(schema, `${path}.`);
}

/** Without `null`, which the type tells. */
function alternativesOf(schema: Schema): Schema[] {
  return [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter((one) => typeof one === 'object' && one.type !== 'null');
}

/** A schema in a few words. */
export function typeOf(schema: Schema): Html {
  return html`${words(schema)}${limits(schema)}`;
}

function words(schema: Schema): Html {
  if (schema.$ref !== undefined) return link(schema.$ref.replace(/^.*\//, ''));
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) return joined(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`));
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return joined(alternatives.map(words));
  if (schema.type === 'array') {
    const items = typeof schema.items === 'object' && !Array.isArray(schema.items) ? words(schema.items) : html`anything`;
    return html`array of ${items}`;
  }
  const type = Array.isArray(schema.type)
    ? schema.type.filter((one) => one !== 'null').join(' or ')
    : (schema.type ?? 'anything');
  return html`${schema.format === 'date-time' ? 'time' : schema.format === 'uri' ? 'URL' : type}`;
}

function limits(schema: Schema): string {
  const said = [
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
    schema.maxLength === undefined ? '' : `at most ${schema.maxLength} characters`,
    schema.maxItems === undefined ? '' : `at most ${schema.maxItems}`,
    schema.maximum === undefined ? '' : `${schema.minimum ?? 0} to ${schema.maximum}`,
  ].filter((text) => text !== '');
  const nullable = Array.isArray(schema.type) ? schema.type.includes('null') : schema.anyOf?.some((one) => one.type === 'null');
  return `${nullable ? ' or null' : ''}${said.length > 0 ? `, ${said.join(', ')}` : ''}`;
}

function joined(parts: Html[]): Html {
  return html`${parts.map((part, place) => html`${place > 0 ? ' or ' : ''}${part}`)}`;
}

export function link(name: string): Html {
  return html`<a href="#schema-${name}">${name}</a>`;
}
