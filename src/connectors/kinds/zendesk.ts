/**
 * Zendesk Support, API 2. A write contains the time of the last known change. After a newer change, Zendesk refuses the write.
 * Follows the vendor's documentation (docs/systems/zendesk.md). Nobody has tried this connector on the vendor's own system.
 */

import { z } from 'zod';
import type { TicketingConnections } from '../../chain/kinds.js';
import type { Answer } from '../http.js';
import { type Exchange, refused, type Sorted, ticketingSettings } from '../session.js';
import type { Field, FieldType, TicketSystem } from '../tickets.js';

const pageSize = 50; // The vendor allows 100. But fields with many options are long, and the relay reads at most 1 MiB of a page.

const fieldSchema = z.object({
  id: z.int(),
  type: z.string(),
  title: z.string(),
  active: z.boolean().default(true),
  custom_field_options: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});
const fieldsSchema = z.object({
  ticket_fields: z.array(fieldSchema),
  meta: z.object({ has_more: z.boolean(), after_cursor: z.string().nullish() }).nullish(),
});
const ticketSchema = z.object({
  id: z.int(),
  status: z.string(),
  updated_at: z.string(),
  custom_fields: z.array(z.object({ id: z.int(), value: z.unknown() })),
});
const answerSchema = z.object({ ticket: ticketSchema });
const errorSchema = z.object({
  error: z.union([z.string(), z.object({ title: z.string(), message: z.string() })]).nullish(),
  description: z.string().nullish(),
  /** The keys name what is wrong: `base`, or `status` for a closed ticket. */
  details: z.record(z.string(), z.array(z.object({ description: z.string() }))).nullish(),
});

export function zendesk({ subdomain, email, token, baseUrl }: TicketingConnections['zendesk']): TicketSystem {
  const origin = baseUrl?.replace(/\/+$/, '') ?? `https://${subdomain}.zendesk.com`;

  return {
    name: 'Zendesk',

    async access() {
      return { baseUrl: `${origin}/api/v2`, auth: { type: 'basic', username: `${email}/token`, password: token } };
    },

    sort: sorted,
    says: ({ json }) => sentence(json),

    async resolve(_, reference) {
      return /^\d{1,15}$/.test(reference) ? [reference] : [];
    },

    async fields(session) {
      const found: Field[] = [];
      let after: string | null | undefined = '';
      while (typeof after === 'string') {
        const path: string = `/ticket_fields.json?page[size]=${pageSize}${after && `&page[after]=${encodeURIComponent(after)}`}`;
        const page: z.infer<typeof fieldsSchema> = await session.read(fieldsSchema, { path, about: 'the ticket fields' });
        found.push(...page.ticket_fields.filter(({ active }) => active).map(described));
        after = page.meta?.has_more ? page.meta.after_cursor : undefined;
      }
      return found;
    },

    async read(session, ticketId, field) {
      const { ticket } = await session.read(answerSchema, { path: `/tickets/${ticketId}.json`, about: `ticket ${ticketId}` });
      return { value: valueIn(ticket, field), ticket };
    },

    async write(session, ticketId, field, value, before) {
      const { status, updated_at } = ticketSchema.parse(before);
      if (status === 'closed')
        throw refused(
          `ticket ${ticketId} is closed, and Zendesk does not change closed tickets; nothing was sent`,
          `Ticket ${ticketId} is closed at Zendesk`,
          'Use the number of an open ticket (such as a follow-up ticket), then retry; or skip the step',
        );
      const change = { custom_fields: [{ id: Number(field.id), value }], updated_stamp: updated_at, safe_update: true };
      const { ticket } = await session.read(answerSchema, {
        ...{ method: 'PUT', path: `/tickets/${ticketId}.json`, json: { ticket: change } },
        ...{ about: `ticket ${ticketId}`, writes: true },
      });
      return { value: valueIn(ticket, field) };
    },

    async quota(session) {
      const { headers } = await session.ask({ path: '/users/me.json' });
      const { 'x-rate-limit-remaining': left, 'x-rate-limit': all } = headers;
      return left === undefined ? undefined : `${left} of ${all} requests are left in this minute`;
    },

    // JSON would contain 1e-7 instead of 0.0000001, and Zendesk may refuse this form.
    forms: { number: (number) => (/e/.test(`${number}`) ? number.toFixed(20) : number) },
    // The value of a checkbox without a tick may be false or null.
    plain: (value, { type }) => (type === 'boolean' ? (value === true ? 'true' : '') : undefined),
  };
}

const types: Record<string, FieldType> = {
  text: 'text',
  textarea: 'text',
  regexp: 'text', // Only Zendesk checks the pattern, because a slow pattern would block the relay.
  integer: 'number',
  decimal: 'number',
  checkbox: 'boolean',
  date: 'date',
  tagger: 'choice',
  multiselect: 'choice',
};

/** No document says whether the API writes fields that agents may not edit. So the relay tries, and checks the answer. */
function described({ id, type, title, custom_field_options: options }: z.infer<typeof fieldSchema>): Field {
  const own = types[type];
  return {
    id: String(id),
    names: [title, String(id)],
    type: own ?? 'text',
    ...(own === 'choice' && { options: (options ?? []).map(({ name, value }) => ({ label: name, value })) }),
    ...(type === 'multiselect' && { list: true }),
    ...(type === 'integer' && { decimals: 0 }),
    ...(!own && { fixed: `the relay cannot set fields of the type ${type}` }),
  };
}

/** A ticket does not contain a field that has become inactive since the relay read the list of fields. */
const valueIn = ({ custom_fields }: z.infer<typeof ticketSchema>, field: Field): unknown =>
  custom_fields.find(({ id }) => String(id) === field.id)?.value ?? null;

function sentence(json: unknown): string | undefined {
  const { error, description, details } = errorSchema.safeParse(json).data ?? {};
  const mistakes = Object.values(details ?? {}).flat();
  if (mistakes.length > 0) return mistakes.map((mistake) => mistake.description).join('; ');
  return description ?? (typeof error === 'object' ? error?.message : error) ?? undefined;
}

function sorted({ status, json }: Answer, { about, writes }: Exchange): Sorted | undefined {
  const says = sentence(json);
  if (status === 404 && /help desk/i.test(says ?? ''))
    return {
      as: 'refused',
      says: says ?? '',
      title: 'There is no Zendesk at this address',
      remedy: `Correct the subdomain in ${ticketingSettings}, then retry`,
    };
  if (status === 422 && writes) return { as: 'refused', says: says ?? '', title: `Zendesk refused the change of ${about}` };
  return undefined;
}
