/**
 * Autotask PSA, REST API 1.0. Each customer has a zone with its own address. An error has status 500 and a readable text. Follows
 * the vendor's documentation (docs/systems/autotask.md). Nobody has tried this connector on the vendor's own system.
 */

import { z } from 'zod';
import type { TicketingConnections } from '../../chain/kinds.js';
import type { Answer } from '../http.js';
import { assertOwnHost, type Exchange, missing, type Sorted } from '../session.js';
import type { Field, FieldType, TicketSystem } from '../tickets.js';

const home = 'https://webservices.autotask.net';
const zoneHost = /^webservices\d*\.autotask\.net$/;

const optionSchema = z.object({ value: z.coerce.string(), label: z.string(), isActive: z.boolean().default(true) });
const fieldSchema = z.object({
  name: z.string(),
  label: z.string().nullish(),
  type: z.string(),
  length: z.number().nullish(),
  isReadOnly: z.boolean().nullish(),
  isReference: z.boolean().nullish(),
  isPickList: z.boolean().nullish(),
  picklistValues: z.array(optionSchema).nullish(),
});
const fieldsSchema = z.object({ fields: z.array(fieldSchema) });
const valuesSchema = z.array(z.object({ name: z.string(), value: z.unknown() }));
const ticketSchema = z.object({ item: z.object({ id: z.int(), userDefinedFields: valuesSchema.nullish() }).nullable() });
const foundSchema = z.object({ items: z.array(z.object({ id: z.int(), ticketNumber: z.string() })) });
const thresholdSchema = z.object({ externalRequestThreshold: z.number(), currentTimeframeRequestCount: z.number() });
const errorsSchema = z.object({
  errors: z.array(z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)])).min(1),
});

export function autotask({ userName, secret, integrationCode, baseUrl }: TicketingConnections['autotask']): TicketSystem {
  const headers = { username: userName, secret, apiintegrationcode: integrationCode };
  const own = baseUrl?.replace(/\/+$/, '');

  return {
    name: 'Autotask',
    // The vendor allows 10,000 calls an hour, and answers calls above 5000 more slowly. Connections with the same
    // `account` share the limits. It contains the password, so that a connection with a wrong password cannot use up the calls.
    limits: {
      account: [own ?? home, userName.toLowerCase(), integrationCode, secret].join('\n'),
      threads: 3,
      callsPerHour: 5000,
    },

    async access(read) {
      const path = `/ATServicesRest/V1.0/zoneInformation?user=${encodeURIComponent(userName)}`;
      const asked = { path, about: 'the zone of the user' };
      const { url } = await read(z.object({ url: z.url() }), { baseUrl: baseUrl ?? home }, asked);
      assertOwnHost('Autotask', url, zoneHost, baseUrl);
      return { baseUrl: `${url.replace(/\/+$/, '')}/V1.0`, headers, secrets: [secret, integrationCode] };
    },

    sort: sorted,

    async resolve(session, reference) {
      if (/^\d+$/.test(reference)) return [reference];
      const filter = [{ op: 'eq', field: 'ticketNumber', value: reference }];
      const json = { filter, MaxRecords: 2 };
      const exchange: Exchange = { method: 'POST', path: '/Tickets/query', json, about: `ticket ${reference}` };
      const { items } = await session.read(foundSchema, exchange);
      return items.filter(({ ticketNumber }) => ticketNumber === reference).map(({ id }) => String(id));
    },

    async fields(session) {
      const path = '/Tickets/entityInformation/userDefinedFields';
      const { fields } = await session.read(fieldsSchema, { path, about: 'the ticket fields' });
      return fields.map(({ name, label, type, length, isReadOnly, isReference, isPickList, picklistValues }): Field => {
        const fixed = isReadOnly
          ? 'it is read-only'
          : isReference
            ? 'it refers to another record, and the API cannot write such fields'
            : undefined;
        const options = (picklistValues ?? []).filter(({ isActive }) => isActive);
        return {
          id: name,
          names: [...new Set([name, label ?? name])],
          type: isPickList ? 'choice' : (types[type.toLowerCase()] ?? 'text'),
          ...(isPickList && { options }),
          ...(length && !isPickList && { maxLength: length }),
          ...(fixed && { fixed }),
        };
      });
    },

    async read(session, ticketId, field) {
      const about = `ticket ${ticketId}`;
      const { item } = await session.read(ticketSchema, { path: `/Tickets/${ticketId}`, about });
      if (!item) throw missing('Autotask', about);
      // The answer has no `userDefinedFields` if all of them are empty.
      return { value: item.userDefinedFields?.find(({ name }) => name === field.id)?.value ?? null, ticket: item };
    },

    async write(session, ticketId, field, value) {
      // Does not use PUT, because PUT empties all other fields.
      const change = { name: field.id, value: typeof value === 'number' ? String(value) : value };
      const json = { id: Number(ticketId), userDefinedFields: [change] };
      await session.ask({ method: 'PATCH', path: '/Tickets', json, about: `the change of ticket ${ticketId}`, writes: true });
      return undefined;
    },

    async quota(session) {
      const usage = await session.read(thresholdSchema, { path: '/ThresholdInformation' });
      const { externalRequestThreshold: all, currentTimeframeRequestCount: used } = usage;
      return `${all - used} of ${all} requests are left in this hour`;
    },
  };
}

const types: Record<string, FieldType> = { string: 'text', double: 'number', datetime: 'instant' };

/** Sorts a failure by its text, because mistakes, missing rights and the limit of threads all have the status 500. */
function sorted({ status, json, text, retryAfterSeconds }: Answer): Sorted | undefined {
  const read = errorsSchema.safeParse(json);
  const says = read.success ? read.data.errors.join('; ') : text;
  if (status === 401) return { as: 'moved' }; // The customer may have moved to another zone.
  if (/thread threshold|request threshold/i.test(says)) return { as: 'busy', says, retryAfterSeconds: retryAfterSeconds ?? 5 };
  if (status !== 500 || !read.success) return undefined;
  if (/zone information/i.test(says)) return { as: 'credentials', says };
  if (/permission/i.test(says)) return { as: 'rights', says };
  return { as: 'refused', says };
}
