/**
 * The simulator of ServiceNow's Table API: incidents, and the tables that describe their columns. A table is a list of rows, as in
 * ServiceNow: `sys_dictionary` lists the columns, `sys_choice` lists the options, and `sys_db_object` lists the tables.
 */

import { z } from 'zod';
import { basicAuth, type Token, tokenIn } from './credentials.js';
import { dateTime, inZone, isDate, type ServicenowRow, servicenowTables, tablesOf } from './servicenow-tables.js';
import { addHeaders, faultsOf, formOf, Refusal, refuse, urlWith, type VendorContext, vendorApp, withCalls } from './vendor.js';

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

export const servicenowCredentials = {
  ...{ username: 'relay', password: 'servicenow-password' },
  ...{ clientId: 'a329c4515612210071a5e0c298ee2be8', clientSecret: 'servicenow-client-secret' },
};

const parameters =
  'query fields limit offset display_value input_display_value exclude_reference_link suppress_pagination_header no_count query_no_domain query_category view';
const number = /^-?\d+(\.\d+)?$/;
const patterns: Record<string, RegExp> = { boolean: /^(true|false)$/, integer: /^-?\d+$/, decimal: number, float: number };
const tokenPath = '/oauth_token.do';
const hourMs = 3_600_000;
const defaultRule = { rule: 'c0'.repeat(16), perHour: 100 };

export function createServicenow({ doubts }: { doubts?: Partial<typeof servicenowDoubts> } = {}) {
  const is = { ...servicenowDoubts, ...doubts };
  const state = withCalls(firstState());

  const refusal = (status: number, message: string, detail: string | null = null, headers = {}) =>
    new Refusal(status, { error: { message, detail }, status: 'failure' }, headers);
  const failed = (detail: string) => refusal(403, 'Operation Failed', detail);
  const denied = (operation: string) => failed(`ACL Exception ${operation} Failed due to security constraints`);
  const missing = () => refusal(404, 'No Record found', "Record doesn't exist or ACL restricts the record retrieval");
  const unauthorized = () => refusal(401, 'User Not Authenticated', 'Required to provide Auth information');

  const limitHeaders = ({ rule, perHour } = state.rateLimit ?? defaultRule) => {
    const endsAt = `${state.hour.endsAt / 1000}`;
    return { 'X-RateLimit-Limit': `${perHour}`, 'X-RateLimit-Reset': endsAt, 'X-RateLimit-Rule': rule };
  };
  const tooMany = () => {
    const headers = { ...limitHeaders(), 'Retry-After': `${Math.ceil((state.hour.endsAt - Date.now()) / 1000)}` };
    const detail = `Rate limit of ${headers['X-RateLimit-Limit']} requests per hour for Table API exceeded`;
    return refusal(429, 'Rate limit exceeded', detail, headers);
  };

  const answers = {
    credentials: unauthorized,
    'rate-limit': tooMany,
    permission: () => denied('Update'),
    'business-rule': () => failed(businessRule),
    'data-policy': () => failed(dataPolicy),
    'server-error': () => refusal(500, 'Transaction cancelled: maximum execution time exceeded'),
  };
  const faults = faultsOf(answers, 'token-expired', 'dropped-field');

  const app = vendorApp({
    ...{ state, faults, answers, open: tokenPath },
    guard: async (c) => {
      if (faults.meets(c, 'token-expired')) for (const token of state.tokens) token.expiresAt = 0;
      const { username, password } = state.credentials;
      const authorization = c.req.header('authorization');
      if (authorization !== basicAuth(username, password) && !tokenIn(state.tokens, authorization)) throw unauthorized();
      if (state.hour.endsAt <= Date.now()) state.hour = { endsAt: (Math.floor(Date.now() / hourMs) + 1) * hourMs, requests: 0 };
      if (state.rateLimit !== undefined && state.hour.requests >= state.rateLimit.perHour) throw tooMany();
      state.hour.requests += 1;
      if (!/^$|application\/json|\*\/\*/.test(c.req.header('accept') ?? '')) throw refusal(406, 'Not acceptable');
      for (const name of Object.keys(c.req.query()))
        if (name.startsWith('sysparm_') && !parameters.split(' ').includes(name.slice(8)))
          throw refusal(400, `Invalid parameter ${name}`);
      return () => state.rateLimit && addHeaders(c, limitHeaders());
    },
    noPath: () => refusal(is.unknownPathsAre404 ? 404 : 400, 'Requested URI does not represent any resource'),
    noMethod: () => refusal(405, 'Method not supported'),
    broken: (_, __, why) => refusal(400, 'Exception while reading request', why.replace('request body', 'payload')),
  });

  const { rowsOf, columnsOf, choicesOf, cellAt, displayed, fromDisplayed, matching } = tablesOf(state);

  const shownCell = (c: VendorContext, { column, value }: { column: ServicenowRow; value: string }): unknown => {
    const display = c.req.query('sysparm_display_value') ?? 'false';
    const isReference = column.reference !== '' && column.internal_type === 'reference' && value !== '';
    // The dictionary refers to types and tables by their names, and not by their ids.
    const target = column.name === 'sys_dictionary' ? `?name=${value}` : `/${value}`;
    const isLinked = isReference && c.req.query('sysparm_exclude_reference_link') !== 'true';
    const link = isLinked ? `${new URL(c.req.url).origin}/api/now/table/${column.reference}${target}` : undefined;
    const display_value = display === 'false' ? undefined : displayed(column, value);
    if (display === 'all') return { display_value, value, link };
    if (display === 'true') return link ? { display_value, link } : display_value;
    return link ? { link, value } : value;
  };
  const shown = (c: VendorContext, table: string, row: ServicenowRow) => {
    const paths = c.req.query('sysparm_fields')?.split(',') ?? columnsOf(table).map(({ element = '' }) => element);
    const cells = paths.map((path) => [path, cellAt(table, row, path)] as const);
    return Object.fromEntries(cells.map(([path, cell]) => [path, cell && shownCell(c, cell)]));
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
    const type = column.internal_type ?? '';
    if (patterns[type]?.test(text) === false) return undefined;
    if (type === 'decimal' || type === 'float') return `${Number(Number(text).toFixed(type === 'float' ? 7 : 2))}`;
    if (type === 'glide_date') return isDate(text) ? text : wrongDate;
    if (type === 'glide_date_time') return dateTime.test(text) && isDate(text.slice(0, 10)) ? text : wrongDate;
    if (type === 'glide_encrypted') return isDisplay ? text : undefined;
    if (type !== 'reference') return is.longTextsAreKept || patterns[type] ? text : text.slice(0, Number(column.max_length));
    return is.unknownChoicesAreKept || rowsOf(column.reference ?? '').some(({ sys_id }) => sys_id === text) ? text : undefined;
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
    const update = { sys_updated_on: inZone(Date.now(), 'UTC'), sys_updated_by: state.credentials.username };
    Object.assign(row, changes, update, { sys_mod_count: `${Number(row.sys_mod_count ?? 0) + 1}` });
  };

  const tableOf = (c: VendorContext): string => {
    const { table = '' } = c.req.param();
    if (!state.tables.has(table)) throw refusal(400, `Invalid table ${table}`);
    if (state.hiddenTables.has(table) && is.hiddenTablesAreRefused) throw refusal(403, noRights);
    return table;
  };
  const found = (c: VendorContext, table: string) =>
    rowsOf(table).find(({ sys_id }) => sys_id === c.req.param('id')) ?? refuse(missing());

  const list = (c: VendorContext): Response => {
    const table = tableOf(c);
    const { sysparm_limit: limit, sysparm_offset: offset } = pageSchema.parse(c.req.query());
    const rows = queried(c, table);
    if (rows.length === 0 && c.req.param('version') === 'v1') throw missing();
    const hasLink = offset + limit < rows.length && c.req.query('sysparm_suppress_pagination_header') !== 'true';
    const link = hasLink && { Link: `<${urlWith(c, 'sysparm_offset', offset + limit)}>;rel="next"` };
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
      .post(`${api}/:table`, () => refuse(denied('Insert')))
      .get(`${api}/:table/:id`, (c) => c.json({ result: shown(c, tableOf(c), found(c, tableOf(c))) }))
      .on(['PATCH', 'PUT'], `${api}/:table/:id`, change)
      .delete(`${api}/:table/:id`, () => refuse(denied('Delete')));
  app.post(tokenPath, async (c) => {
    const form = formOf(await c.req.text());
    const { username, password, clientId, clientSecret } = state.credentials;
    const refresh = state.tokens.find((token) => token.refresh !== undefined && token.refresh === form.refresh_token)?.refresh;
    const isGranted =
      (form.grant_type === 'password' && form.username === username && form.password === password) ||
      (form.grant_type === 'refresh_token' && refresh !== undefined) ||
      (form.grant_type === 'client_credentials' && state.clientCredentialsAreOn);
    if (!isGranted || form.client_id !== clientId || form.client_secret !== clientSecret)
      throw new Refusal(401, { error_description: 'access_denied', error: 'server_error' });
    const number = state.tokens.length + 1;
    const [access, ofPerson] = [`access-token-${number}`, refresh ?? `refresh-token-${number}`];
    const token = { access, refresh: form.grant_type === 'client_credentials' ? undefined : ofPerson };
    state.tokens.push({ ...token, expiresAt: Date.now() + state.tokenSeconds * 1000 });
    const scope = { scope: 'useraccount', token_type: 'Bearer', expires_in: state.tokenSeconds };
    return c.json({ ...scope, refresh_token: token.refresh, access_token: token.access });
  });
  const { username: userName, password } = servicenowCredentials;
  return {
    ...{ kind: 'servicenow', paths: /^\/(api\/now\/|oauth_token\.do)/, app, state, faults },
    settings: { instance: 'example', userName, password },
    records: () =>
      (state.tables.get('incident') ?? []).map(({ number: id = '', short_description: title = '', ...fields }) => ({
        ...{ id, title },
        fields: Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith('sys_'))),
      })),
  };
}

const noRights = 'Insufficient rights to query records';
const businessRule =
  "Operation against file 'incident' was aborted by Business Rule 'Closed incidents stay closed^5230b9179735ca504546f027f053af79'. " +
  'Business Rule Stack:Closed incidents stay closed';
const dataPolicy = 'Data Policy Exception: \n\tThe following fields are mandatory: Resolution code, Close notes';

const bodySchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
const count = z.coerce.number().int().min(0);
const pageSchema = z.object({ sysparm_limit: count.default(10_000), sysparm_offset: count.default(0) });

function firstState() {
  return {
    credentials: { ...servicenowCredentials },
    tables: servicenowTables(),
    hiddenTables: new Set(['problem']), // tables that the user may not read
    protectedFields: new Set(['u_audit']), // fields that the user may not write
    timeZone: 'America/Chicago', // the user's time zone, for display values
    invalidQueriesReturnNoRows: false, // the property glide.invalid_query.returns_no_rows
    clientCredentialsAreOn: false, // a property that a customer must create
    tokens: [] as Token[],
    tokenSeconds: 1799,
    /** The limit that a rule of the customer sets. Undefined if there is no limit. The count of requests starts at 0 every hour. */
    rateLimit: undefined as { rule: string; perHour: number } | undefined,
    hour: { endsAt: 0, requests: 0 },
  };
}
