/**
 * The simulator of Autotask PSA. A zone of the vendor is a host; here, it is the first part of the path, such as `/webservices3/`.
 * Paths ignore case, as on the vendor's servers. The only query operator is `eq`.
 */

import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { Faults, Refusal, type Vendor, type VendorContext, type VendorState, vendorApp } from './vendor.js';

/** Questions about the vendor that no document answers. `true` and `false` select the behavior of the simulator. */
export const autotaskDoubts = {
  missingTicketIsNull: true, // true: `{"item":null}`; false: 404
  emptyFieldsAreAbsent: true, // true: no `userDefinedFields` if all are empty; false: each field is null
  unknownFieldIsIgnored: false, // true: 200 without an effect; false: 500
  ticketsCanBePatched: true, // false: 405
  datesKeepTime: true, // true: dates keep the time; false: the time becomes midnight
  numbersHaveDecimals: false, // true: "5.0000"; false: "5"
  errorsAreObjects: false, // true: the entries of `errors` are objects; false: strings
  threadLimitIs429: false, // the status if the limit of threads is reached; true: 429; false: 500
  retryAfterIsDate: false, // true: `Retry-After` is a date; false: a number of seconds
  zoneUrlEndsWithSlash: true,
};
export type AutotaskDoubt = keyof typeof autotaskDoubts;

const failures = ['credentials', 'rate-limit', 'threads', 'validation', 'permission', 'zone-moved', 'dropped-field'] as const;
export type AutotaskFailure = (typeof failures)[number];

export interface AutotaskField {
  name: string;
  label: string;
  type: 'string' | 'double' | 'datetime';
  length: number;
  isReadOnly: boolean;
  isReference: boolean;
  isMultiSelect: boolean; // the metadata does not show this property
  picklist: { value: string; label: string; isActive: boolean }[];
}

export interface AutotaskTicket {
  id: number;
  ticketNumber: string;
  title: string;
  status: number;
  values: Record<string, string | null>; // the values of user-defined fields; the key is the field name
}

export interface AutotaskState extends VendorState {
  credentials: typeof autotaskCredentials;
  zone: number;
  fields: AutotaskField[];
  tickets: Map<number, AutotaskTicket>;
  threads: Map<string, number>; // the number of running calls for each integration code and endpoint
  requests: number[]; // the times of the counted requests, in Unix milliseconds
  limits: { threads: number; requestsAnHour: number; slowDownMs: number };
  requestsOfOthers: number; // the requests of other integrations in the last hour
}

/** The credentials of a connector. A connector also sends the user name to look up its zone. */
export const autotaskCredentials = { userName: 'relay@example.com', secret: 'autotask-secret', integrationCode: 'RELAY123' };

const api = '/:zone{webservices\\d+}/atservicesrest/v1.0';

export function createAutotask(
  options: { credentials?: Partial<typeof autotaskCredentials>; doubts?: Partial<Record<AutotaskDoubt, boolean>> } = {},
): Vendor<AutotaskState, AutotaskFailure> {
  const is = { ...autotaskDoubts, ...options.doubts };
  const state = firstState({ ...autotaskCredentials, ...options.credentials });
  const faults = new Faults(failures);

  const failed = (message: string, status = 500, headers = {}) =>
    new Refusal(status, { errors: [is.errorsAreObjects ? { message } : message] }, headers);
  const unauthorized = () => new Refusal(401, '');
  const tooManyRequests = () => {
    const retryAfter = is.retryAfterIsDate ? new Date(Date.now() + 60_000).toUTCString() : '60';
    return failed('The API request threshold for this database has been exceeded.', 429, { 'Retry-After': retryAfter });
  };
  const tooManyThreads = () =>
    failed(
      `The Autotask API thread threshold of ${state.limits.threads} threads has been exceeded.`,
      is.threadLimitIs429 ? 429 : 500,
    );
  const notPermitted = () => failed('The logged in Resource does not have the adequate permissions to update this entity type.');

  const guard: MiddlewareHandler = async (c, next) => {
    const [, zone = '', , , endpoint = ''] = new URL(c.req.url).pathname.toLowerCase().split('/');
    if (!/^webservices\d+$/.test(zone)) return next();
    if (faults.meets(c, 'zone-moved')) state.zone = state.zone === 3 ? 5 : 3;
    const { userName, secret, integrationCode } = state.credentials;
    const { username: user, secret: password, apiintegrationcode: code = '' } = c.req.header();
    if (zone !== `webservices${state.zone}` || user !== userName || password !== secret || code !== integrationCode)
      throw unauthorized();
    const used = requestsUsed(state);
    if (used >= state.limits.requestsAnHour) throw tooManyRequests();
    state.requests.push(Date.now());
    const key = `${code} ${endpoint}`;
    const running = state.threads.get(key) ?? 0;
    if (running >= state.limits.threads) throw tooManyThreads();
    state.threads.set(key, running + 1);
    try {
      if (used >= state.limits.requestsAnHour / 2) await faults.hold(state.limits.slowDownMs);
      await next();
    } finally {
      state.threads.set(key, (state.threads.get(key) ?? 1) - 1);
    }
  };

  const app = vendorApp({
    state,
    faults,
    guard,
    open: '/atservicesrest/',
    answers: {
      credentials: unauthorized,
      'rate-limit': tooManyRequests,
      threads: tooManyThreads,
      permission: notPermitted,
      validation: () => failed('String value exceeds maximum length (field:Site note).'),
    },
    undocumented: (c, allowed) =>
      allowed.length > 0
        ? methodNotAllowed(c)
        : new Refusal(404, { Message: `No HTTP resource was found that matches the request URI '${c.req.url}'.` }),
    broken: (_, error) => failed(error instanceof z.ZodError ? z.prettifyError(error) : 'The request body is not valid JSON.'),
    getPath: (request) => new URL(request.url).pathname.toLowerCase(),
  });

  /** The ticket as an answer shows it. */
  const shown = ({ values, ...ticket }: AutotaskTicket) => {
    const isEmpty = Object.values(values).every((value) => value === null);
    if (isEmpty && is.emptyFieldsAreAbsent) return ticket;
    return { ...ticket, userDefinedFields: state.fields.map(({ name }) => ({ name, value: values[name] ?? null })) };
  };

  /** @returns the value as the simulator keeps and shows it */
  const accepted = (field: AutotaskField, value: string | number | null): string | null => {
    if (field.isReadOnly) throw failed(`The field is read only (field:${field.name}).`);
    if (field.isReference || field.isMultiSelect)
      throw failed(`Multi-select and reference user-defined fields are not supported (field:${field.name}).`);
    if (value === null) return null;
    const text = `${value}`;
    if (field.picklist.length > 0) {
      if (!field.picklist.some((item) => item.isActive && item.value === text))
        throw failed(`Picklist value [${text}] does not exist for ${field.name}.`);
      return text;
    }
    if (field.type === 'double') {
      if (text.trim() === '' || !Number.isFinite(Number(text))) throw failed(`The value is not a number (field:${field.name}).`);
      return is.numbersHaveDecimals ? Number(text).toFixed(4) : `${Number(text)}`;
    }
    if (field.type === 'datetime') {
      const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z?$/.test(text) ? Date.parse(text.replace(/Z?$/, 'Z')) : Number.NaN;
      if (Number.isNaN(at)) throw failed(`The value is not a date (field:${field.name}).`);
      const kept = new Date(at).toISOString();
      return is.datesKeepTime ? kept : `${kept.slice(0, 10)}T00:00:00.000Z`;
    }
    if (text.length > field.length) throw failed(`String value exceeds maximum length (field:${field.name}).`);
    return text;
  };

  const matches = (ticket: AutotaskTicket, { field, value, udf }: z.infer<typeof filterSchema>): boolean => {
    const known: Record<string, unknown> = udf ? ticket.values : { ...ticket, values: undefined };
    const isKnown = udf ? state.fields.some(({ name }) => name === field) : known[field] !== undefined;
    if (!isKnown) throw failed(`Unable to find ${field} in the Ticket Entity.`);
    return `${known[field] ?? ''}` === `${value}`;
  };
  const query = (wanted: unknown) => {
    const { filter, MaxRecords } = querySchema.parse(wanted);
    if (filter.filter(({ udf }) => udf).length > 1) throw failed('Only one user-defined field can be queried at a time.');
    const items = [...state.tickets.values()]
      .filter((ticket) => filter.every((part) => matches(ticket, part)))
      .slice(0, MaxRecords);
    const pageDetails = { count: items.length, requestCount: MaxRecords, prevPageUrl: null, nextPageUrl: null };
    return { items: items.map(shown), pageDetails };
  };

  const update = (c: VendorContext, { id, userDefinedFields = [], ...standard }: z.infer<typeof patchSchema>) => {
    const ticket = state.tickets.get(id);
    if (ticket === undefined)
      throw failed('No matching records found. The logged in Resource may not have the required permissions.');
    const values: AutotaskTicket['values'] = {};
    for (const { name, value } of userDefinedFields) {
      const field = state.fields.find((known) => known.name === name);
      if (field) values[name] = accepted(field, value);
      else if (!is.unknownFieldIsIgnored) throw failed(`Unable to find ${name} in the Ticket Entity.`);
    }
    if (!faults.meets(c, 'dropped-field'))
      state.tickets.set(id, { ...ticket, ...standard, values: { ...ticket.values, ...values } });
    return { itemId: id };
  };

  app
    .get('/atservicesrest/v1.0/zoneinformation', (c) => {
      if (c.req.query('user') !== state.credentials.userName) throw failed('Zone information could not be determined');
      const { origin } = new URL(c.req.url);
      const url = `${origin}/webservices${state.zone}/ATServicesRest${is.zoneUrlEndsWithSlash ? '/' : ''}`;
      return c.json({ zoneName: `Zone ${state.zone}`, url, webUrl: `${origin}/ww${state.zone}/`, ci: 12345 });
    })
    .get(`${api}/thresholdinformation`, (c) =>
      c.json({
        externalRequestThreshold: state.limits.requestsAnHour,
        requestThresholdTimeframe: 60,
        currentTimeframeRequestCount: requestsUsed(state),
      }),
    )
    .get(`${api}/tickets/entityinformation/userdefinedfields`, (c) => c.json({ fields: state.fields.map(metadata) }))
    .post(`${api}/tickets/query`, async (c) => c.json(query(await c.req.json())))
    .get(`${api}/tickets/query`, (c) => c.json(query(JSON.parse(c.req.query('search') ?? ''))))
    .get(`${api}/tickets/:id{\\d+}`, (c) => {
      const ticket = state.tickets.get(Number(c.req.param('id')));
      if (!ticket && !is.missingTicketIsNull) throw failed('Resource not found.', 404);
      return c.json({ item: ticket ? shown(ticket) : null });
    })
    .patch(`${api}/tickets`, async (c) => {
      if (!is.ticketsCanBePatched) throw methodNotAllowed(c);
      return c.json(update(c, patchSchema.parse(await c.req.json())));
    });
  return { kind: 'autotask', app, state, faults };
}

const methodNotAllowed = (c: VendorContext) =>
  new Refusal(405, { Message: `The requested resource does not support http method '${c.req.method}'.` });

const filterSchema = z.strictObject({
  op: z.literal('eq'),
  field: z.string(),
  value: z.union([z.string(), z.number()]),
  udf: z.boolean().default(false),
});
const querySchema = z.strictObject({ filter: z.array(filterSchema).min(1), MaxRecords: z.int().min(1).max(500).default(500) });

const patchSchema = z.strictObject({
  id: z.int(),
  title: z.string().max(255).optional(),
  status: z.int().optional(),
  userDefinedFields: z.array(z.strictObject({ name: z.string(), value: z.union([z.string(), z.number(), z.null()]) })).optional(),
});

const hourMs = 3_600_000;

/** The number of requests in the last hour. Removes older requests from the state. */
function requestsUsed(state: AutotaskState): number {
  state.requests = state.requests.filter((at) => at > Date.now() - hourMs);
  return state.requests.length + state.requestsOfOthers;
}

function metadata({ isMultiSelect: _, picklist, ...field }: AutotaskField) {
  const items = picklist.map((item, sortOrder) => ({
    ...item,
    isDefaultValue: false,
    sortOrder,
    parentValue: '',
    isSystem: false,
  }));
  const isPickList = picklist.length > 0;
  return {
    ...field,
    description: '',
    isRequired: false,
    isQueryable: true,
    isPickList,
    picklistValues: isPickList ? items : null,
  };
}

const blankField = { length: 0, isReadOnly: false, isReference: false, isMultiSelect: false, picklist: [] };
const named = (name: string, type: AutotaskField['type'], more: Partial<AutotaskField> = {}): AutotaskField => {
  return { name, label: name, type, ...blankField, ...more };
};
const listOf = (...items: [value: string, label: string, isActive?: boolean][]) => {
  return { length: 8000, picklist: items.map(([value, label, isActive = true]) => ({ value, label, isActive })) };
};

/** There is a field of each type. One picklist has numbers as values, another picklist has texts. */
function firstState(credentials: AutotaskState['credentials']): AutotaskState {
  const fields = [
    named('Arrival time', 'datetime'),
    named('Site note', 'string', { length: 50 }),
    named('Hours on site', 'double'),
    named('Visit result', 'string', listOf(['1', 'Done'], ['2', 'Return needed'], ['3', 'Cancelled', false])),
    named('Order process', 'string', listOf(['Quote Needed', '1-Quote Needed'], ['Approved', '2-Approved'])),
    named('Skills', 'string', { ...listOf(['1', 'Cabling'], ['2', 'Wireless']), isMultiSelect: true }),
    named('Site contact', 'string', { isReference: true }),
    named('Imported from', 'string', { length: 50, isReadOnly: true }),
  ];
  const ticket = (id: number, ticketNumber: string, title: string, values = {}): [number, AutotaskTicket] => {
    return [id, { id, ticketNumber, title, status: 1, values }];
  };
  return {
    calls: [],
    credentials,
    zone: 3,
    fields,
    tickets: new Map([
      ticket(123456, 'T20260105.0674', 'Replace a broken till', { 'Site note': 'Ring twice' }),
      ticket(123457, 'T20260105.0675', 'Install two access points'),
    ]),
    threads: new Map(),
    requests: [],
    limits: { threads: 3, requestsAnHour: 10_000, slowDownMs: 500 },
    requestsOfOthers: 0,
  };
}
