/**
 * The simulator of Autotask PSA. The vendor has a host for each zone. Here, the zone is the first part of the path, such as
 * `/webservices3/`. Paths ignore case, as on the vendor's servers. The only query operator is `eq`.
 */

import { z } from 'zod';
import { keyedBy } from './records.js';
import { faultsOf, Refusal, refuse, type VendorContext, vendorApp, withCalls } from './vendor.js';

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

type Field = ReturnType<typeof named>;
type Ticket = ReturnType<typeof ticket>;

/** The credentials of a connector. A connector also sends the user name to look up its zone. */
export const autotaskCredentials = { userName: 'relay@example.com', secret: 'autotask-secret', integrationCode: 'RELAY123' };

const api = '/:zone{webservices\\d+}/atservicesrest/v1.0';

export function createAutotask({ doubts }: { doubts?: Partial<typeof autotaskDoubts> } = {}) {
  const is = { ...autotaskDoubts, ...doubts };
  const state = withCalls(firstState());

  const failed = (message: string, status = 500, headers = {}) =>
    new Refusal(status, { errors: [is.errorsAreObjects ? { message } : message] }, headers);
  const unauthorized = () => new Refusal(401, '');
  const tooManyRequests = () => {
    const retryAfter = is.retryAfterIsDate ? new Date(Date.now() + 60_000).toUTCString() : '60';
    return failed('The API request threshold for this database has been exceeded.', 429, { 'Retry-After': retryAfter });
  };
  const tooManyThreads = () => {
    const message = `The Autotask API thread threshold of ${state.limits.threads} threads has been exceeded.`;
    return failed(message, is.threadLimitIs429 ? 429 : 500);
  };
  /** The number of requests in the last hour. Removes older requests from the state. */
  const requestsUsed = () => {
    state.requests = state.requests.filter((at) => at > Date.now() - 3_600_000);
    return state.requests.length + state.requestsOfOthers;
  };

  const answers = {
    credentials: unauthorized,
    'rate-limit': tooManyRequests,
    threads: tooManyThreads,
    permission: () => failed('The logged in Resource does not have the adequate permissions to update this entity type.'),
    validation: () => failed('String value exceeds maximum length (field:Site note).'),
  };
  const faults = faultsOf(answers, 'zone-moved', 'dropped-field');

  const app = vendorApp({
    ...{ state, faults, answers, open: '/atservicesrest/' },
    guard: async (c) => {
      const [, zone = '', , , endpoint = ''] = new URL(c.req.url).pathname.toLowerCase().split('/');
      if (!/^webservices\d+$/.test(zone)) return undefined;
      if (faults.meets(c, 'zone-moved')) state.zone = state.zone === 3 ? 5 : 3;
      const { userName, secret, integrationCode } = state.credentials;
      const { username: user, secret: password, apiintegrationcode: code = '' } = c.req.header();
      if (zone !== `webservices${state.zone}` || user !== userName || password !== secret || code !== integrationCode)
        throw unauthorized();
      const used = requestsUsed();
      if (used >= state.limits.requestsAnHour) throw tooManyRequests();
      state.requests.push(Date.now());
      const key = `${code} ${endpoint}`;
      const running = state.threads.get(key) ?? 0;
      if (running >= state.limits.threads) throw tooManyThreads();
      state.threads.set(key, running + 1);
      if (used >= state.limits.requestsAnHour / 2) await faults.hold(state.limits.slowDownMs);
      return () => void state.threads.set(key, (state.threads.get(key) ?? 1) - 1);
    },
    noPath: (c) => new Refusal(404, { Message: `No HTTP resource was found that matches the request URI '${c.req.url}'.` }),
    noMethod,
    broken: (_, __, why) => failed(why),
    getPath: (request) => new URL(request.url).pathname.toLowerCase(),
  });

  const shown = ({ values, ...ticket }: Ticket) => {
    const isEmpty = Object.values(values).every((value) => value === null);
    if (isEmpty && is.emptyFieldsAreAbsent) return ticket;
    return { ...ticket, userDefinedFields: state.fields.map(({ name }) => ({ name, value: values[name] ?? null })) };
  };

  /** @returns the value as the simulator keeps and shows it */
  const accepted = (field: Field, value: string | number | null): string | null => {
    if (field.isReadOnly) throw failed(`The field is read only (field:${field.name}).`);
    if (field.isReference || field.isMultiSelect)
      throw failed(`Multi-select and reference user-defined fields are not supported (field:${field.name}).`);
    if (value === null) return null;
    const text = `${value}`;
    if (field.picklistValues?.some((item) => item.isActive && item.value === text)) return text;
    if (field.picklistValues) throw failed(`Picklist value [${text}] does not exist for ${field.name}.`);
    const { data, error } = forms[field.type].safeParse(text);
    if (error) throw failed(`The value is not a ${field.type === 'double' ? 'number' : 'date'} (field:${field.name}).`);
    if (typeof data === 'number') return is.numbersHaveDecimals ? data.toFixed(4) : `${data}`;
    if (field.type === 'datetime') return is.datesKeepTime ? data : data.replace(/T.*/, 'T00:00:00.000Z');
    if (text.length > field.length) throw failed(`String value exceeds maximum length (field:${field.name}).`);
    return text;
  };

  const matches = (ticket: Ticket, { field, value, udf }: z.infer<typeof filterSchema>): boolean => {
    const known: Record<string, unknown> = udf ? ticket.values : { ...ticket, values: undefined };
    const isKnown = udf ? state.fields.some(({ name }) => name === field) : known[field] !== undefined;
    if (!isKnown) throw failed(`Unable to find ${field} in the Ticket Entity.`);
    return `${known[field] ?? ''}` === `${value}`;
  };
  const query = (wanted: unknown) => {
    const { filter, MaxRecords } = querySchema.parse(wanted);
    if (filter.filter(({ udf }) => udf).length > 1) throw failed('Only one user-defined field can be queried at a time.');
    const found = [...state.tickets.values()].filter((ticket) => filter.every((part) => matches(ticket, part)));
    const items = found.slice(0, MaxRecords).map(shown);
    return { items, pageDetails: { count: items.length, requestCount: MaxRecords, prevPageUrl: null, nextPageUrl: null } };
  };

  const update = (c: VendorContext, { id, userDefinedFields, ...standard }: z.infer<typeof patchSchema>) => {
    const ticket = state.tickets.get(id) ?? refuse(failed(noRecords));
    const values: Ticket['values'] = {};
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
    .get(`${api}/thresholdinformation`, (c) => {
      const limit = { externalRequestThreshold: state.limits.requestsAnHour, requestThresholdTimeframe: 60 };
      return c.json({ ...limit, currentTimeframeRequestCount: requestsUsed() });
    })
    .get(`${api}/tickets/entityinformation/userdefinedfields`, (c) =>
      c.json({ fields: state.fields.map(({ isMultiSelect: _, ...field }) => field) }),
    )
    .post(`${api}/tickets/query`, async (c) => c.json(query(await c.req.json())))
    .get(`${api}/tickets/query`, (c) => c.json(query(JSON.parse(c.req.query('search') ?? ''))))
    .get(`${api}/tickets/:id{\\d+}`, (c) => {
      const ticket = state.tickets.get(Number(c.req.param('id')));
      if (!ticket && !is.missingTicketIsNull) throw failed('Resource not found.', 404);
      return c.json({ item: ticket ? shown(ticket) : null });
    })
    .patch(`${api}/tickets`, async (c) => {
      if (!is.ticketsCanBePatched) throw noMethod(c);
      return c.json(update(c, patchSchema.parse(await c.req.json())));
    });
  return {
    ...{ kind: 'autotask', settings: autotaskCredentials, paths: /^\/(webservices\d|atservicesrest)/i, app, state, faults },
    records: () => [...state.tickets.values()].map(({ ticketNumber: id, title, values }) => ({ id, title, fields: values })),
  };
}

const noRecords = 'No matching records found. The logged in Resource may not have the required permissions.';
const noMethod = (c: VendorContext) =>
  new Refusal(405, { Message: `The requested resource does not support http method '${c.req.method}'.` });

const scalar = z.union([z.string(), z.number()]);
const filterSchema = z.strictObject({ op: z.literal('eq'), field: z.string(), value: scalar, udf: z.boolean().default(false) });
const querySchema = z.strictObject({ filter: z.array(filterSchema).min(1), MaxRecords: z.int().min(1).max(500).default(500) });

const patchSchema = z.strictObject({
  ...{ id: z.int(), title: z.string().max(255).optional(), status: z.int().optional() },
  userDefinedFields: z.array(z.strictObject({ name: z.string(), value: scalar.nullable() })).default([]),
});

/** The form of each type, as text. */
const forms = {
  string: z.string(),
  double: z.string().trim().min(1).pipe(z.coerce.number()),
  datetime: z.iso
    .datetime({ local: true })
    .regex(/T(\d\d:){2}\d\d/)
    .transform((at) => new Date(at.replace(/Z?$/, 'Z')).toISOString()),
};

type Item = [value: string, label: string, isActive?: boolean];
/** The metadata does not contain `isMultiSelect`. */
const blankField = { length: 0, isReadOnly: false, isReference: false, isMultiSelect: false };
const named = (name: string, type: keyof typeof forms, more: Partial<typeof blankField> = {}, ...items: Item[]) => {
  const plain = { isDefaultValue: false, parentValue: '', isSystem: false };
  const values = items.map(([value, label, isActive = true], sortOrder) => ({ value, label, isActive, ...plain, sortOrder }));
  const picked = { isPickList: items.length > 0, picklistValues: items.length > 0 ? values : null };
  return { name, label: name, type, description: '', isRequired: false, isQueryable: true, ...blankField, ...more, ...picked };
};

const ticket = (id: number, ticketNumber: string, title: string, values: Record<string, string | null> = {}) => {
  return { id, ticketNumber, title, status: 1, values }; // values: the values of user-defined fields; the key is the field name
};

/** There is a field of each type. One picklist has numbers as values, another picklist has texts. */
function firstState() {
  const fields = [
    named('Arrival time', 'datetime'),
    named('Site note', 'string', { length: 50 }),
    named('Hours on site', 'double'),
    named('Visit result', 'string', { length: 8000 }, ['1', 'Done'], ['2', 'Return needed'], ['3', 'Cancelled', false]),
    named('Order process', 'string', { length: 8000 }, ['Quote Needed', '1-Quote Needed'], ['Approved', '2-Approved']),
    named('Skills', 'string', { length: 8000, isMultiSelect: true }, ['1', 'Cabling'], ['2', 'Wireless']),
    named('Site contact', 'string', { isReference: true }),
    named('Imported from', 'string', { length: 50, isReadOnly: true }),
  ];
  return {
    credentials: { ...autotaskCredentials },
    zone: 3,
    fields,
    tickets: keyedBy('id', [
      ticket(123456, 'T20260105.0674', 'Replace a broken till', { 'Site note': 'Ring twice' }),
      ticket(123457, 'T20260105.0675', 'Install two access points'),
    ]),
    threads: new Map<string, number>(), // the number of running calls, by integration code and endpoint
    requests: [] as number[], // the times of the counted requests, in Unix milliseconds
    limits: { threads: 3, requestsAnHour: 10_000, slowDownMs: 500 },
    requestsOfOthers: 0, // in the last hour
  };
}
