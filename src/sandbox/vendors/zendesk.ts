/** The simulator of Zendesk Support: tickets, their custom fields, and OAuth tokens. */

import { z } from 'zod';
import { capital } from '../../chain/text.js';
import { basicAuth, type Token, tokenIn } from './credentials.js';
import { keyedBy, named, withoutMillis } from './records.js';
import { addHeaders, faultsOf, Refusal, refuse, urlWith, type VendorContext, vendorApp, withCalls } from './vendor.js';

export const zendeskDoubts = {
  numbersComeBackAsTexts: true,
  unknownOptionsAreRefused: false, // false: unknown options are ignored, and the status is 200
  unknownFieldsAreRefused: false, // false: unknown fields are ignored
  uneditableFieldsAreWritten: false, // true: fields with `agent_can_edit: false` can be written
  sameValuesAreCounted: false, // true: an update that changes nothing also creates an audit and changes updated_at
  wrongTokensAreLikeWrongPasswords: false, // true: a wrong token and a wrong password get the same body
  limitsAreAnsweredInJson: false, // false: the answers are plain text
};

export const zendeskCredentials = {
  ...{ email: 'relay@example.com', apiToken: 'zendesk-api-token' },
  ...{ clientId: 'relay', clientSecret: 'zendesk-client-secret' },
};

const minuteMs = 60_000;

export function createZendesk({ doubts }: { doubts?: Partial<typeof zendeskDoubts> } = {}) {
  const is = { ...zendeskDoubts, ...doubts };
  const state = withCalls(firstState());

  const refusal = (status: number, error: string, description: string, headers = {}) =>
    new Refusal(status, { error, description }, headers);
  const titled = (status: number, title: string, message: string) => new Refusal(status, { error: { title, message } });
  const missing = () => refusal(404, 'RecordNotFound', 'Not found');
  const invalid = (problems: unknown[], key = 'base') =>
    new Refusal(422, { error: 'RecordInvalid', description: 'Record validation errors', details: { [key]: problems } });
  const unauthorized = () => new Refusal(401, { error: "Couldn't authenticate you" });
  const ungranted = (status: number, error: string, error_description: string) =>
    new Refusal(status, { error, error_description });
  const noEndpoint = () => refusal(404, 'InvalidEndpoint', 'Not found');
  const forbidden = () => titled(403, 'Forbidden', noAccess);
  const tooMany = (description: string, retryAfter: number, more = {}) => {
    const headers = { 'Retry-After': `${retryAfter}`, ...more };
    if (is.limitsAreAnsweredInJson) return refusal(429, 'APIRateLimitExceeded', description, headers);
    return new Refusal(429, description, { 'Content-Type': 'text/plain', ...headers });
  };

  const limitHeaders = (left = state.limits.perMinute - lately(state.requests).length) => ({
    ...{ 'X-Rate-Limit': `${state.limits.perMinute}`, 'X-Rate-Limit-Remaining': `${Math.max(0, left)}` },
    ...{ 'ratelimit-limit': `${state.limits.perMinute}`, 'ratelimit-remaining': `${Math.max(0, left)}` },
    'ratelimit-reset': `${secondsFrom(lately(state.requests))}`,
  });
  const tooManyRequests = () => tooMany(accountLimit, secondsFrom(lately(state.requests)), limitHeaders(0));
  const countUpdate = (c: VendorContext, ticket: number) => {
    const ofTicket = state.updates.filter((update) => update.ticket === ticket).map(({ at }) => at);
    const [times, all] = [lately(ofTicket, 10 * minuteMs), lately(state.updates.map(({ at }) => at))];
    if (faults.meets(c, 'ticket-rate-limit') || times.length >= state.limits.updatesPerTicket)
      throw tooMany(ticketLimit, secondsFrom(times, 10 * minuteMs));
    if (all.length >= state.limits.updatesPerMinute) throw tooMany(accountLimit, secondsFrom(all));
    state.updates.push({ at: Date.now(), ticket });
  };

  const checkCredentials = (c: VendorContext, authorization = '') => {
    const { email, apiToken } = state.credentials;
    if (authorization === basicAuth(`${email}/token`, apiToken)) return;
    const token = tokenIn(state.tokens, authorization);
    const isWrongToken = authorization.startsWith('Bearer ') && !is.wrongTokensAreLikeWrongPasswords;
    if (token === undefined) throw isWrongToken ? ungranted(401, 'invalid_token', ended) : unauthorized();
    const needed = c.req.method === 'GET' ? 'read' : 'write';
    if (!token.scope?.split(' ').some((scope) => scope === needed || scope === `tickets:${needed}`))
      throw refusal(403, 'Forbidden', `You are missing the following required scopes: ${needed}`);
  };
  const answers = {
    credentials: unauthorized,
    'rate-limit': tooManyRequests,
    validation: () => invalid([{ description: 'The ticket is not valid', error: null }]),
    permission: forbidden,
    conflict: () => refusal(409, 'DatabaseConflict', 'Database collision'),
    'no-account': () => titled(404, 'No help desk at example.zendesk.com', noHelpDesk),
    'server-error': () => refusal(503, 'ServiceUnavailable', 'The service is temporarily unavailable', { 'Retry-After': '30' }),
  };
  // `changed-meanwhile`: another user changes the ticket just before an update.
  const faults = faultsOf(answers, 'token-expired', 'ticket-rate-limit', 'changed-meanwhile', 'dropped-field');

  const app = vendorApp({
    ...{ state, faults, answers, open: '/oauth/' },
    guard: async (c) => {
      if (faults.meets(c, 'token-expired')) for (const token of state.tokens) token.expiresAt = 0;
      const authorization = c.req.header('authorization');
      if (authorization !== undefined || c.req.path !== '/api/v2/users/me') checkCredentials(c, authorization);
      state.requests = lately(state.requests);
      if (state.requests.length >= state.limits.perMinute) throw tooManyRequests();
      state.requests.push(Date.now());
      return () => addHeaders(c, limitHeaders());
    },
    ...{ noPath: noEndpoint, noMethod: noEndpoint },
    broken: (c, error) => {
      const [issue] = error instanceof z.ZodError ? error.issues : [];
      if (issue === undefined) return new Refusal(422, { error: 'Unprocessable Entity', message: 'Server could not parse JSON' });
      const { message, path } = issue;
      if (c.req.path.startsWith('/oauth/')) return ungranted(400, 'invalid_request', message);
      const attribute = `You passed an invalid value for the ${path.join('.')} attribute.`;
      return titled(400, 'Invalid attribute', `${attribute} ${message}`);
    },
    getPath: ({ url }) => new URL(url).pathname.replace(/^(\/api\/v2\/.+)\.json$/, '$1'), // paths may end with `.json`
  });

  const urlOf = (c: VendorContext, path: string) => `${new URL(c.req.url).origin}/api/v2/${path}.json`;
  const shownField = (c: VendorContext, field: Field) => {
    return { url: urlOf(c, `ticket_fields/${field.id}`), ...field, raw_title: field.title };
  };
  const customFields = () => state.fields.filter(({ active, removable }) => active && removable);
  const shownValue = ({ type }: Field, value: Value = null): Value => {
    if (value === null || !['integer', 'decimal'].includes(type)) return value;
    return is.numbersComeBackAsTexts ? `${value}` : Number(value);
  };
  const shown = (c: VendorContext, { values, audit: _, ...ticket }: Ticket) => {
    const custom_fields = customFields().map((field) => ({ id: field.id, value: shownValue(field, values[field.id]) }));
    return { url: urlOf(c, `tickets/${ticket.id}`), ...ticket, tags: [], custom_fields };
  };

  const problem = ({ id, title, type }: Field, what: string, error: string | null) => {
    const kind = { ticket_field_id: id, ticket_field_type: `Field${capital(type)}` };
    return { description: `${title}${what}`, error, ...kind };
  };
  /** @returns the value as the simulator keeps it, or undefined if the value is ignored */
  const accepted = (field: Field, value: Value): Value | undefined => {
    const { type, custom_field_options: options, regexp_for_validation: pattern } = field;
    if (value === null || value === '') return null;
    const { data } = (forms[type] ?? matching(new RegExp(pattern ?? ''))).safeParse(value);
    const isOption = (tag: unknown) => !options || options.some((option) => option.value === tag);
    const isKnown = [data].flat().every(isOption);
    if (data === undefined || (!isKnown && is.unknownOptionsAreRefused))
      throw invalid([problem(field, ' is not valid', 'InvalidValue')]);
    if (Array.isArray(data)) return data.filter(isOption);
    return isKnown ? data : undefined;
  };

  const found = (c: VendorContext) => state.tickets.get(Number(c.req.param('id'))) ?? refuse(missing());

  const update = (c: VendorContext, given: z.infer<typeof changeSchema>): Ticket => {
    const { custom_fields, comment, updated_stamp = '', safe_update, ...changes } = given;
    const ticket = found(c);
    countUpdate(c, ticket.id);
    if (faults.meets(c, 'changed-meanwhile'))
      ticket.updated_at = withoutMillis(Math.max(Date.now(), Date.parse(ticket.updated_at) + 1000));
    if (ticket.status === 'closed') throw invalid([{ description: 'Status: closed prevents ticket update' }], 'status');
    if (`${safe_update}` === 'true' && Date.parse(updated_stamp) !== Date.parse(ticket.updated_at))
      throw refusal(409, 'UpdateConflict', outdated);
    const values = { ...ticket.values };
    for (const { id, value } of custom_fields) {
      const field = customFields().find((one) => one.id === id);
      if (field === undefined && is.unknownFieldsAreRefused)
        throw invalid([{ description: `Custom field ${id} does not exist`, error: 'InvalidValue' }]);
      if (field === undefined || !(field.agent_can_edit || is.uneditableFieldsAreWritten)) continue;
      const kept = accepted(field, value);
      if (kept !== undefined) values[id] = kept;
    }
    const next = { ...ticket, ...changes, values };
    const empty = customFields().filter(({ id, required }) => required && (values[id] ?? null) === null);
    if (next.status === 'solved' && ticket.status !== 'solved' && empty.length > 0)
      throw invalid(empty.map((field) => problem(field, ': is required when solving a ticket', null)));
    const isChanged = JSON.stringify(next) !== JSON.stringify(ticket) || comment !== undefined;
    if (faults.meets(c, 'dropped-field') || !(isChanged || is.sameValuesAreCounted)) return ticket;
    const updated_at = withoutMillis();
    const id = ticket.audit.id + 1;
    const changed = customFields().filter((field) => `${values[field.id]}` !== `${ticket.values[field.id]}`);
    const events = changed.map(({ id: field }, index) => {
      const [value, previous_value] = [values[field] ?? null, ticket.values[field] ?? null];
      return { id: id * 100 + index, type: 'Change', field_name: `${field}`, value, previous_value };
    });
    const updated = { ...next, updated_at, audit: { ...ticket.audit, id, created_at: updated_at, events } };
    state.tickets.set(ticket.id, updated);
    return updated;
  };

  const listFields = (c: VendorContext): Response => {
    const size = c.req.query('page[size]');
    const shownFields = (fields: Field[]) => fields.map((field) => shownField(c, field));
    const all = { ticket_fields: shownFields(state.fields), count: state.fields.length };
    if (size === undefined) return c.json({ ...all, next_page: null, previous_page: null });
    const count = z.coerce.number().int().min(1).max(100).parse(size);
    const after = z.coerce.number().int().default(0).parse(c.req.query('page[after]'));
    const rest = state.fields.filter(({ id }) => id > after).sort((a, b) => a.id - b.id);
    const page = rest.slice(0, count);
    const has_more = rest.length > count;
    const after_cursor = page.at(-1)?.id.toString() ?? null;
    const links = { next: has_more ? urlWith(c, 'page[after]', after_cursor) : null, prev: null };
    return c.json({ ticket_fields: shownFields(page), meta: { has_more, after_cursor, before_cursor: null }, links });
  };
  const grant = ({ client_id, client_secret, grant_type, ...asked }: z.infer<typeof grantSchema>) => {
    const { clientId, clientSecret } = state.credentials;
    if (client_id !== clientId || client_secret !== clientSecret)
      throw ungranted(401, 'invalid_client', 'Client authentication failed');
    const isRefresh = grant_type === 'refresh_token';
    const old = isRefresh ? state.tokens.find(({ refresh }) => refresh && refresh === asked.refresh_token) : undefined;
    if (old === undefined && grant_type !== 'client_credentials') throw ungranted(400, 'invalid_grant', noGrant);
    if (old) Object.assign(old, { refresh: undefined, expiresAt: 0 });
    const { scope = old?.scope ?? 'read', expires_in, refresh_token_expires_in } = asked;
    const [access_token, refresh_token] = ['access', 'refresh'].map((name) => `${name}-token-${state.tokens.length}`);
    const expiresAt = expires_in === null ? Number.POSITIVE_INFINITY : Date.now() + expires_in * 1000;
    state.tokens.push({ access: `${access_token}`, refresh: old && refresh_token, scope, expiresAt });
    return { access_token, token_type: 'bearer', scope, expires_in, ...(old && { refresh_token, refresh_token_expires_in }) };
  };

  app
    .get('/api/v2/tickets/:id{\\d+}', (c) => c.json({ ticket: shown(c, found(c)) }))
    .put('/api/v2/tickets/:id{\\d+}', async (c) => {
      const { ticket: given } = bodySchema.parse(await c.req.json());
      const removed = JSON.stringify(Object.keys(given).filter((key) => !(key in changeSchema.shape)));
      const ticket = update(c, changeSchema.parse(given));
      const warning = `Removed restricted keys ${removed.replaceAll(',', ', ')} from parameters according to whitelist`;
      if (removed !== '[]') c.header('X-Zendesk-API-Warn', warning);
      return c.json({ ticket: shown(c, ticket), audit: ticket.audit });
    })
    .delete('/api/v2/tickets/:id{\\d+}', () => refuse(forbidden()))
    .post('/api/v2/tickets', () => refuse(forbidden()))
    .get('/api/v2/ticket_fields', listFields)
    .get('/api/v2/ticket_fields/:id{\\d+}', (c) => {
      const field = state.fields.find(({ id }) => id === Number(c.req.param('id'))) ?? refuse(missing());
      return c.json({ ticket_field: shownField(c, field) });
    })
    .get('/api/v2/users/me', (c) => {
      const known = { id: agent, name: 'Relay', email: state.credentials.email, role: 'agent' };
      return c.json({ user: c.req.header('authorization') === undefined ? anonymous : known });
    })
    .post('/oauth/tokens', async (c) => c.json(grant(grantSchema.parse(await c.req.json())), 201));
  const titleOf = (key: string) => state.fields.find((field) => field.id === Number(key))?.title;
  return {
    ...{ kind: 'zendesk', paths: /^\/(api\/v2|oauth)\//, app, state, faults },
    settings: { subdomain: 'example', email: zendeskCredentials.email, token: zendeskCredentials.apiToken },
    records: () =>
      [...state.tickets.values()].map(({ id, subject: title, values }) => ({ id, title, fields: named(values, titleOf) })),
  };
}

const noAccess = 'You do not have access to this page. Please contact the account owner of this help desk for further help.';
const noHelpDesk =
  'There is no help desk configured at this address. This means that the address is available and that you can claim it at http://www.zendesk.com/signup';
const ended = 'The access token provided is expired, revoked, malformed or invalid for other reasons.';
const noGrant =
  'The provided access grant is invalid, expired, or revoked (e.g. invalid assertion, expired authorization token, bad end-user password credentials, or mismatching authorization code and redirection URI).';
const accountLimit = 'Number of allowed API requests per minute exceeded';
const ticketLimit = 'Rate limit for ticket updates exceeded, please wait before updating this ticket again';
const outdated =
  'Safe Update prevented the update due to outdated ticket data. Please fetch the latest ticket data and try again.';
const anonymous = { id: null, name: 'Anonymous user', email: 'invalid@example.com', role: 'end-user' };

const lately = (times: number[], periodMs = minuteMs) => times.filter((at) => at > Date.now() - periodMs);
/** The seconds until the first of these times is older than the period. */
const secondsFrom = ([first = Date.now()]: number[], periodMs = minuteMs) => Math.ceil((first + periodMs - Date.now()) / 1000);

const anything = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const matching = (pattern: RegExp) => anything.refine((text) => pattern.test(text));

/** The form of each type. A field of the type `regexp` has its own pattern. */
const forms: Record<string, z.ZodType<Exclude<Value, null>>> = {
  ...{ text: anything, textarea: anything, tagger: anything },
  ...{ checkbox: z.boolean(), multiselect: z.array(z.string()), date: anything.pipe(z.iso.date()) },
  ...{ integer: matching(/^-?\d+$/), decimal: matching(/^-?\d+(\.\d+)?$/), lookup: matching(/^\d+$/) },
  partialcreditcard: anything.transform((text) => text.slice(-4).padStart(text.length, 'X')),
};

const bodySchema = z.object({ ticket: z.record(z.string(), z.unknown()) });
const valueSchema = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);
const changeSchema = z.object({
  custom_fields: z.array(z.strictObject({ id: z.int(), value: valueSchema })).default([]),
  status: z.enum(['new', 'open', 'pending', 'hold', 'solved', 'closed']).optional(),
  priority: z.enum(['urgent', 'high', 'normal', 'low']).nullable().optional(),
  ...{ subject: z.string().optional(), updated_stamp: z.string().optional() },
  comment: z.looseObject({ body: z.string() }).optional(),
  safe_update: z.union([z.boolean(), z.enum(['true', 'false'])]).default(false),
});
const grantSchema = z.object({
  grant_type: z.enum(['authorization_code', 'refresh_token', 'client_credentials']),
  ...{ client_id: z.string(), client_secret: z.string(), refresh_token: z.string().optional(), scope: z.string().optional() },
  expires_in: z.int().min(300).max(172_800).nullable().default(null),
  refresh_token_expires_in: z.int().min(604_800).max(7_776_000).default(2_592_000),
});

/** The id of the user to whom the credentials belong. */
const agent = 20978392;

type Value = z.infer<typeof valueSchema>;
type Field = ReturnType<typeof field>;
type Ticket = ReturnType<typeof ticket>;

/**
 * To solve a ticket, each `required` field must have a value. A ticket's `custom_fields` contain only `removable` fields, so they
 * do not contain the status.
 */
const usualField = {
  ...{ active: true, required: false, removable: true, agent_can_edit: true },
  regexp_for_validation: null as string | null,
};
type Named = [name: string, value: string];
const field = (id: number, type: string, title: string, more: Partial<typeof usualField> = {}, ...options: Named[]) => {
  const shown = options.map(([name, value], index) => ({ id: id * 10 + index, name, raw_name: name, value, default: false }));
  return { id, type, title, ...usualField, ...more, custom_field_options: shown.length > 0 ? shown : undefined };
};
/** @param values - the values of custom fields, by field id */
const ticket = (id: number, subject: string, status = 'open', values: Record<number, Value> = {}) => {
  const times = { created_at: '2026-01-05T08:00:00Z', updated_at: '2026-01-05T09:00:00Z' };
  const audit = { id: 1, ticket_id: id, created_at: times.created_at, author_id: agent, events: [] as object[] }; // the newest audit
  return { id, subject, status, priority: null as string | null, ...times, values, audit };
};

/** There is a field of each type. Two fields have the title `Gate`. Two have the title `Arrival`, and one of them is inactive. */
function firstState() {
  const token = { access: 'access-token-0', refresh: 'refresh-token-0', scope: 'read write' };
  return {
    credentials: { ...zendeskCredentials },
    tokens: [{ ...token, expiresAt: Number.POSITIVE_INFINITY }] as Token[],
    // The fields are in the order of their positions.
    fields: [
      field(100, 'subject', 'Subject', { removable: false }),
      field(101, 'status', 'Status', { removable: false }),
      field(360001, 'date', 'Arrival'),
      field(360002, 'text', 'Site note'),
      field(360003, 'textarea', 'Report'),
      field(360004, 'integer', 'Visits'),
      field(360005, 'decimal', 'Hours'),
      field(360006, 'checkbox', 'Visited'),
      field(360007, 'tagger', 'Result', { required: true }, ['Done', 'result_done'], ['Return needed', 'result_return']),
      field(360008, 'multiselect', 'Skills', {}, ['Cabling', 'skill_cabling'], ['Wireless', 'skill_wireless']),
      field(360009, 'regexp', 'Permit', { regexp_for_validation: '^[A-Z]{2}-\\d{2}$' }),
      field(360010, 'partialcreditcard', 'Card'),
      field(360011, 'lookup', 'Technician'),
      field(360012, 'text', 'Relay id', { agent_can_edit: false }),
      field(360013, 'text', 'Gate'),
      field(360014, 'text', 'Gate'),
      field(360000, 'date', 'Arrival', { active: false }),
    ],
    tickets: keyedBy('id', [
      ticket(35436, 'Replace a broken till', 'open', { 360002: 'Ring twice', 360006: false }),
      ticket(35437, 'Install two access points'),
      ticket(35438, 'Check the till', 'closed'),
    ]),
    limits: { perMinute: 700, updatesPerMinute: 100, updatesPerTicket: 30 }, // `updatesPerTicket` is the limit for ten minutes
    requests: [] as number[], // the times of the requests, in Unix milliseconds
    updates: [] as { at: number; ticket: number }[],
  };
}
