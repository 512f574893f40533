/**
 * The simulator of ConnectWise PSA: service and project tickets, their custom fields, and the company's codebase (the first
 * part of the paths). Lists have pages. The simulator refuses the parameter `conditions`.
 */

import { z } from 'zod';
import { basicAuth } from './credentials.js';
import { keyedBy, named, withoutMillis } from './records.js';
import { faultsOf, Refusal, refuse, urlWith, type VendorContext, vendorApp, withCalls } from './vendor.js';

export const connectwiseDoubts = {
  omittedFieldsAreKept: false, // true: a PATCH of `customFields` keeps the omitted fields; false: these fields become empty
  wrongCredentialsAre404: false, // false: 401
  readOnlyFieldsAreRefused: false, // false: read-only fields can be written, because the guide says that they are for API use
  datesKeepTime: true, // true: dates keep the time; false: the time becomes midnight
  isCloudIsText: false, // true: the text "True"; false: a boolean
};

type Field = ReturnType<typeof field>;
type Ticket = ReturnType<typeof ticket>;

/** `company` is the name with which the company logs in. */
export const connectwiseCredentials = {
  ...{ company: 'example', publicKey: 'public-key', privateKey: 'private-key', clientId: '7c3ad1c1-1c5c-4ac5-8b0a-4a0b2f8a2f10' },
};

const api = '/:codebase{v[0-9_a-z]+}/apis/3.0';
/** The id of the ticket screen. */
const ticketPod = 1;

export function createConnectwise({ doubts }: { doubts?: Partial<typeof connectwiseDoubts> } = {}) {
  const is = { ...connectwiseDoubts, ...doubts };
  const state = withCalls(firstState());

  const refusal = (status: number, code: string, message: string, errors: object[] | null = null) =>
    new Refusal(status, { code, message, errors });
  const missing = (what: string) => refusal(404, 'ConnectWiseApi', `${what} does not exist.`);
  const invalid = (code: string, message: string) => {
    const error = { code, message, resource: 'ticket', field: 'customFields' };
    return refusal(400, 'InvalidObject', 'ticket object is invalid', [error]);
  };
  const unauthorized = () =>
    is.wrongCredentialsAre404 ? missing('The resource') : refusal(401, 'ConnectWiseApi', 'UserNotAuthenticated');

  const answers = {
    credentials: unauthorized,
    'rate-limit': () => new Refusal(429, tooManyRequests, { 'Retry-After': '30' }),
    validation: () => invalid('InvalidField', 'The custom field is not valid.'),
    permission: () => refusal(403, 'ConnectWiseApi', 'You do not have permission for this resource.'),
    conflict: () => refusal(409, 'ConnectWiseApi', 'The record is in use.'),
    'server-error': () => refusal(500, 'InternalError', 'An unexpected error has occurred.'),
    'wrong-host': () => refusal(403, 'Security', 'SSL is required.'),
  };
  const faults = faultsOf(answers, 'codebase-moved', 'dropped-field');

  const app = vendorApp({
    ...{ state, faults, answers, open: '/login/' },
    guard: async (c) => {
      const [, codebase = '', apis] = new URL(c.req.url).pathname.split('/');
      if (apis !== 'apis') return undefined;
      if (faults.meets(c, 'codebase-moved')) state.codebase = state.codebase === 'v2025_1/' ? 'v2025_2/' : 'v2025_1/';
      if (![state.codebase, 'v4_6_release/'].includes(`${codebase}/`)) throw missing('The endpoint');
      const { company, publicKey, privateKey, clientId } = state.credentials;
      if (c.req.header('authorization') !== basicAuth(`${company}+${publicKey}`, privateKey)) throw unauthorized();
      if (c.req.header('clientid') !== clientId) throw refusal(401, 'ConnectWiseApi', 'ClientId is missing or not valid.');
      return undefined;
    },
    noPath: () => missing('The endpoint'),
    noMethod: (c) => refusal(405, 'ConnectWiseApi', `The resource does not support the method ${c.req.method}.`),
    broken: (_, __, why) => refusal(400, 'InvalidRequest', why.replace('request body', 'body')),
  });

  const ticketFields = () => state.fields.filter(({ podId }) => podId === ticketPod);
  const shown = ({ id, room, summary, status, lastUpdated, values }: Ticket) => ({
    ...{ id, summary, recordType: room === 'service' ? 'ServiceTicket' : 'ProjectTicket', status },
    customFields: ticketFields().map(({ id, caption, ...field }) => {
      const { fieldTypeIdentifier: type, entryTypeIdentifier: entryMethod, numberDecimals: numberOfDecimals } = field;
      return { id, caption, type, entryMethod, numberOfDecimals, value: values[id] ?? null };
    }),
    _info: { lastUpdated, updatedBy: 'relay' },
  });

  /** @returns the value as the simulator keeps and shows it */
  const accepted = (field: Field, value: Value): Value => {
    const { fieldTypeIdentifier: type, caption, options, numberDecimals } = field;
    const wrong = (why?: string) => invalid('InvalidField', `${caption} ${why}`);
    if (type === 'Button') throw wrong('is a button and has no value.');
    if (field.readOnlyFlag && is.readOnlyFieldsAreRefused) throw wrong('is read only.');
    if (value === null) return null;
    if (options.length > 0 && !options.some((option) => !option.inactiveFlag && option.optionValue === value))
      throw wrong(`has no option "${value}".`);
    const { data = null, error } = (forms[type] ?? oneLine).safeParse(value);
    if (error) throw wrong(error.issues[0]?.message);
    if (typeof data === 'number') return Number(data.toFixed(numberDecimals));
    return type === 'Date' && !is.datesKeepTime ? `${data}`.replace(/T.*/, 'T00:00:00Z') : data;
  };

  const ticketsOf = (c: VendorContext) => [...state.tickets.values()].filter(({ room }) => room === c.req.param('room'));
  const found = (c: VendorContext) =>
    ticketsOf(c).find(({ id }) => `${id}` === c.req.param('id')) ?? refuse(missing(`Ticket ${c.req.param('id')}`));

  /** Changes only `customFields` and `summary`. As at the vendor, a path such as `customFields/0/value` changes nothing. */
  const update = (c: VendorContext, operations: z.infer<typeof patchSchema>) => {
    let ticket = found(c);
    for (const { op, path, value } of operations) {
      if (path === 'summary') ticket = { ...ticket, summary: z.string().min(1).max(100).parse(value) };
      if (path !== 'customFields') continue;
      const values: Ticket['values'] = is.omittedFieldsAreKept ? { ...ticket.values } : {};
      for (const entry of customFieldsSchema.parse(op === 'remove' ? [] : value)) {
        const field = ticketFields().find(({ id }) => id === entry.id);
        if (field === undefined) throw invalid('NotFound', `Custom field ${entry.id} does not exist.`);
        const isSame = entry.value === (ticket.values[entry.id] ?? null);
        values[entry.id] = isSame ? entry.value : accepted(field, entry.value);
      }
      ticket = { ...ticket, values };
    }
    if (!faults.meets(c, 'dropped-field')) state.tickets.set(ticket.id, { ...ticket, lastUpdated: withoutMillis() });
    return shown(state.tickets.get(ticket.id) ?? ticket);
  };

  const paged = (c: VendorContext, records: unknown[]): Response => {
    const { page, pageSize } = pageSchema.parse(c.req.query());
    const isLast = page * pageSize >= records.length;
    const headers = isLast ? undefined : { Link: `<${urlWith(c, 'page', page + 1)}>; rel="next"` };
    return c.json(records.slice((page - 1) * pageSize, page * pageSize), 200, headers);
  };

  app
    .get('/login/companyinfo/:company', (c) => {
      if (c.req.param('company') !== state.credentials.company) return c.json(null);
      const { codebase: Codebase } = state;
      const version = { VersionCode: Codebase.replace('_', '.').replace('/', ''), VersionNumber: 'v4.6.100000' };
      const isCloud = Codebase !== 'v4_6_release/';
      const IsCloud = is.isCloudIsText ? (isCloud ? 'True' : 'False') : isCloud;
      return c.json({ CompanyName: 'Example Company', CompanyID: 'EX', Codebase, ...version, IsCloud });
    })
    .get(`${api}/system/userDefinedFields`, (c) => paged(c, state.fields))
    .get(`${api}/:room{service|project}/tickets`, (c) => paged(c, ticketsOf(c).map(shown)))
    .get(`${api}/:room{service|project}/tickets/:id{\\d+}`, (c) => {
      const wanted = c.req.query('fields')?.split(',');
      return c.json(Object.fromEntries(Object.entries(shown(found(c))).filter(([name]) => wanted?.includes(name) ?? true)));
    })
    .patch(`${api}/:room{service|project}/tickets/:id{\\d+}`, async (c) =>
      c.json(update(c, patchSchema.parse(await c.req.json()))),
    );
  const captionOf = (key: string) => state.fields.find((field) => field.id === Number(key))?.caption;
  return {
    ...{ kind: 'connectwise', paths: /^\/(login|v[^/]+\/apis)\//, app, state, faults },
    settings: { ...connectwiseCredentials, site: 'na.myconnectwise.net' },
    records: () =>
      [...state.tickets.values()].map(({ id, summary: title, values }) => ({ id, title, fields: named(values, captionOf) })),
  };
}

const tooManyRequests = { error: 'ConnectWiseAPI', message: 'Too many requests. Please try again in 30 seconds.' };

const operations = z.enum(['add', 'replace', 'remove']);
const patchSchema = z.array(z.strictObject({ op: operations, path: z.string().min(1), value: z.unknown().optional() })).min(1);
const valueSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);
type Value = z.infer<typeof valueSchema>;
/** Ignores the caption and the type that a client sends back with a value. */
const customFieldsSchema = z.array(z.object({ id: z.int(), value: valueSchema }));
const count = z.coerce.number().int().min(1);
const pageSchema = z.strictObject({ page: count.default(1), pageSize: count.max(1000).default(25) });

/** `forms` has the forms of some field types. All other types have the form `oneLine`. */
const text = z.string('must be a text.');
const oneLine = text.transform((lines) => lines.replace(/\r\n|[\r\n]/g, ' '));
const number = z.union([z.number(), z.string().trim().min(1).pipe(z.coerce.number())], 'must be a number.');
const date = text.pipe(z.iso.datetime({ precision: 0, error: 'must be a date in the form yyyy-MM-ddTHH:mm:ssZ.' }));
const forms: Record<string, z.ZodType<Value>> = {
  ...{ Checkbox: z.boolean('must be true or false.'), Number: number, Percent: number, Date: date },
};

/** `podId` is the screen that has the field. */
const blankField = {
  ...{ podId: ticketPod, numberDecimals: 0, entryTypeIdentifier: 'EntryField' },
  ...{ requiredFlag: false, displayOnScreenFlag: true, readOnlyFlag: false, listViewFlag: false },
};
const field = (id: number, caption: string, type: string, more: Partial<typeof blankField> = {}, ...options: string[]) => ({
  ...{ id, caption, sequenceNumber: id - 27, fieldTypeIdentifier: type, ...blankField, ...more },
  options: options.map((optionValue, index) => ({ id: id * 100 + index, optionValue, inactiveFlag: false })),
});
const ticket = (id: number, room: string, summary: string, values: Record<number, Value> = {}) => {
  return { id, room, summary, status: { id: 1, name: 'New' }, lastUpdated: '2026-01-05T09:00:00Z', values };
};

/** There is a field of each type and each entry type. A field on another screen also has the caption `Arrival`. */
function firstState() {
  return {
    credentials: { ...connectwiseCredentials },
    codebase: 'v2025_1/',
    fields: [
      field(28, 'Arrival', 'Date'),
      field(29, 'Site note', 'Text'),
      field(30, 'Report', 'TextArea'),
      field(31, 'Hours', 'Number', { numberDecimals: 2 }),
      field(32, 'Progress', 'Percent'),
      field(33, 'Visited', 'Checkbox'),
      field(34, 'Result', 'Text', { entryTypeIdentifier: 'List' }, 'Done', 'Return needed'),
      field(35, 'Weather', 'Text', { entryTypeIdentifier: 'Option' }, 'Dry', 'Wet'),
      field(36, 'Photos', 'Hyperlink'),
      field(37, 'Open map', 'Button'),
      field(38, 'Relay id', 'Text', { readOnlyFlag: true }),
      field(39, 'Arrival', 'Date', { podId: 2 }),
    ],
    tickets: keyedBy('id', [
      ticket(5000, 'service', 'Replace a broken till', { 29: 'Ring twice', 33: false }),
      ticket(5001, 'project', 'Install two access points'),
    ]),
  };
}
