/**
 * Jira Cloud, REST API 3. The fields that can be set, and their options, differ from issue to issue. The answer to a change has
 * no body, so the relay reads the field back. Follows the vendor's documentation and clients (docs/systems/jira.md). Nobody has
 * tried this connector on the vendor's own system.
 */

import { z } from 'zod';
import type { TicketingConnections } from '../../chain/kinds.js';
import { ConnectorError } from '../call.js';
import type { Answer } from '../http.js';
import { type Exchange, type Sorted, ticketingSettings } from '../session.js';
import type { Field, FieldType, TicketSystem, Value } from '../tickets.js';

const api = '/rest/api/3';

const fieldSchema = z.object({
  name: z.string(),
  schema: z.object({ type: z.string(), custom: z.string().nullish(), system: z.string().nullish() }).nullish(), // absent for `issuekey`
  allowedValues: z.array(z.object({ value: z.string().optional() }).catch({})).nullish(),
});
const allFieldsSchema = z.array(fieldSchema.extend({ id: z.string() }));
const editableSchema = z.object({ fields: z.record(z.string(), fieldSchema) });
const issueSchema = z.object({ fields: z.record(z.string(), z.unknown()) });
const errorsSchema = z.object({
  errorMessages: z.array(z.string()).default([]),
  errors: z.record(z.string(), z.string()).default({}),
  message: z.string().optional(), // only from api.atlassian.com
});

/** Why Jira can refuse to set a field. Its answer is the same for all three causes, and names only the first two. */
const causes =
  "the field is not on the edit screen of the issue, the issue does not have the field, or the relay's user has no right to edit the issue";
const remedy = `Find and fix the cause: ${causes}. Then retry`;

export function jira({ site, email, token, baseUrl }: TicketingConnections['jira']): TicketSystem {
  const own = baseUrl?.replace(/\/+$/, '');
  const origin = own ?? `https://${site}.atlassian.net`;

  return {
    name: 'Jira',
    fieldMinutes: 0,

    /**
     * A token without scopes works at the site, and a token with scopes only at the address with the cloud id. So the relay tries the
     * site first. It asks for `/myself`, because other paths may answer even if the token is wrong.
     */
    async access(read) {
      const access = { baseUrl: `${origin}${api}`, auth: { type: 'basic' as const, username: email, password: token } };
      try {
        await read(z.object({}), access, { path: '/myself', about: `the site ${site}` });
        return access;
      } catch (error) {
        if (!(error instanceof ConnectorError && error.facts.status === 401)) throw error;
        const asked = { path: '/_edge/tenant_info', about: `the site ${site}` };
        const { cloudId } = await read(z.object({ cloudId: z.guid() }), { baseUrl: origin }, asked).catch(() => {
          throw error;
        });
        return { ...access, baseUrl: `${own ?? 'https://api.atlassian.com'}/ex/jira/${cloudId}${api}` };
      }
    },

    sort: sorted,
    says: sentence,

    /** Accepts a key or an id without a look-up, because Jira also finds a moved issue by its old key. */
    async resolve(_, reference) {
      return /^(?:[a-z][a-z0-9_]*-)?\d{1,15}$/i.test(reference) ? [reference] : [];
    },

    /** Returns the editable fields. Adds other fields with other names, so that an error can name the causes. */
    async fields(session, ticketId) {
      const about = ticketId === undefined ? 'the fields' : `issue ${ticketId}`;
      const path = `/issue/${ticketId}/editmeta`;
      const editable = ticketId === undefined ? [] : Object.entries((await session.read(editableSchema, { path, about })).fields);
      const look = () => session.read(allFieldsSchema, { path: '/field', about: 'the fields' });
      // For a ticket, the other fields only make errors clearer. If the list is too long or unreadable, omit these fields.
      const others = ticketId === undefined ? await look() : await session.memory.of('all fields', () => look().catch(() => []));
      const fields = editable.map(([id, field]) => described(id, field));
      const names = new Set(editable.map(([, { name }]) => name));
      for (const { id, ...field } of others) {
        if (names.has(field.name)) continue;
        names.add(field.name);
        const fixed = ticketId !== undefined && { fixed: causes, remedy };
        fields.push({ ...described(id, field), ...fixed });
      }
      return fields;
    },

    async read(session, ticketId, { id }) {
      const path = `/issue/${ticketId}?fields=${encodeURIComponent(id)}`;
      const { fields } = await session.read(issueSchema, { path, about: `issue ${ticketId}` });
      return { value: fields[id] ?? null, ticket: undefined };
    },

    async write(session, ticketId, { id }, value) {
      const json = { fields: { [id]: value } };
      await session.ask({ method: 'PUT', path: `/issue/${ticketId}`, json, about: `issue ${ticketId}`, writes: true });
      return undefined;
    },

    forms: {
      instant: (time) => `${time.toISOString().slice(0, 19)}.000+0000`,
      choice: ({ value }) => ({ value }),
      'rich-text': documentOf,
    },
    plain: (value, { type }) => {
      if (type === 'rich-text') return textOf(value).trim();
      return type === 'choice' ? z.object({ value: z.string() }).safeParse(value).data?.value : undefined;
    },
  };
}

/** The key is the custom type, the name of the system field, or the simple type. `string` is missing: it may be a document. */
const types: Record<string, FieldType> = {
  textfield: 'text',
  url: 'text',
  summary: 'text',
  textarea: 'rich-text',
  description: 'rich-text',
  environment: 'rich-text',
  number: 'number',
  date: 'date',
  datetime: 'instant',
  select: 'choice',
  radiobuttons: 'choice',
  multiselect: 'choice',
  multicheckboxes: 'choice',
};

function described(id: string, { name, schema, allowedValues }: z.infer<typeof fieldSchema>): Field {
  const kind = schema?.custom?.split(':').at(-1) ?? schema?.system ?? '';
  const type = types[kind] ?? types[schema?.type ?? ''];
  const options = (allowedValues ?? []).flatMap(({ value }) => (value === undefined ? [] : [{ value, label: value }]));
  return {
    id,
    names: [name, id],
    type: type ?? 'text',
    ...(type === 'choice' && { options }),
    ...(schema?.type === 'array' && { list: true }),
    ...(type === 'text' && { maxLength: 255 }),
    ...(!type && { fixed: `the relay cannot set fields of the type ${kind || schema?.type || 'key'}` }),
  };
}

/** Each line is a paragraph, because Jira refuses an empty text node, and perhaps a text node with a line break. */
function documentOf(text: string): Value {
  const content = text
    .split(/\r\n?|\n/)
    .map((line) => ({ type: 'paragraph', ...(line !== '' && { content: [{ type: 'text', text: line }] }) }));
  return { version: 1, type: 'doc', content };
}

const nodeSchema = z.object({
  type: z.string(),
  text: z.string().optional(),
  content: z.array(z.unknown()).default([]),
  attrs: z.object({ text: z.string().optional() }).optional().catch(undefined),
});
const inside = ['paragraph', 'heading', 'codeBlock']; // These nodes contain parts of a line. Other nodes contain blocks.

/** The text of a document, without its formatting and its ids. */
function textOf(value: Value): string {
  const { data } = nodeSchema.safeParse(value);
  if (!data) return typeof value === 'string' ? value : JSON.stringify(value);
  const { type, text, content, attrs } = data;
  if (type === 'hardBreak') return '\n';
  if (content.length > 0) return content.map(textOf).join(inside.includes(type) ? '' : '\n');
  return text ?? attrs?.text ?? (type === 'doc' || inside.includes(type) ? '' : `[${type}]`);
}

function sentence({ json }: Answer): string | undefined {
  const { errorMessages = [], errors = {}, message } = errorsSchema.safeParse(json).data ?? {};
  const found = [...errorMessages, ...Object.values(errors), ...(message ? [message] : [])].join('; ');
  return found === '' ? undefined : found;
}

function sorted(answer: Answer, { path, about = '', writes }: Exchange): Sorted | undefined {
  const { status, headers } = answer;
  // With wrong credentials, Jira may answer as if nobody was logged in: with 404, or with 200 and fewer fields.
  const isAnonymous = /FAILED|DENIED/.test(String(headers['x-seraph-loginreason']));
  if (status < 300) return isAnonymous ? { as: 'moved' } : undefined;
  const says = sentence(answer) ?? answer.text.replace(/<[^<>]*>/g, ' ');
  const issue = /^\/issue\/([^/?]+)/.exec(path)?.[1];
  if (status === 401 || isAnonymous) return { as: 'moved', says };
  if (status === 404 && path === '/myself')
    return {
      as: 'refused',
      says,
      title: 'There is no Jira at this address',
      remedy: `Correct the site in ${ticketingSettings}, then retry`,
    };
  if (status === 404 && issue)
    return {
      ...{ as: 'missing', says, title: `Issue ${issue} does not exist at Jira, or the relay's user has no right to see it` },
      remedy: 'Correct the issue key, or give the user the right to see the issue, then retry',
    };
  if (status !== 400 || !writes) return undefined;
  if (/cannot be set/i.test(says))
    return { as: 'rights', says, title: `Jira does not let the relay set the field in ${about}`, remedy };
  return { as: 'refused', says, title: `Jira refused the change of ${about}` };
}
