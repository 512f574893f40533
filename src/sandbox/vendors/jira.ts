/**
 * The simulator of Jira Cloud. Reads and edits issues with REST API 3, and describes the fields of issues. Has the paths of a
 * Jira site and of api.atlassian.com (`/ex/jira/…`). It has no search, no creation of issues, no API 2 and no OAuth login.
 */

import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { Faults, Refusal, type Vendor, type VendorContext, type VendorState, vendorApp } from './vendor.js';

/** Questions about the vendor that no document answers. `true` and `false` select the behavior of the simulator. */
export const jiraDoubts = {
  wrongCredentialsAreAnonymous: false, // true: the site answers as it answers an anonymous user; false: 401
  unauthorizedIsText: true, // false: JSON
  retryAfterIsSent: true, // true: answers with status 429 have a `Retry-After`
  datesAreShownInUtc: true, // false: dates are shown in the time zone of the user
  documentsGetIds: false, // true: a written paragraph comes back with a `localId`
  lineBreaksInTextAreRefused: false, // true: the simulator refuses line breaks in a text node of a document
};
export type JiraDoubt = keyof typeof jiraDoubts;

const failures = [
  'credentials',
  'rate-limit',
  'issue-limit', // the limit of writes to one issue
  'unavailable',
  'validation',
  'permission', // no permission to edit the issue
  'dropped-field',
] as const;
export type JiraFailure = (typeof failures)[number];

/** The type of each kind of field, as the field's schema shows it. The last three kinds are system fields. */
const fieldTypes = {
  textfield: 'string',
  url: 'string',
  readonlyfield: 'string',
  textarea: 'string', // a document
  float: 'number',
  datepicker: 'date',
  datetime: 'datetime',
  select: 'option',
  multiselect: 'array',
  summary: 'string',
  description: 'string', // a document
  status: 'status',
};

export interface JiraField {
  id: string;
  name: string; // not unique
  kind: keyof typeof fieldTypes;
  isOnScreen: boolean;
  options: { id: string; value: string; isDisabled: boolean }[];
}

export interface JiraIssue {
  id: string;
  key: string;
  status: string;
  canBeEdited: boolean;
  /** The values of the fields. The key is the field id. A date-time is in UTC. An option is stored as its id. */
  values: Record<string, unknown>;
}

export interface JiraState extends VendorState {
  credentials: typeof jiraCredentials;
  cloudId: string;
  fields: JiraField[];
  issues: Map<string, JiraIssue>; // the map's key is the issue key
  movedKeys: Map<string, string>; // the map's key is the old issue key, and the value is the new issue key
}

/** `apiToken` is for the site. For api.atlassian.com, there are `scopedToken` (with Basic) and `accessToken` (a bearer token). */
export const jiraCredentials = {
  email: 'relay@example.com',
  apiToken: 'jira-api-token',
  scopedToken: 'scoped-api-token',
  accessToken: 'oauth-access-token',
};

const api = '/rest/api/3';
/** Matches the start of a path of api.atlassian.com: `/ex/jira/` and the cloud id. */
const gateway = /^\/ex\/jira\/([^/]*)/;

/** The error if the simulator refuses the value of a field. The message gives the reason. */
class WrongValue extends Error {}

export function createJira(
  options: { credentials?: Partial<typeof jiraCredentials>; doubts?: Partial<Record<JiraDoubt, boolean>> } = {},
): Vendor<JiraState, JiraFailure> {
  const is = { ...jiraDoubts, ...options.doubts };
  const state = firstState({ ...jiraCredentials, ...options.credentials });
  const faults = new Faults(failures);

  const failed = (status: number, message: string) => new Refusal(status, { errorMessages: [message], errors: {} });
  const missing = () => failed(404, 'Issue does not exist or you do not have permission to see it.');
  const rateLimited = (reason: string) => {
    const message = 'The request has been rate-limited. Please try again later.';
    const headers = {
      'RateLimit-Reason': reason,
      'X-RateLimit-Limit': '350',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': `${new Date(Date.now() + 5000).toISOString().slice(0, 16)}Z`,
      ...(is.retryAfterIsSent ? { 'Retry-After': '5' } : {}),
    };
    return new Refusal(429, { errorMessages: [message], errors: {}, status: 429 }, headers);
  };
  const unauthorized = (c: VendorContext) => {
    if (isGateway(c)) return new Refusal(401, { code: 401, message: 'Unauthorized' });
    return is.unauthorizedIsText
      ? new Refusal(401, 'Client must be authenticated to access this resource.')
      : failed(401, 'You are not authenticated. Authentication required to perform this operation.');
  };

  const mayRead = (c: VendorContext): boolean => {
    const { email, apiToken, scopedToken, accessToken } = state.credentials;
    const basic = (token: string) => `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}`;
    const good = isGateway(c) ? [basic(scopedToken), `Bearer ${accessToken}`] : [basic(apiToken)];
    return good.includes(c.req.header('authorization') ?? '');
  };
  const guard: MiddlewareHandler = async (c, next) => {
    const cloudId = gateway.exec(new URL(c.req.url).pathname)?.[1];
    if (cloudId !== undefined && cloudId !== state.cloudId) throw new Refusal(404, { code: 404, message: 'Not Found' });
    const isAnonymous = c.req.path.startsWith(api) && !mayRead(c);
    const needsUser = isGateway(c) || c.req.path === `${api}/myself` || !is.wrongCredentialsAreAnonymous;
    if (isAnonymous && needsUser) throw unauthorized(c);
    await next();
    if (isAnonymous) c.res.headers.set('X-Seraph-LoginReason', 'AUTHENTICATED_FAILED');
  };

  const app = vendorApp({
    state,
    faults,
    guard,
    open: '/_edge/',
    answers: {
      credentials: unauthorized,
      'rate-limit': () => rateLimited('jira-burst-based'),
      unavailable: () =>
        new Refusal(503, { errorMessages: ['Service unavailable.'], errors: {}, status: 503 }, { 'Retry-After': '30' }),
    },
    undocumented: (c, allowed) => {
      if (isGateway(c)) return new Refusal(401, { code: 401, message: 'Unauthorized; scope does not match' });
      if (allowed.length > 0) return failed(405, 'HTTP 405 Method Not Allowed');
      return new Refusal(404, { message: `null for uri: ${c.req.url}`, 'status-code': 404 });
    },
    broken: (_, error) =>
      failed(400, error instanceof z.ZodError ? z.prettifyError(error) : 'The request body is not valid JSON.'),
    getPath: (request) => new URL(request.url).pathname.replace(gateway, ''),
  });

  const found = (c: VendorContext): JiraIssue => {
    const name = (c.req.param('key') ?? '').toUpperCase();
    const key = state.movedKeys.get(name) ?? name;
    const issue = state.issues.get(key) ?? [...state.issues.values()].find(({ id }) => id === name);
    if (issue === undefined || !mayRead(c)) throw missing();
    return issue;
  };
  const optionShown = (base: string, { options }: JiraField, wanted: unknown) => {
    const { id, value } = options.find((option) => option.id === wanted) ?? { id: `${wanted}`, value: '' };
    return { self: `${base}${api}/customFieldOption/${id}`, value, id };
  };
  /** A value as an answer shows it. */
  const shown = (base: string, field: JiraField, value: unknown): unknown => {
    if (value === null) return null;
    if (field.kind === 'select') return optionShown(base, field, value);
    if (field.kind === 'multiselect' && Array.isArray(value)) return value.map((id) => optionShown(base, field, id));
    if (field.kind === 'datetime') return dateTimeOf(`${value}`, is.datesAreShownInUtc ? 0 : userOffsetHours);
    return value;
  };

  const textNode = z.looseObject({
    type: z.literal('text'),
    text: is.lineBreaksInTextAreRefused ? z.string().regex(/^[^\r\n]+$/) : z.string().min(1),
  });
  const paragraph = z.looseObject({
    type: z.literal('paragraph'),
    content: z.array(z.union([textNode, z.looseObject({ type: z.literal('hardBreak') })])).optional(),
  });
  /** The simulator accepts only documents that consist of paragraphs. */
  const documentSchema = z.strictObject({ version: z.literal(1), type: z.literal('doc'), content: z.array(paragraph) });
  const acceptedDocument = (value: unknown) => {
    if (!z.looseObject({ type: z.literal('doc') }).safeParse(value).success)
      throw new WrongValue('Operation value must be an Atlassian Document (see the Atlassian Document Format)');
    const document = documentSchema.safeParse(value).data;
    if (document === undefined) throw failed(400, 'INVALID_INPUT');
    if (!is.documentsGetIds) return document;
    const withId = (node: object) => ({ ...node, attrs: { localId: crypto.randomUUID() } });
    return { ...document, content: document.content.map(withId) };
  };

  /** @returns the value as the simulator keeps it */
  const accepted = (field: JiraField, value: unknown): unknown => {
    const optionId = (wanted: unknown): string => {
      const named = optionSchema.safeParse(wanted).data;
      if (named === undefined) throw new WrongValue("Could not find valid 'id' or 'value' in the Parent Option object.");
      const key = named.id === undefined ? 'value' : 'id';
      const option = field.options.find((known) => !known.isDisabled && known[key] === named[key]);
      if (option === undefined) throw new WrongValue(`Option ${key} '${named[key]}' is not valid`);
      return option.id;
    };
    if (value === null) {
      if (field.kind === 'summary') throw new WrongValue('You must specify a summary of the issue.');
      return null;
    }
    if (field.kind === 'textarea' || field.kind === 'description') return acceptedDocument(value);
    if (field.kind === 'select') return optionId(value);
    if (field.kind === 'multiselect') {
      if (!Array.isArray(value)) throw new WrongValue('data was not an array');
      return value.map(optionId);
    }
    if (field.kind === 'float') {
      if (typeof value !== 'number') throw new WrongValue('Operation value must be a number');
      return value;
    }
    if (typeof value !== 'string') throw new WrongValue('Operation value must be a string');
    if (field.kind === 'datepicker' && !z.iso.date().safeParse(value).success)
      throw new WrongValue(`Error parsing date string: ${value}`);
    if (field.kind === 'datetime') return instantOf(value);
    if (value.length > 255) throw new WrongValue('The entered text is too long. It exceeds the allowed limit of 255 characters.');
    return value;
  };

  const edit = (c: VendorContext, { fields, update }: z.infer<typeof editSchema>) => {
    const issue = found(c);
    const canBeEdited = issue.canBeEdited && !faults.meets(c, 'permission');
    if (faults.meets(c, 'issue-limit')) throw rateLimited('jira-per-issue-on-write');
    const errors: Record<string, string> = {};
    const values: JiraIssue['values'] = {};
    const setters = Object.entries(update).map(([id, [{ set }]]): [string, unknown] => [id, set]);
    for (const [id, value] of [...Object.entries(fields), ...setters]) {
      const field = state.fields.find((known) => known.id === id && known.isOnScreen);
      try {
        if (!field || !canBeEdited)
          throw new WrongValue(`Field '${id}' cannot be set. It is not on the appropriate screen, or unknown.`);
        if (id in fields && id in update) throw new WrongValue(`Field '${id}' cannot appear in both 'fields' and 'update'`);
        if (faults.meets(c, 'validation')) throw new WrongValue('The value is not valid.');
        values[id] = accepted(field, value);
      } catch (error) {
        if (!(error instanceof WrongValue)) throw error;
        errors[id] = error.message;
      }
    }
    if (Object.keys(errors).length > 0) throw new Refusal(400, { errorMessages: [], errors });
    if (!faults.meets(c, 'dropped-field')) Object.assign(issue.values, values);
  };

  app
    .get('/_edge/tenant_info', (c) => c.json({ cloudId: state.cloudId }))
    .get(`${api}/myself`, (c) => {
      const accountId = '5b10a2844c20165700ede21g';
      const user = { accountId, accountType: 'atlassian', emailAddress: state.credentials.email, displayName: 'Relay' };
      return c.json({
        self: `${baseOf(c)}${api}/user?accountId=${accountId}`,
        ...user,
        active: true,
        timeZone: 'Australia/Brisbane',
      });
    })
    .get(`${api}/field`, (c) => c.json(state.fields.filter((field) => isSystem(field) || mayRead(c)).map(described)))
    .get(`${api}/issue/:key`, (c) => {
      const { id, key, status, values } = found(c);
      const base = baseOf(c);
      const wanted = c.req.query('fields')?.split(',');
      const all = state.fields.map((field): [string, unknown] =>
        field.id === 'status' ? [field.id, statusShown(base, status)] : [field.id, shown(base, field, values[field.id] ?? null)],
      );
      const isWanted = (name: string) => !wanted || wanted.includes('*all') || wanted.includes(name);
      const fields = Object.fromEntries(all.filter(([name]) => isWanted(name)));
      return c.json({ id, key, self: `${base}${api}/issue/${id}`, fields });
    })
    .get(`${api}/issue/:key/editmeta`, (c) => {
      const { canBeEdited } = found(c);
      const base = baseOf(c);
      const editable = state.fields.filter(({ isOnScreen }) => isOnScreen && canBeEdited);
      const entries = editable.map((field) => {
        const operations = field.kind === 'multiselect' ? ['add', 'set', 'remove'] : ['set'];
        const enabled = field.options.filter(({ isDisabled }) => !isDisabled).map(({ id }) => optionShown(base, field, id));
        const { id: key, name, kind } = field;
        const meta = { required: kind === 'summary', schema: schemaOf(field), name, key, operations };
        return [key, { ...meta, ...(enabled.length > 0 ? { allowedValues: enabled } : {}) }];
      });
      return c.json({ fields: Object.fromEntries(entries) });
    })
    .put(`${api}/issue/:key`, async (c) => {
      edit(c, editSchema.parse(await c.req.json()));
      return c.body(null, 204);
    })
    .on(['GET', 'POST'], `${api}/search`, () => {
      throw failed(410, `The requested API has been removed. Please migrate to the ${api}/search/jql API.`);
    });
  return { kind: 'jira', app, state, faults };
}

const isGateway = (c: VendorContext): boolean => gateway.test(new URL(c.req.url).pathname);

/** The part of the URL before `/rest`. */
function baseOf(c: VendorContext): string {
  const { origin, pathname } = new URL(c.req.url);
  return origin + (gateway.exec(pathname)?.[0] ?? '');
}

/** The schema ignores other keys. `update` accepts exactly one `set` for each field. */
const editSchema = z.object({
  fields: z.record(z.string(), z.unknown()).default({}),
  update: z.record(z.string(), z.tuple([z.strictObject({ set: z.unknown() })])).default({}),
});
const optionSchema = z
  .object({ id: z.string().optional(), value: z.string().optional() })
  .refine(({ id, value }) => id !== undefined || value !== undefined);

/** The offset of the user's time zone, which has no daylight saving time. */
const userOffsetHours = 10;

/** Parses a date-time. It must have milliseconds, and an offset without a colon. */
function instantOf(text: string): string {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,3}[+-]\d\d)(\d\d)$/.exec(text);
  const withColon = z.iso.datetime({ offset: true }).safeParse(`${parts?.[1]}:${parts?.[2]}`).data;
  if (withColon === undefined) throw new WrongValue(`Error parsing time: ${text}`);
  return new Date(withColon).toISOString();
}

function dateTimeOf(instant: string, offsetHours: number): string {
  const local = new Date(Date.parse(instant) + offsetHours * 3_600_000).toISOString();
  return local.replace('Z', `+${`${offsetHours}`.padStart(2, '0')}00`);
}

const isSystem = ({ id, kind }: JiraField): boolean => id === kind;

function schemaOf(field: JiraField) {
  const { id, kind } = field;
  if (isSystem(field)) return { type: fieldTypes[kind], system: id };
  const items = kind === 'multiselect' ? { items: 'option' } : {};
  const custom = `com.atlassian.jira.plugin.system.customfieldtypes:${kind}`;
  return { type: fieldTypes[kind], ...items, custom, customId: numberOf(id) };
}

const numberOf = (id: string): number => Number(id.replace('customfield_', ''));

function described(field: JiraField) {
  const { id, name } = field;
  const clauseNames = isSystem(field) ? [id] : [`cf[${numberOf(id)}]`, name];
  const abilities = { orderable: true, navigable: true, searchable: true };
  return { id, key: id, name, custom: !isSystem(field), ...abilities, clauseNames, schema: schemaOf(field) };
}

function statusShown(base: string, name: string) {
  const statusCategory = { id: 2, key: 'new', name: 'To Do' };
  return { self: `${base}${api}/status/10000`, name, id: '10000', statusCategory };
}

const field = (
  id: string | number,
  name: string,
  kind: JiraField['kind'],
  { isOnScreen = true, options = [] }: Partial<JiraField> = {},
): JiraField => ({ id: typeof id === 'number' ? `customfield_${id}` : id, name, kind, isOnScreen, options });
const listOf = (...items: [id: string, value: string, isDisabled?: boolean][]) => {
  return { options: items.map(([id, value, isDisabled = false]) => ({ id, value, isDisabled })) };
};
const issue = (id: string, key: string, values: JiraIssue['values'], canBeEdited = true): [string, JiraIssue] => {
  return [key, { id, key, status: 'To Do', canBeEdited, values }];
};

/** There is a field of each kind. Two fields have the name `Arrival`. One of these fields is not on the screen. */
function firstState(credentials: JiraState['credentials']): JiraState {
  return {
    calls: [],
    credentials,
    cloudId: '11223344-a1b2-3b33-c444-def123456789',
    fields: [
      field('summary', 'Summary', 'summary'),
      field('description', 'Description', 'description'),
      field('status', 'Status', 'status', { isOnScreen: false }),
      field(10010, 'Arrival', 'datetime'),
      field(10011, 'Site note', 'textfield'),
      field(10012, 'Report', 'textarea'),
      field(10013, 'Visit day', 'datepicker'),
      field(10014, 'Visit result', 'select', listOf(['10101', 'Done'], ['10102', 'Return needed'], ['10103', 'Cancelled', true])),
      field(10015, 'Hours on site', 'float'),
      field(10016, 'Skills', 'multiselect', listOf(['10201', 'Cabling'], ['10202', 'Wireless'])),
      field(10017, 'Imported from', 'readonlyfield', { isOnScreen: false }),
      field(10018, 'Door code', 'textfield', { isOnScreen: false }),
      field(10019, 'Arrival', 'datetime', { isOnScreen: false }),
      field(10020, 'Photos', 'url'),
    ],
    issues: new Map([
      issue('10001', 'RELAY-1', {
        summary: 'Replace a broken till',
        customfield_10011: 'Ring twice',
        customfield_10014: '10102',
        customfield_10015: 2.5,
      }),
      issue('10002', 'RELAY-2', { summary: 'Install two access points' }),
      issue('10003', 'LOCKED-1', { summary: 'Only the owner may edit this' }, false),
    ]),
    movedKeys: new Map([['OLD-7', 'RELAY-2']]),
  };
}
