/**
 * ConnectWise PSA, REST API 3.0. Its address contains the codebase, which changes with each release of the vendor. A PATCH replaces
 * all custom fields together. Follows the vendor's documentation and clients (docs/systems/connectwise.md). Nobody has tried this
 * connector on the vendor's own system.
 */

import { z } from 'zod';
import type { TicketingConnections } from '../../chain/kinds.js';
import { ConnectorError } from '../call.js';
import type { Answer } from '../http.js';
import { type Exchange, refused, type Session, type Sorted, ticketingSettings } from '../session.js';
import type { Field, FieldType, TicketSystem } from '../tickets.js';

const version = 'application/vnd.connectwise.com+json; version=2025.16'; // not the default, which is the newest
const pageSize = 1000; // the maximum that the vendor allows

const codebaseSchema = z.object({ Codebase: z.string().regex(/^v[0-9a-z_]+\/?$/i) }).nullable();
const fieldSchema = z.object({
  id: z.int(),
  caption: z.string(),
  fieldTypeIdentifier: z.string(),
  entryTypeIdentifier: z.string().nullish(),
  numberDecimals: z.int().nullish(),
  options: z.array(z.object({ optionValue: z.string(), inactiveFlag: z.boolean().nullish() })).nullish(),
});
/** Keeps unknown fields, because a write sends all fields back. */
const customFieldsSchema = z.array(z.looseObject({ id: z.int(), value: z.unknown() }));
const ticketSchema = z.object({ id: z.int(), customFields: customFieldsSchema.nullish() });
const errorSchema = z.object({
  code: z.string().nullish(),
  message: z.string(),
  errors: z.array(z.object({ message: z.string() })).nullish(),
});

export function connectwise(settings: TicketingConnections['connectwise']): TicketSystem {
  const { site, company, publicKey, privateKey, clientId, baseUrl } = settings;
  return {
    name: 'ConnectWise',
    nameLength: 12,

    async access(read) {
      const path = `/login/companyinfo/${encodeURIComponent(company)}`;
      const asked = { path, about: `the company ${company}` };
      const info = await read(codebaseSchema, { baseUrl: baseUrl ?? `https://${site}` }, asked);
      if (!info)
        throw refused(
          `${site} knows no company "${company}"`,
          `ConnectWise does not know the company "${company}"`,
          `Correct the site or the company in ${ticketingSettings}, then retry`,
        );
      const origin = baseUrl?.replace(/\/+$/, '') ?? `https://api-${site}`;
      return {
        baseUrl: `${origin}/${info.Codebase.replace('/', '')}/apis/3.0`,
        auth: { type: 'basic', username: `${company}+${publicKey}`, password: privateKey },
        headers: { accept: version, clientid: clientId },
        secrets: [publicKey, clientId],
      };
    },

    sort: sorted,
    says: ({ json }) => sentence(json).says,

    async resolve(session, reference) {
      if (!/^\d{1,10}$/.test(reference)) return [];
      for (const room of ['service', 'project']) {
        const ticket = await ticketOf(session, `${room}/${reference}`).catch((error: unknown) => {
          if (error instanceof ConnectorError && error.facts.status === 404) return undefined;
          throw error;
        });
        if (ticket) return [`${room}/${ticket.id}`];
      }
      await metadata(session); // Wrong credentials also cause a 404. This list always exists, so its 404 means wrong credentials.
      return [];
    },

    /** The metadata has the fields of all screens. A ticket has only its own fields. */
    async fields(session, ticketId) {
      const all = await metadata(session);
      if (ticketId === undefined)
        return all.filter((field, index) => all.findIndex(({ names }) => names[0] === field.names[0]) === index);
      const { customFields } = await ticketOf(session, ticketId);
      return all.filter(({ id }) => customFields?.some((shown) => String(shown.id) === id));
    },

    fieldsOf: (ticketId) => ticketId.split('/')[0] ?? '',

    async read(session, ticketId, field) {
      const { customFields } = await ticketOf(session, ticketId);
      const shown = customFields?.find(({ id }) => String(id) === field.id);
      if (shown) return { value: shown.value ?? null, ticket: customFields };
      throw refused(
        `ticket ${numberIn(ticketId)} has no field "${field.names[0]}" on its screen`,
        `Ticket ${numberIn(ticketId)} has no field "${field.names[0]}" at ConnectWise`,
        'Add the field to the screen of the ticket, or change cfName, then retry',
      );
    },

    async write(session, ticketId, field, value, before) {
      // ConnectWise may empty an omitted field, so the relay sends all fields as it read them. With a longer path, such as
      // `customFields/1/value`, ConnectWise would answer 200, but change nothing.
      const all = customFieldsSchema.parse(before).map((one) => (String(one.id) === field.id ? { ...one, value } : one));
      const { json } = await session.ask({
        ...{ method: 'PATCH', path: pathOf(ticketId), json: [{ op: 'replace', path: 'customFields', value: all }] },
        ...{ about: `the change of ticket ${numberIn(ticketId)}`, writes: true },
      });
      const shown = ticketSchema.safeParse(json).data?.customFields?.find(({ id }) => String(id) === field.id);
      return shown && { value: shown.value };
    },

    forms: {
      text: (text) => text.replace(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/g, ' '), // Line breaks are not supported.
      date: (day) => `${day}T00:00:00Z`, // A field of the type Date shows a day. Whether it keeps a time is not documented.
    },
  };
}

/** The relay's id of a ticket is `service/5000` or `project/5001`, because the two kinds have different paths and fields. */
const pathOf = (ticketId: string) => `/${ticketId.replace('/', '/tickets/')}`;
const numberIn = (ticketId: string) => ticketId.split('/')[1] ?? '';

const ticketOf = (session: Session, ticketId: string) =>
  session.read(ticketSchema, { path: pathOf(ticketId), about: `ticket ${numberIn(ticketId)}` });

const types: Record<string, FieldType> = { Number: 'number', Percent: 'number', Checkbox: 'boolean', Date: 'date' };

/** Fields that are read-only on the screen may be writable through the API. So the relay tries, and ConnectWise decides. */
async function metadata(session: Session): Promise<Field[]> {
  const found: z.infer<typeof fieldSchema>[] = [];
  for (let page = 1; found.length === (page - 1) * pageSize; page++) {
    const path = `/system/userDefinedFields?pageSize=${pageSize}&page=${page}`;
    found.push(...(await session.read(z.array(fieldSchema), { path, about: 'the custom fields' })));
  }
  return found.map(({ id, caption, fieldTypeIdentifier, entryTypeIdentifier, numberDecimals, options }): Field => {
    const isChoice = /^(list|option)$/i.test(entryTypeIdentifier ?? '');
    const active = (options ?? []).filter(({ inactiveFlag }) => !inactiveFlag);
    return {
      id: String(id),
      names: [caption, String(id)],
      type: isChoice ? 'choice' : (types[fieldTypeIdentifier] ?? 'text'),
      ...(isChoice && { options: active.map(({ optionValue }) => ({ value: optionValue, label: optionValue })) }),
      ...(types[fieldTypeIdentifier] === 'number' && typeof numberDecimals === 'number' && { decimals: numberDecimals }),
      ...(fieldTypeIdentifier === 'Button' && { fixed: 'it is a button' }),
    };
  });
}

function sentence(json: unknown): { code?: string | undefined; says?: string } {
  const { data } = errorSchema.safeParse(json);
  if (!data) return {};
  const { code, message, errors } = data;
  return { code: code ?? undefined, says: errors?.length ? errors.map((error) => error.message).join('; ') : message };
}

/** A 404 has three possible causes: the codebase is old, the ticket does not exist, or the credentials are wrong. */
function sorted({ status, json }: Answer, { path }: Exchange): Sorted | undefined {
  const { code, says } = sentence(json);
  if (code === 'Security')
    return {
      as: 'refused',
      title: 'ConnectWise accepts no calls at this address',
      remedy: `In ${ticketingSettings}, set the address that begins with api-, then retry`,
      ...(says && { says }),
    };
  if (status !== 404) return undefined;
  const ticket = /\/tickets\/(\d+)/.exec(path)?.[1];
  return {
    as: 'moved',
    ...(says && { says }),
    ...(ticket && {
      title: `Ticket ${ticket} does not exist at ConnectWise`,
      remedy: `Check the number, and the keys in ${ticketingSettings}, then retry`,
    }),
  };
}
