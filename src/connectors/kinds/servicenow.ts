/**
 * ServiceNow, Table API. Column names, labels and options are in the instance's own tables. In queries and in changes,
 * ServiceNow ignores a column that does not exist, and answers 200. Follows the vendor's documentation and clients
 * (docs/systems/servicenow.md). Nobody has tried this connector on the vendor's own system.
 */

import { z } from 'zod';
import type { TicketingConnections } from '../../chain/kinds.js';
import type { Answer } from '../http.js';
import { refused, type Session, type Sorted, ticketingSettings } from '../session.js';
import type { Field, FieldType, TicketSystem } from '../tickets.js';

/** With `sysparm_exclude_reference_link`, all values are texts. */
const rowSchema = z.record(z.string(), z.string());
const errorSchema = z.object({ error: z.object({ message: z.string(), detail: z.string().nullish() }) });

/** Types of columns that the relay can write and compare. */
const types: Record<string, FieldType> = {
  ...{ string: 'text', string_full_utf8: 'text', multi_two_lines: 'text', wide_text: 'text' },
  ...{ html: 'text', url: 'text', email: 'text', phone_number: 'text', ph_number: 'text' },
  ...{ integer: 'number', longint: 'number', decimal: 'number', float: 'number', boolean: 'boolean' },
  ...{ glide_date: 'date', glide_date_time: 'instant', due_date: 'instant' },
};
const decimals: Record<string, number> = { integer: 0, longint: 0, decimal: 2, float: 7 };
const whyFixed: Record<string, string> = {
  reference: 'it refers to another record',
  glide_list: 'it refers to other records',
  journal_input: 'it is a journal, whose entries cannot be compared',
  journal: 'it is a journal, whose entries cannot be compared',
};

const extended = ['', 'super_class.', 'super_class.super_class.', 'super_class.super_class.super_class.'].map(
  (path) => `${path}name`,
);

export function servicenow(settings: TicketingConnections['servicenow']): TicketSystem {
  const { instance, userName, password, table = 'incident', baseUrl = `https://${instance}.service-now.com` } = settings;

  function rows(session: Session, from: string, query: string, columns: readonly string[], about: string, limit?: number) {
    const parameters = new URLSearchParams({
      ...{ sysparm_query: query, sysparm_fields: columns.join(','), sysparm_exclude_reference_link: 'true' },
      ...(limit && { sysparm_limit: String(limit) }),
    });
    const schema = z.object({ result: z.array(rowSchema) });
    return session.read(schema, { path: `/${from}?${parameters}`, about }).then(({ result }) => result);
  }

  /** The path of a ticket and one of its columns. If the answer omits the column, the user has no right to read it. */
  const one = (ticketId: string, { id }: Field) =>
    `/${table}/${ticketId}?sysparm_fields=${id}&sysparm_exclude_reference_link=true`;
  const oneSchema = z.object({ result: rowSchema });

  return {
    name: 'ServiceNow',

    async access() {
      const auth = { type: 'basic', username: userName, password } as const;
      return { baseUrl: `${baseUrl.replace(/\/+$/, '')}/api/now/table`, auth };
    },

    sort: sorted,
    says: ({ json }) => sentence(json),

    async resolve(session, reference) {
      if (/^[0-9a-f]{32}$/i.test(reference)) return [reference.toLowerCase()];
      // In a query, `^` begins another condition, and `javascript:` begins a script.
      if (!/^[\p{L}\p{N} ._#/-]+$/u.test(reference)) return [];
      const about = `ticket ${reference}`;
      const found = await rows(session, table, `number=${reference}`, ['sys_id', 'number'], about, 2);
      if (found.some(({ number }) => number?.toLowerCase() !== reference.toLowerCase()))
        throw refused(
          `ServiceNow ignored the condition of the query: it answered with records other than ${about}`,
          `ServiceNow cannot find a ticket by its number in the table ${table}`,
          `Give the relay's user the right to read the column "number" of the table ${table}, or use the sys_id of the ticket, then retry`,
        );
      return found.flatMap(({ sys_id }) => sys_id ?? []);
    },

    async fields(session) {
      const hidden = (shown: string) =>
        refused(
          `ServiceNow shows the relay's user no row for the table ${table} in ${shown}`,
          `ServiceNow does not show the columns of the table ${table}`,
          `Check the table in ${ticketingSettings}. Give the relay's user the right to read sys_db_object, sys_dictionary and sys_choice, then retry`,
        );
      const about = `the columns of ${table}`;
      const [lineage] = await rows(session, 'sys_db_object', `name=${table}`, extended, about, 1);
      if (lineage?.name !== table) throw hidden('sys_db_object');
      const tables = extended.flatMap((path) => lineage[path] || []);
      const within = `nameIN${tables.join(',')}`;
      const wanted = ['element', 'column_label', 'internal_type', 'max_length', 'choice'];
      const columns = await rows(session, 'sys_dictionary', `${within}^elementISNOTEMPTY^active=true`, wanted, about);
      if (columns.length === 0) throw hidden('sys_dictionary');
      const active = `${within}^language=en^inactive=false^ORDERBYsequence`;
      const choices = await rows(session, 'sys_choice', active, ['name', 'element', 'value', 'label'], `the options of ${table}`);
      return columns.map((column) => {
        // If a table has options for a column, the options of its parent tables do not count.
        const own = (table: string) => choices.filter(({ name, element }) => name === table && element === column.element);
        return fieldOf(column, tables.map(own).find(({ length }) => length > 0) ?? []);
      });
    },

    async read(session, ticketId, field) {
      const { result } = await session.read(oneSchema, { path: one(ticketId, field), about: `ticket ${ticketId}` });
      const value = result[field.id];
      if (value !== undefined) return { value, ticket: undefined };
      throw refused(
        `ServiceNow does not show the column ${field.id} of ticket ${ticketId}`,
        `ServiceNow does not let the relay's user read "${field.names[0]}"`,
        `Give the user the right to read and to write ${table}.${field.id}, then retry`,
      );
    },

    async write(session, ticketId, field, value) {
      const { json } = await session.ask({
        ...{ method: 'PATCH', path: one(ticketId, field), json: { [field.id]: value ?? '' } },
        ...{ about: `the change of ticket ${ticketId}`, writes: true },
      });
      const shown = oneSchema.safeParse(json).data?.result[field.id];
      return shown === undefined ? undefined : { value: shown };
    },

    forms: {
      instant: (time) => time.toISOString().slice(0, 19).replace('T', ' '), // UTC
      number: (number) => number.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 7 }), // never 1e-7
    },
  };
}

function fieldOf(column: z.infer<typeof rowSchema>, choices: z.infer<typeof rowSchema>[]): Field {
  const { element = '', column_label: label, internal_type: type = '', max_length: length, choice } = column;
  // `choice` 1 and 3 mean a list, with and without an empty option. 2 means suggestions, so any other text is also allowed.
  const isChoice = choice === '1' || choice === '3';
  const known = isChoice ? 'choice' : types[type];
  const fixed = element.startsWith('sys_')
    ? 'ServiceNow itself sets this field'
    : isChoice && choices.length === 0
      ? "the relay's user cannot read the options of the field in sys_choice"
      : known
        ? undefined
        : (whyFixed[type] ?? `the relay does not know the type ${type}`);
  return {
    id: element,
    names: [...new Set([label || element, element])],
    type: known ?? 'text',
    ...(isChoice && { options: choices.map(({ value = '', label = value }) => ({ value, label })) }),
    ...(known === 'text' && Number(length) > 0 && { maxLength: Number(length) }),
    ...(known === 'number' && { decimals: decimals[type] ?? 0 }),
    ...(fixed && { fixed }),
  };
}

function sentence(json: unknown): string | undefined {
  const { data } = errorSchema.safeParse(json);
  return data && [data.error.message, data.error.detail].filter(Boolean).join(': ');
}

/** A 403 can come from a rule or a policy of the customer. Then more rights do not help. */
function sorted({ status, json }: Answer): Sorted | undefined {
  const says = sentence(json) ?? '';
  if (status === 403 && /business rule|data policy/i.test(says)) return { as: 'refused', says };
  if (status === 400 && /^Invalid table/.test(says))
    return {
      as: 'refused',
      says,
      title: 'ServiceNow does not have this table',
      remedy: `Correct the table in ${ticketingSettings}, then retry`,
    };
  return undefined;
}
