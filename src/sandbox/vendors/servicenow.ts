/**
 * The simulator of ServiceNow's Table API: incidents, and the tables that describe their columns. A table is a list of rows, as in
 * ServiceNow: `sys_dictionary` lists the columns, `sys_choice` lists the options, and `sys_db_object` lists the tables.
 */

import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { dateTime, inZone, isDate, type ServicenowRow, servicenowTables, tablesOf } from './servicenow-tables.js';
import { addHeaders, Faults, formOf, Refusal, type Vendor, type VendorContext, type VendorState, vendorApp } from './vendor.js';

/** Questions that no document answers, or that a customer decides. `true` and `false` select the behavior of the simulator. */
export const servicenowDoubts = {
  invalidQueriesAreRefused: false, // true: 403; false: the part with the unknown column is ignored
  hiddenTablesAreRefused: false, // true: 403; false: the tables are empty
  protectedFieldsAreRefused: false, // true: 403; false: their values are ignored
  readOnlyFieldsAreWritten: false,
  unknownChoicesAreKept: true, // true: unknown values of choice and reference columns are kept; false: ignored
  wrongDatesEmptyTheField: false, // false: wrong dates are ignored
  longTextsAreKept: false, // false: long texts are cut at max_length
  sameValuesAreCounted: false, // true: an update that changes nothing also raises sys_mod_count
  unknownPathsAre404: false, // false: 400
};
export type ServicenowDoubt = keyof typeof servicenowDoubts;

const failures = [
  'credentials',
  'token-expired',
  'rate-limit',
  'permission',
  'business-rule',
  'data-policy',
  'server-error',
  'dropped-field',
] as const;
export type ServicenowFailure = (typeof failures)[number];

export interface ServicenowState extends VendorState {
  credentials: typeof servicenowCredentials;
  tables: Map<string, ServicenowRow[]>;
  hiddenTables: Set<string>; // tables that the user may not read
  protectedFields: Set<string>; // fields that the user may not write
  timeZone: string; // the time zone of the user, for display values
  invalidQueriesReturnNoRows: boolean; // the property glide.invalid_query.returns_no_rows
  clientCredentialsAreOn: boolean; // a property that a customer must create
  tokens: { access: string; refresh?: string; expiresAt: number }[];
  tokenSeconds: number;
  /** The rate limit rule that the customer has set. The count of requests starts again every hour. */
  rateLimit?: { rule: string; perHour: number };
  hour: { endsAt: number; requests: number };
}

export const servicenowCredentials = {
  username: 'relay',
  password: 'servicenow-password',
  clientId: 'a329c4515612210071a5e0c298ee2be8',
  clientSecret: 'servicenow-client-secret',
};

const parameters = [
  'query',
  'fields',
  'limit',
  'offset',
  'display_value',
  'input_display_value',
  'exclude_reference_link',
  'suppress_pagination_header',
  'no_count',
  'query_no_domain',
  'query_category',
  'view',
];
const tokenPath = '/oauth_token.do';
const hourMs = 3_600_000;
const defaultRule = { rule: 'c0'.repeat(16), perHour: 100 };

export function createServicenow(
  options: { credentials?: Partial<typeof servicenowCredentials>; doubts?: Partial<Record<ServicenowDoubt, boolean>> } = {},
): Vendor<ServicenowState, ServicenowFailure> {
  const is = { ...servicenowDoubts, ...options.doubts };
  const state = firstState({ ...servicenowCredentials, ...options.credentials });
  const faults = new Faults(failures);

  const refusal = (status: number, message: string, detail: string | null = null, headers = {}) =>
    new Refusal(status, { error: { message, detail }, status: 'failure' }, headers);
  const failed = (detail: string) => refusal(403, 'Operation Failed', detail);
  const denied = (operation: string) => failed(`ACL Exception ${operation} Failed due to security constraints`);
  const missing = () => refusal(404, 'No Record found', "Record doesn't exist or ACL restricts the record retrieval");
  const unauthorized = () => refusal(401, 'User Not Authenticated', 'Required to provide Auth information');
  const unreadable = (detail: string) => refusal(400, 'Exception while reading request', detail);
  const noToken = () => new Refusal(401, { error_description: 'access_denied', error: 'server_error' });

  const limitHeaders = ({ rule, perHour } = state.rateLimit ?? defaultRule) => ({
    'X-RateLimit-Limit': `${perHour}`,
    'X-RateLimit-Reset': `${state.hour.endsAt / 1000}`,
    'X-RateLimit-Rule': rule,
  });
  const tooMany = () => {
    const headers = { ...limitHeaders(), 'Retry-After': `${Math.ceil((state.hour.endsAt - Date.now()) / 1000)}` };
    const detail = `Rate limit of ${headers['X-RateLimit-Limit']} requests per hour for Table API exceeded`;
    return refusal(429, 'Rate limit exceeded', detail, headers);
  };
  const countRequest = () => {
    if (state.hour.endsAt <= Date.now()) state.hour = { endsAt: (Math.floor(Date.now() / hourMs) + 1) * hourMs, requests: 0 };
    if (state.rateLimit !== undefined && state.hour.requests >= state.rateLimit.perHour) throw tooMany();
    state.hour.requests += 1;
  };

  const isAuthenticated = (authorization = '') => {
    const { username, password } = state.credentials;
    if (authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`) return true;
    return state.tokens.some(({ access, expiresAt }) => authorization === `Bearer ${access}` && expiresAt > Date.now());
  };
  const guard: MiddlewareHandler = async (c, next) => {
    if (new URL(c.req.url).pathname === tokenPath) return next();
    if (faults.meets(c, 'token-expired')) for (const token of state.tokens) token.expiresAt = 0;
    if (!isAuthenticated(c.req.header('authorization'))) throw unauthorized();
    countRequest();
    if (!/^$|application\/json|\*\/\*/.test(c.req.header('accept') ?? '')) throw refusal(406, 'Not acceptable');
    for (const name of Object.keys(c.req.query()))
      if (name.startsWith('sysparm_') && !parameters.includes(name.slice(8))) throw refusal(400, `Invalid parameter ${name}`);
    await next();
    if (state.rateLimit) addHeaders(c, limitHeaders());
  };

  const app = vendorApp({
    state,
    faults,
    guard,
    open: tokenPath,
    answers: {
      credentials: unauthorized,
      'rate-limit': tooMany,
      permission: () => denied('Update'),
      'business-rule': () => failed(businessRule),
      'data-policy': () => failed(dataPolicy),
      'server-error': () => refusal(500, 'Transaction cancelled: maximum execution time exceeded'),
    },
    undocumented: (_, allowed) =>
      allowed.length > 0
        ? refusal(405, 'Method not supported')
        : refusal(is.unknownPathsAre404 ? 404 : 400, 'Requested URI does not represent any resource'),
    broken: (_, error) =>
      error instanceof z.ZodError ? unreadable(z.prettifyError(error)) : unreadable('The payload is not valid JSON.'),
  });

  const { rowsOf, columnsOf, choicesOf, cellAt, displayed, fromDisplayed, matching } = tablesOf(state);

  const shownCell = (c: VendorContext, { column, value }: { column: ServicenowRow; value: string }): unknown => {
    const display = c.req.query('sysparm_display_value') ?? 'false';
    const isReference = column.reference !== '' && column.internal_type === 'reference' && value !== '';
    // The dictionary refers to types and tables by their names.
    const target = column.name === 'sys_dictionary' ? `?name=${value}` : `/${value}`;
    const link =
      isReference && c.req.query('sysparm_exclude_reference_link') !== 'true'
        ? { link: `${new URL(c.req.url).origin}/api/now/table/${column.reference}${target}` }
        : undefined;
    if (display === 'all') return { display_value: displayed(column, value), value, ...link };
    if (display === 'true') return link ? { display_value: displayed(column, value), ...link } : displayed(column, value);
    return link ? { ...link, value } : value;
  };
  const shown = (c: VendorContext, table: string, row: ServicenowRow) => {
    const paths = c.req.query('sysparm_fields')?.split(',') ?? columnsOf(table).map(({ element = '' }) => element);
    return Object.fromEntries(
      paths.flatMap((path) => {
        const cell = cellAt(table, row, path);
        return cell ? [[path, shownCell(c, cell)]] : [];
      }),
    );
  };

  const queried = (c: VendorContext, table: string): ServicenowRow[] => {
    const pairs = Object.entries(c.req.query()).filter(([name]) => !name.startsWith('sysparm_'));
    const query = c.req.query('sysparm_query') ?? pairs.map(([name, value]) => `${name}=${value}`).join('^');
    const { rows, isValid } = matching(table, query);
    if (!isValid && is.invalidQueriesAreRefused)
      throw refusal(403, noRights, 'Field(s) present in the query do not have permission to be read');
    return isValid || !state.invalidQueriesReturnNoRows ? rows : [];
  };

  /** @returns the value as the table stores it, or undefined if the value is ignored */
  const stored = (column: ServicenowRow, text: string, isDisplay: boolean): string | undefined => {
    const wrongDate = is.wrongDatesEmptyTheField ? '' : undefined;
    if (text === '') return '';
    if (column.choice !== '0' && !choicesOf(column).some(({ value, inactive }) => value === text && inactive === 'false'))
      return is.unknownChoicesAreKept ? text : undefined;
    switch (column.internal_type) {
      case 'boolean':
        return /^(true|false)$/.test(text) ? text : undefined;
      case 'integer':
        return /^-?\d+$/.test(text) ? text : undefined;
      case 'decimal':
      case 'float':
        return /^-?\d+(\.\d+)?$/.test(text)
          ? `${Number(Number(text).toFixed(column.internal_type === 'float' ? 7 : 2))}`
          : undefined;
      case 'glide_date':
        return isDate(text) ? text : wrongDate;
      case 'glide_date_time':
        return dateTime.test(text) && isDate(text.slice(0, 10)) ? text : wrongDate;
      case 'reference':
        return is.unknownChoicesAreKept || rowsOf(column.reference ?? '').some(({ sys_id }) => sys_id === text)
          ? text
          : undefined;
      case 'glide_encrypted':
        return isDisplay ? text : undefined;
      default:
        return is.longTextsAreKept ? text : text.slice(0, Number(column.max_length));
    }
  };

  const update = (c: VendorContext, table: string, row: ServicenowRow, body: z.infer<typeof bodySchema>): void => {
    const isDisplay = c.req.query('sysparm_input_display_value') === 'true';
    const changes: ServicenowRow = {};
    let isCounted = is.sameValuesAreCounted;
    for (const [name, given] of Object.entries(body)) {
      const column = columnsOf(table).find(({ element }) => element === name);
      if (column === undefined || name.startsWith('sys_')) continue;
      if (state.protectedFields.has(name) && is.protectedFieldsAreRefused) throw denied('Update');
      if (state.protectedFields.has(name) || (column.read_only === 'true' && !is.readOnlyFieldsAreWritten)) continue;
      const text = given === null ? '' : String(given);
      const value = stored(column, isDisplay ? fromDisplayed(column, text) : text, isDisplay);
      if (value === undefined || value === (row[name] ?? '')) continue;
      isCounted = true;
      if (column.internal_type !== 'journal_input') changes[name] = value; // another table has the texts of journals
    }
    if (!isCounted || faults.meets(c, 'dropped-field')) return;
    Object.assign(row, changes, {
      sys_mod_count: `${Number(row.sys_mod_count ?? 0) + 1}`,
      sys_updated_on: inZone(Date.now(), 'UTC'),
      sys_updated_by: state.credentials.username,
    });
  };

  const tableOf = (c: VendorContext): string => {
    const { table = '' } = c.req.param();
    if (!state.tables.has(table)) throw refusal(400, `Invalid table ${table}`);
    if (state.hiddenTables.has(table) && is.hiddenTablesAreRefused) throw refusal(403, noRights);
    return table;
  };
  const found = (c: VendorContext, table: string): ServicenowRow => {
    const row = rowsOf(table).find(({ sys_id }) => sys_id === c.req.param('id'));
    if (row === undefined) throw missing();
    return row;
  };

  const list = (c: VendorContext): Response => {
    const table = tableOf(c);
    const { sysparm_limit: limit, sysparm_offset: offset } = pageSchema.parse(c.req.query());
    const rows = queried(c, table);
    if (rows.length === 0 && c.req.param('version') === 'v1') throw missing();
    const next = new URL(c.req.url);
    next.searchParams.set('sysparm_offset', `${offset + limit}`);
    const hasLink = offset + limit < rows.length && c.req.query('sysparm_suppress_pagination_header') !== 'true';
    const link: Record<string, string> = hasLink ? { Link: `<${next}>;rel="next"` } : {};
    const result = rows.slice(offset, offset + limit).map((row) => shown(c, table, row));
    return c.json({ result }, 200, { 'X-Total-Count': `${rows.length}`, ...link });
  };
  const change = async (c: VendorContext): Promise<Response> => {
    if (!c.req.header('content-type')?.startsWith('application/json')) throw refusal(415, 'Unsupported media type');
    const table = tableOf(c);
    const row = found(c, table);
    update(c, table, row, bodySchema.parse(await c.req.json()));
    return c.req.header('x-no-response-body') === 'true' ? c.body(null, 204) : c.json({ result: shown(c, table, row) });
  };

  for (const api of ['/api/now/table', '/api/now/:version{v[12]}/table'])
    app
      .get(`${api}/:table`, list)
      .post(`${api}/:table`, () => {
        throw denied('Insert');
      })
      .get(`${api}/:table/:id`, (c) => c.json({ result: shown(c, tableOf(c), found(c, tableOf(c))) }))
      .on(['PATCH', 'PUT'], `${api}/:table/:id`, change)
      .delete(`${api}/:table/:id`, () => {
        throw denied('Delete');
      });
  app.post(tokenPath, async (c) => {
    const form = formOf(await c.req.text());
    const { username, password, clientId, clientSecret } = state.credentials;
    const refresh = state.tokens.find((token) => token.refresh !== undefined && token.refresh === form.refresh_token)?.refresh;
    const isGranted =
      form.client_id === clientId &&
      form.client_secret === clientSecret &&
      ((form.grant_type === 'password' && form.username === username && form.password === password) ||
        (form.grant_type === 'refresh_token' && refresh !== undefined) ||
        (form.grant_type === 'client_credentials' && state.clientCredentialsAreOn));
    if (!isGranted) throw noToken();
    const number = state.tokens.length + 1;
    const token = {
      access: `access-token-${number}`,
      ...(form.grant_type === 'client_credentials' ? {} : { refresh: refresh ?? `refresh-token-${number}` }),
      expiresAt: Date.now() + state.tokenSeconds * 1000,
    };
    state.tokens.push(token);
    const scope = { scope: 'useraccount', token_type: 'Bearer', expires_in: state.tokenSeconds };
    return c.json({ ...scope, refresh_token: token.refresh, access_token: token.access });
  });
  return { kind: 'servicenow', app, state, faults };
}

const noRights = 'Insufficient rights to query records';
const businessRule =
  "Operation against file 'incident' was aborted by Business Rule 'Closed incidents stay closed^5230b9179735ca504546f027f053af79'. " +
  'Business Rule Stack:Closed incidents stay closed';
const dataPolicy = 'Data Policy Exception: \n\tThe following fields are mandatory: Resolution code, Close notes';

const bodySchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
const pageSchema = z.object({
  sysparm_limit: z.coerce.number().int().min(0).default(10_000),
  sysparm_offset: z.coerce.number().int().min(0).default(0),
});

function firstState(credentials: ServicenowState['credentials']): ServicenowState {
  return {
    calls: [],
    credentials,
    tables: servicenowTables(),
    hiddenTables: new Set(['problem']),
    protectedFields: new Set(['u_audit']),
    timeZone: 'America/Chicago',
    invalidQueriesReturnNoRows: false,
    clientCredentialsAreOn: false,
    tokens: [],
    tokenSeconds: 1799,
    hour: { endsAt: 0, requests: 0 },
  };
}
