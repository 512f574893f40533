/**
 * The simulator of ConnectWise PSA: service and project tickets, their custom fields, and the company's codebase. Lists have pages.
 * The simulator refuses the parameter `conditions`.
 */

import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { Faults, Refusal, type Vendor, type VendorContext, type VendorState, vendorApp } from './vendor.js';

/** Questions about the vendor that no document answers. `true` and `false` select the behavior of the simulator. */
export const connectwiseDoubts = {
  omittedFieldsAreKept: false, // true: a PATCH of `customFields` keeps the omitted fields; false: these fields become empty
  wrongCredentialsAre404: false, // false: 401
  readOnlyFieldsAreRefused: false, // false: such fields can be written, because the guide says that they are for API use
  datesKeepTime: true, // true: dates keep the time; false: the time becomes midnight
  isCloudIsText: false, // true: the text "True"; false: a boolean
};
export type ConnectwiseDoubt = keyof typeof connectwiseDoubts;

const failures = [
  'credentials',
  'rate-limit',
  'validation',
  'permission',
  'conflict',
  'server-error',
  'wrong-host',
  'codebase-moved',
  'dropped-field',
] as const;
export type ConnectwiseFailure = (typeof failures)[number];

type Value = string | number | boolean | null;

/** A custom field as the metadata shows it. */
export interface ConnectwiseField {
  id: number;
  podId: number; // the screen that has the field
  caption: string; // up to 12 characters
  sequenceNumber: number;
  fieldTypeIdentifier: 'Text' | 'TextArea' | 'Number' | 'Percent' | 'Date' | 'Checkbox' | 'Hyperlink' | 'Button';
  numberDecimals: number;
  entryTypeIdentifier: 'EntryField' | 'List' | 'Option';
  requiredFlag: boolean;
  displayOnScreenFlag: boolean;
  readOnlyFlag: boolean;
  listViewFlag: boolean;
  options: { id: number; optionValue: string; inactiveFlag: boolean }[];
}

export interface ConnectwiseTicket {
  id: number;
  room: 'service' | 'project';
  summary: string;
  status: { id: number; name: string };
  lastUpdated: string;
  values: Record<number, Value>; // the values of custom fields; the key is the field id
}

export interface ConnectwiseState extends VendorState {
  credentials: typeof connectwiseCredentials;
  codebase: string; // ends with a slash, such as `v2025_1/`
  fields: ConnectwiseField[];
  tickets: Map<number, ConnectwiseTicket>;
}

export const connectwiseCredentials = {
  company: 'example', // the name with which the company logs in
  publicKey: 'public-key',
  privateKey: 'private-key',
  clientId: '7c3ad1c1-1c5c-4ac5-8b0a-4a0b2f8a2f10',
};

const api = '/:codebase{v[0-9_a-z]+}/apis/3.0';
/** The id of the ticket screen. */
const ticketPod = 1;

export function createConnectwise(
  options: { credentials?: Partial<typeof connectwiseCredentials>; doubts?: Partial<Record<ConnectwiseDoubt, boolean>> } = {},
): Vendor<ConnectwiseState, ConnectwiseFailure> {
  const is = { ...connectwiseDoubts, ...options.doubts };
  const state = firstState({ ...connectwiseCredentials, ...options.credentials });
  const faults = new Faults(failures);

  const refusal = (status: number, code: string, message: string, headers = {}) =>
    new Refusal(status, { code, message, errors: null }, headers);
  const missing = (what: string) => refusal(404, 'ConnectWiseApi', `${what} does not exist.`);
  const invalid = (code: string, message: string, field: string) =>
    new Refusal(400, {
      code: 'InvalidObject',
      message: 'ticket object is invalid',
      errors: [{ code, message, resource: 'ticket', field }],
    });
  const unauthorized = () =>
    is.wrongCredentialsAre404 ? missing('The resource') : refusal(401, 'ConnectWiseApi', 'UserNotAuthenticated');

  const guard: MiddlewareHandler = async (c, next) => {
    const [, codebase = '', apis] = new URL(c.req.url).pathname.split('/');
    if (apis !== 'apis') return next();
    if (faults.meets(c, 'codebase-moved')) state.codebase = state.codebase === 'v2025_1/' ? 'v2025_2/' : 'v2025_1/';
    if (![state.codebase, 'v4_6_release/'].includes(`${codebase}/`)) throw missing('The endpoint');
    const { company, publicKey, privateKey, clientId } = state.credentials;
    const keys = Buffer.from(`${company}+${publicKey}:${privateKey}`).toString('base64');
    if (c.req.header('authorization') !== `Basic ${keys}`) throw unauthorized();
    if (c.req.header('clientid') !== clientId) throw refusal(401, 'ConnectWiseApi', 'ClientId is missing or not valid.');
    await next();
  };

  const app = vendorApp({
    state,
    faults,
    guard,
    open: '/login/',
    answers: {
      credentials: unauthorized,
      'rate-limit': () => new Refusal(429, tooManyRequests, { 'Retry-After': '30' }),
      validation: () => invalid('InvalidField', 'The custom field is not valid.', 'customFields'),
      permission: () => refusal(403, 'ConnectWiseApi', 'You do not have permission for this resource.'),
      conflict: () => refusal(409, 'ConnectWiseApi', 'The record is in use.'),
      'server-error': () => refusal(500, 'InternalError', 'An unexpected error has occurred.'),
      'wrong-host': () => refusal(403, 'Security', 'SSL is required.'),
    },
    undocumented: (c, allowed) =>
      allowed.length > 0
        ? refusal(405, 'ConnectWiseApi', `The resource does not support the method ${c.req.method}.`)
        : missing('The endpoint'),
    broken: (_, error) =>
      refusal(400, 'InvalidRequest', error instanceof z.ZodError ? z.prettifyError(error) : 'The body is not valid JSON.'),
  });

  const ticketFields = () => state.fields.filter(({ podId }) => podId === ticketPod);
  /** The ticket as an answer shows it. */
  const shown = ({ id, room, summary, status, lastUpdated, values }: ConnectwiseTicket) => ({
    id,
    summary,
    recordType: room === 'service' ? 'ServiceTicket' : 'ProjectTicket',
    status,
    customFields: ticketFields().map((field) => ({
      id: field.id,
      caption: field.caption,
      type: field.fieldTypeIdentifier,
      entryMethod: field.entryTypeIdentifier,
      numberOfDecimals: field.numberDecimals,
      value: values[field.id] ?? null,
    })),
    _info: { lastUpdated, updatedBy: 'relay' },
  });

  /** @returns the value as the simulator keeps and shows it */
  const accepted = (field: ConnectwiseField, value: Value): Value => {
    const { fieldTypeIdentifier: type, caption, options } = field;
    const wrong = (why: string) => invalid('InvalidField', `${caption} ${why}`, 'customFields');
    if (type === 'Button') throw wrong('is a button and has no value.');
    if (field.readOnlyFlag && is.readOnlyFieldsAreRefused) throw wrong('is read only.');
    if (value === null) return null;
    if (options.length > 0 && !options.some((option) => !option.inactiveFlag && option.optionValue === value))
      throw wrong(`has no option "${value}".`);
    if (type === 'Checkbox') {
      if (typeof value !== 'boolean') throw wrong('must be true or false.');
      return value;
    }
    if (type === 'Number' || type === 'Percent') {
      if (typeof value === 'boolean' || `${value}`.trim() === '' || !Number.isFinite(Number(value)))
        throw wrong('must be a number.');
      return Number(Number(value).toFixed(field.numberDecimals));
    }
    if (typeof value !== 'string') throw wrong('must be a text.');
    if (type !== 'Date') return value.replace(/\r\n|[\r\n]/g, ' ');
    const isDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) && !Number.isNaN(Date.parse(value));
    if (!isDate) throw wrong('must be a date in the form yyyy-MM-ddTHH:mm:ssZ.');
    return is.datesKeepTime ? value : `${value.slice(0, 10)}T00:00:00Z`;
  };

  const found = (c: VendorContext): ConnectwiseTicket => {
    const { room, id = '' } = c.req.param();
    const ticket = state.tickets.get(Number(id));
    if (ticket === undefined || ticket.room !== room) throw missing(`Ticket ${id}`);
    return ticket;
  };

  /** Changes only `customFields` and `summary`. As at the vendor, a path such as `customFields/0/value` changes nothing. */
  const update = (c: VendorContext, operations: z.infer<typeof patchSchema>) => {
    let ticket = found(c);
    for (const { op, path, value } of operations) {
      if (path === 'summary') ticket = { ...ticket, summary: z.string().min(1).max(100).parse(value) };
      if (path !== 'customFields') continue;
      const values: ConnectwiseTicket['values'] = is.omittedFieldsAreKept ? { ...ticket.values } : {};
      for (const entry of customFieldsSchema.parse(op === 'remove' ? [] : value)) {
        const field = ticketFields().find(({ id }) => id === entry.id);
        if (field === undefined) throw invalid('NotFound', `Custom field ${entry.id} does not exist.`, 'customFields');
        const isSame = entry.value === (ticket.values[entry.id] ?? null);
        values[entry.id] = isSame ? entry.value : accepted(field, entry.value);
      }
      ticket = { ...ticket, values };
    }
    if (!faults.meets(c, 'dropped-field')) state.tickets.set(ticket.id, { ...ticket, lastUpdated: now() });
    return shown(state.tickets.get(ticket.id) ?? ticket);
  };

  const paged = (c: VendorContext, records: unknown[]): Response => {
    const { page, pageSize } = pageSchema.parse(c.req.query());
    const isLast = page * pageSize >= records.length;
    const next = new URL(c.req.url);
    next.searchParams.set('page', `${page + 1}`);
    const headers = isLast ? undefined : { Link: `<${next}>; rel="next"` };
    return c.json(records.slice((page - 1) * pageSize, page * pageSize), 200, headers);
  };

  app
    .get('/login/companyinfo/:company', (c) => {
      if (c.req.param('company') !== state.credentials.company) return c.json(null);
      const version = state.codebase.replace('_', '.').replace('/', '');
      const isCloud = state.codebase !== 'v4_6_release/';
      return c.json({
        CompanyName: 'Example Company',
        Codebase: state.codebase,
        VersionCode: version,
        VersionNumber: 'v4.6.100000',
        CompanyID: 'EX',
        IsCloud: is.isCloudIsText ? (isCloud ? 'True' : 'False') : isCloud,
      });
    })
    .get(`${api}/system/userDefinedFields`, (c) => paged(c, state.fields))
    .get(`${api}/:room{service|project}/tickets`, (c) => {
      const tickets = [...state.tickets.values()].filter(({ room }) => room === c.req.param('room'));
      return paged(c, tickets.map(shown));
    })
    .get(`${api}/:room{service|project}/tickets/:id{\\d+}`, (c) => {
      const wanted = c.req.query('fields')?.split(',');
      return c.json(Object.fromEntries(Object.entries(shown(found(c))).filter(([name]) => wanted?.includes(name) ?? true)));
    })
    .patch(`${api}/:room{service|project}/tickets/:id{\\d+}`, async (c) => {
      return c.json(update(c, patchSchema.parse(await c.req.json())));
    });
  return { kind: 'connectwise', app, state, faults };
}

const tooManyRequests = { error: 'ConnectWiseAPI', message: 'Too many requests. Please try again in 30 seconds.' };

const patchSchema = z
  .array(z.strictObject({ op: z.enum(['add', 'replace', 'remove']), path: z.string().min(1), value: z.unknown().optional() }))
  .min(1);
/** Ignores the caption and the type that a client sends back with a value. */
const customFieldsSchema = z.array(z.object({ id: z.int(), value: z.union([z.string(), z.number(), z.boolean(), z.null()]) }));
const pageSchema = z.strictObject({
  page: z.coerce.number().int().min(1).default(1),
  pageSize: z.coerce.number().int().min(1).max(1000).default(25),
});

const now = () => `${new Date().toISOString().slice(0, 19)}Z`;

const field = (
  id: number,
  caption: string,
  fieldTypeIdentifier: ConnectwiseField['fieldTypeIdentifier'],
  { options = [], ...more }: Partial<Omit<ConnectwiseField, 'options'>> & { options?: string[] } = {},
): ConnectwiseField => ({
  id,
  podId: ticketPod,
  caption,
  sequenceNumber: id - 27,
  fieldTypeIdentifier,
  numberDecimals: 0,
  entryTypeIdentifier: 'EntryField',
  requiredFlag: false,
  displayOnScreenFlag: true,
  readOnlyFlag: false,
  listViewFlag: false,
  ...more,
  options: options.map((optionValue, index) => ({ id: id * 100 + index, optionValue, inactiveFlag: false })),
});
const ticket = (id: number, room: ConnectwiseTicket['room'], summary: string, values = {}): [number, ConnectwiseTicket] => {
  return [id, { id, room, summary, status: { id: 1, name: 'New' }, lastUpdated: '2026-01-05T09:00:00Z', values }];
};

/** There is a field of each type and each entry type. A field on another screen also has the caption `Arrival`. */
function firstState(credentials: ConnectwiseState['credentials']): ConnectwiseState {
  return {
    calls: [],
    credentials,
    codebase: 'v2025_1/',
    fields: [
      field(28, 'Arrival', 'Date'),
      field(29, 'Site note', 'Text'),
      field(30, 'Report', 'TextArea'),
      field(31, 'Hours', 'Number', { numberDecimals: 2 }),
      field(32, 'Progress', 'Percent'),
      field(33, 'Visited', 'Checkbox'),
      field(34, 'Result', 'Text', { entryTypeIdentifier: 'List', options: ['Done', 'Return needed'] }),
      field(35, 'Weather', 'Text', { entryTypeIdentifier: 'Option', options: ['Dry', 'Wet'] }),
      field(36, 'Photos', 'Hyperlink'),
      field(37, 'Open map', 'Button'),
      field(38, 'Relay id', 'Text', { readOnlyFlag: true }),
      field(39, 'Arrival', 'Date', { podId: 2 }),
    ],
    tickets: new Map([
      ticket(5000, 'service', 'Replace a broken till', { 29: 'Ring twice', 33: false }),
      ticket(5001, 'project', 'Install two access points'),
    ]),
  };
}
