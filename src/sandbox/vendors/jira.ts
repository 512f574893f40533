/**
 * The simulator of Jira Cloud: the part of REST API 3 that reads and edits issues, and describes their fields. It has the paths of
 * a Jira site and of api.atlassian.com (`/ex/jira/…`). It has no search, no creation of issues, no API 2 and no OAuth login.
 */

import { z } from 'zod';
import type { Fields } from '../../chain/fields.js';
import { basicAuth } from './credentials.js';
import { keyedBy, named } from './records.js';
import { addHeaders, faultsOf, Refusal, refuse, type VendorContext, vendorApp, withCalls } from './vendor.js';

export const jiraDoubts = {
  wrongCredentialsAreAnonymous: false, // true: the site answers as it answers an anonymous user; false: 401
  unauthorizedIsText: true, // false: JSON
  retryAfterIsSent: true, // true: answers with status 429 have a `Retry-After`
  datesAreShownInUtc: true, // false: dates are shown in the time zone of the user
  documentsGetIds: false, // true: a written paragraph comes back with a `localId`
  lineBreaksInTextAreRefused: false, // true: the simulator refuses line breaks in a text node of a document
};

/** The type of each kind of field, as the field's schema shows it. `summary`, `status` and `description` are system fields. */
const fieldTypes = {
  ...{ textfield: 'string', url: 'string', readonlyfield: 'string', float: 'number', datepicker: 'date', datetime: 'datetime' },
  ...{ select: 'option', multiselect: 'array', summary: 'string', status: 'status' },
  ...{ textarea: 'string', description: 'string' }, // their values are documents
};

type Field = ReturnType<typeof field>;
type Issue = ReturnType<typeof issue>;

/** The site takes `apiToken`. api.atlassian.com takes `scopedToken` (with Basic) and `accessToken` (as a bearer token). */
export const jiraCredentials = {
  ...{ email: 'relay@example.com', apiToken: 'jira-api-token' },
  ...{ scopedToken: 'scoped-api-token', accessToken: 'oauth-access-token' },
};

const api = '/rest/api/3';
/** Matches the start of a path of api.atlassian.com: `/ex/jira/` and the cloud id. */
const gateway = /^\/ex\/jira\/([^/]*)/;

class WrongValue extends Error {}

export function createJira({ doubts }: { doubts?: Partial<typeof jiraDoubts> } = {}) {
  const is = { ...jiraDoubts, ...doubts };
  const state = withCalls(firstState());

  const failed = (status: number, message: string) => new Refusal(status, { errorMessages: [message], errors: {} });
  const missing = () => failed(404, 'Issue does not exist or you do not have permission to see it.');
  const unavailable = (status: number, message: string, headers: Record<string, string>) =>
    new Refusal(status, { errorMessages: [message], errors: {}, status }, headers);
  const rateLimited = (reason: string) =>
    unavailable(429, 'The request has been rate-limited. Please try again later.', {
      ...{ 'RateLimit-Reason': reason, 'X-RateLimit-Limit': '350', 'X-RateLimit-Remaining': '0' },
      'X-RateLimit-Reset': `${new Date(Date.now() + 5000).toISOString().slice(0, 16)}Z`,
      ...(is.retryAfterIsSent && { 'Retry-After': '5' }),
    });
  const noScope = () => new Refusal(401, { code: 401, message: 'Unauthorized; scope does not match' });
  const unauthorized = (c: VendorContext) => {
    if (isGateway(c)) return new Refusal(401, { code: 401, message: 'Unauthorized' });
    return is.unauthorizedIsText
      ? new Refusal(401, 'Client must be authenticated to access this resource.')
      : failed(401, 'You are not authenticated. Authentication required to perform this operation.');
  };

  const mayRead = (c: VendorContext): boolean => {
    const { email, apiToken, scopedToken, accessToken } = state.credentials;
    const good = isGateway(c) ? [basicAuth(email, scopedToken), `Bearer ${accessToken}`] : [basicAuth(email, apiToken)];
    return good.includes(c.req.header('authorization') ?? '');
  };
  const answers = {
    credentials: unauthorized,
    'rate-limit': () => rateLimited('jira-burst-based'),
    unavailable: () => unavailable(503, 'Service unavailable.', { 'Retry-After': '30' }),
  };
  // `issue-limit`: the limit of writes to one issue is reached. `permission`: no permission to edit the issue.
  const faults = faultsOf(answers, 'issue-limit', 'validation', 'permission', 'dropped-field');

  const app = vendorApp({
    ...{ state, faults, answers, open: '/_edge/' },
    guard: async (c) => {
      const cloudId = gateway.exec(new URL(c.req.url).pathname)?.[1];
      if (cloudId !== undefined && cloudId !== state.cloudId) throw new Refusal(404, { code: 404, message: 'Not Found' });
      const isAnonymous = c.req.path.startsWith(api) && !mayRead(c);
      const needsUser = isGateway(c) || c.req.path === `${api}/myself` || !is.wrongCredentialsAreAnonymous;
      if (isAnonymous && needsUser) throw unauthorized(c);
      return () => isAnonymous && addHeaders(c, { 'X-Seraph-LoginReason': 'AUTHENTICATED_FAILED' });
    },
    noPath: (c) => (isGateway(c) ? noScope() : new Refusal(404, { message: `null for uri: ${c.req.url}`, 'status-code': 404 })),
    noMethod: (c) => (isGateway(c) ? noScope() : failed(405, 'HTTP 405 Method Not Allowed')),
    broken: (_, __, why) => failed(400, why),
    getPath: (request) => new URL(request.url).pathname.replace(gateway, ''),
  });

  const found = (c: VendorContext): Issue => {
    const name = (c.req.param('key') ?? '').toUpperCase();
    const key = state.movedKeys.get(name) ?? name;
    const issue = state.issues.get(key) ?? [...state.issues.values()].find(({ id }) => id === name);
    if (issue === undefined || !mayRead(c)) throw missing();
    return issue;
  };
  const optionShown = (base: string, { options }: Field, id: unknown) => {
    return { self: `${base}${api}/customFieldOption/${id}`, value: options.find((option) => option.id === id)?.value, id };
  };
  const shown = (base: string, field: Field, value: unknown): unknown => {
    if (field.kind === 'status') return { self: `${base}${api}/status/10000`, ...toDo };
    if (value === null) return null;
    if (field.kind === 'select') return optionShown(base, field, value);
    if (field.kind === 'multiselect' && Array.isArray(value)) return value.map((id) => optionShown(base, field, id));
    if (field.kind === 'datetime') return is.datesAreShownInUtc ? `${value}`.replace('Z', '+0000') : inBrisbane(`${value}`);
    return value;
  };

  const node = <Shape extends z.ZodRawShape>(type: string, shape: Shape) => z.looseObject({ type: z.literal(type), ...shape });
  const text = is.lineBreaksInTextAreRefused ? z.string().regex(/^[^\r\n]+$/) : z.string().min(1);
  const content = z.array(z.union([node('text', { text }), node('hardBreak', {})])).optional();
  /** The simulator accepts only documents that consist of paragraphs. */
  const paragraphs = z.array(node('paragraph', { content }));
  const documentSchema = z.strictObject({ version: z.literal(1), type: z.literal('doc'), content: paragraphs });
  const acceptedDocument = (value: unknown) => {
    if (!node('doc', {}).safeParse(value).success)
      throw new WrongValue('Operation value must be an Atlassian Document (see the Atlassian Document Format)');
    const document = documentSchema.safeParse(value).data;
    if (document === undefined) throw failed(400, 'INVALID_INPUT');
    if (!is.documentsGetIds) return document;
    const withId = (node: object) => ({ ...node, attrs: { localId: crypto.randomUUID() } });
    return { ...document, content: document.content.map(withId) };
  };

  /** @returns the value as the simulator keeps it */
  const accepted = ({ kind, options }: Field, value: unknown): unknown => {
    const optionId = (wanted: unknown): string => {
      const named = optionSchema.safeParse(wanted).data;
      if (named === undefined) throw new WrongValue("Could not find valid 'id' or 'value' in the Parent Option object.");
      const key = named.id === undefined ? 'value' : 'id';
      const option = options.find((known) => !known.isDisabled && known[key] === named[key]);
      if (option === undefined) throw new WrongValue(`Option ${key} '${named[key]}' is not valid`);
      return option.id;
    };
    if (value === null && kind === 'summary') throw new WrongValue('You must specify a summary of the issue.');
    if (value === null) return null;
    if (kind === 'textarea' || kind === 'description') return acceptedDocument(value);
    if (kind === 'select') return optionId(value);
    const { data, error } = (forms[kind] ?? oneLine).safeParse(value);
    if (error) throw new WrongValue(error.issues[0]?.message);
    return Array.isArray(data) ? data.map(optionId) : data;
  };

  const edit = (c: VendorContext, { fields, update }: z.infer<typeof editSchema>) => {
    const issue = found(c);
    const canBeEdited = issue.canBeEdited && !faults.meets(c, 'permission');
    if (faults.meets(c, 'issue-limit')) throw rateLimited('jira-per-issue-on-write');
    const errors: Record<string, string> = {};
    const values: Issue['values'] = {};
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
      const self = `${baseOf(c)}${api}/user?accountId=${user.accountId}`;
      return c.json({ self, ...user, emailAddress: state.credentials.email });
    })
    .get(`${api}/field`, (c) =>
      c.json(state.fields.map(({ described }) => described).filter(({ custom }) => !custom || mayRead(c))),
    )
    .get(`${api}/issue/:key`, (c) => {
      const { id, key, values } = found(c);
      const base = baseOf(c);
      const wanted = c.req.query('fields')?.split(',') ?? ['*all'];
      const fields = state.fields.filter((field) => wanted.includes('*all') || wanted.includes(field.id));
      const entries = fields.map((field) => [field.id, shown(base, field, values[field.id] ?? null)]);
      return c.json({ id, key, self: `${base}${api}/issue/${id}`, fields: Object.fromEntries(entries) });
    })
    .get(`${api}/issue/:key/editmeta`, (c) => {
      const { canBeEdited } = found(c);
      const editable = state.fields.filter(({ isOnScreen }) => isOnScreen && canBeEdited);
      const entries = editable.map((field) => {
        const { id: key, name, kind, described } = field;
        const operations = kind === 'multiselect' ? ['add', 'set', 'remove'] : ['set'];
        const enabled = field.options.filter(({ isDisabled }) => !isDisabled);
        const allowedValues = enabled.length > 0 ? enabled.map(({ id }) => optionShown(baseOf(c), field, id)) : undefined;
        return [key, { required: kind === 'summary', schema: described.schema, name, key, operations, allowedValues }];
      });
      return c.json({ fields: Object.fromEntries(entries) });
    })
    .put(`${api}/issue/:key`, async (c) => {
      edit(c, editSchema.parse(await c.req.json()));
      return c.body(null, 204);
    })
    .on(['GET', 'POST'], `${api}/search`, () => refuse(failed(410, searchMoved)));
  const nameOf = (id: string) => state.fields.find((field) => field.id === id)?.name;
  const record = ({ key, values: { summary, ...values } }: Issue) => ({
    id: key,
    title: `${summary}`,
    fields: named(values, nameOf),
  });
  return {
    ...{ kind: 'jira', paths: /^\/(rest|_edge|ex)\//, app, state, faults },
    settings: { site: 'example', email: jiraCredentials.email, token: jiraCredentials.apiToken },
    records: () => [...state.issues.values()].map(record),
  };
}

const searchMoved = `The requested API has been removed. Please migrate to the ${api}/search/jql API.`;

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

/** `forms` has the forms of some kinds of fields. All other kinds have the form `oneLine`. The messages are Jira's. */
const text = z.string('Operation value must be a string');
const oneLine = text.max(255, 'The entered text is too long. It exceeds the allowed limit of 255 characters.');
const forms: Record<string, z.ZodType> = {
  float: z.number('Operation value must be a number'),
  multiselect: z.array(z.unknown(), 'data was not an array'),
  datepicker: text.pipe(z.iso.date({ error: ({ input }) => `Error parsing date string: ${input}` })),
  datetime: text.transform((at) => instantOf(at)),
};

/** Parses a date-time. It must have milliseconds, and an offset without a colon. */
function instantOf(text: string): string {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,3}[+-]\d\d)(\d\d)$/.exec(text);
  const withColon = z.iso.datetime({ offset: true }).safeParse(`${parts?.[1]}:${parts?.[2]}`).data;
  if (withColon === undefined) throw new WrongValue(`Error parsing time: ${text}`);
  return new Date(withColon).toISOString();
}

/** The instant in the user's time zone, which is 10 hours ahead of UTC and has no daylight saving time. */
const inBrisbane = (instant: string) => new Date(Date.parse(instant) + 36_000_000).toISOString().replace('Z', '+1000');

const user = {
  ...{ accountId: '5b10a2844c20165700ede21g', accountType: 'atlassian', displayName: 'Relay' },
  ...{ active: true, timeZone: 'Australia/Brisbane' },
};
/** The status of each issue. */
const toDo = { name: 'To Do', id: '10000', statusCategory: { id: 2, key: 'new', name: 'To Do' } };

type Option = [id: string, value: string, isDisabled?: boolean];
type Kind = keyof typeof fieldTypes;
/** `described` is how Jira's list of all fields shows the field. @param customId - undefined for a system field */
const field = (customId: number | undefined, name: string, kind: Kind, isOnScreen = true, ...options: Option[]) => {
  const id = customId === undefined ? kind : `customfield_${customId}`;
  const type = fieldTypes[kind];
  const custom = customId && `com.atlassian.jira.plugin.system.customfieldtypes:${kind}`;
  const schema = customId ? { type, items: type === 'array' ? 'option' : undefined, custom, customId } : { type, system: id };
  const clauseNames = customId ? [`cf[${customId}]`, name] : [id];
  const abilities = { orderable: true, navigable: true, searchable: true };
  const described = { id, key: id, name, custom: customId !== undefined, ...abilities, clauseNames, schema };
  const known = options.map(([id, value, isDisabled = false]) => ({ id, value, isDisabled }));
  return { id, name, kind, isOnScreen, described, options: known };
};
/** @param values - by field id. A date-time is in UTC. The value of an option is its id. */
const issue = (id: string, key: string, values: Fields, canBeEdited = true) => ({ id, key, canBeEdited, values });

/** There is a field of each kind. Two fields have the name `Arrival`. One of these fields is not on the screen. */
function firstState() {
  const custom = { customfield_10011: 'Ring twice', customfield_10014: '10102', customfield_10015: 2.5 };
  return {
    credentials: { ...jiraCredentials },
    cloudId: '11223344-a1b2-3b33-c444-def123456789',
    fields: [
      field(undefined, 'Summary', 'summary'),
      field(undefined, 'Description', 'description'),
      field(undefined, 'Status', 'status', false),
      field(10010, 'Arrival', 'datetime'),
      field(10011, 'Site note', 'textfield'),
      field(10012, 'Report', 'textarea'),
      field(10013, 'Visit day', 'datepicker'),
      field(10014, 'Visit result', 'select', true, ['10101', 'Done'], ['10102', 'Return needed'], ['10103', 'Cancelled', true]),
      field(10015, 'Hours on site', 'float'),
      field(10016, 'Skills', 'multiselect', true, ['10201', 'Cabling'], ['10202', 'Wireless']),
      field(10017, 'Imported from', 'readonlyfield', false),
      field(10018, 'Door code', 'textfield', false),
      field(10019, 'Arrival', 'datetime', false),
      field(10020, 'Photos', 'url'),
    ],
    issues: keyedBy('key', [
      issue('10001', 'RELAY-1', { summary: 'Replace a broken till', ...custom }),
      issue('10002', 'RELAY-2', { summary: 'Install two access points' }),
      issue('10003', 'LOCKED-1', { summary: 'Only the owner may edit this' }, false),
    ]),
    movedKeys: new Map([['OLD-7', 'RELAY-2']]),
  };
}
