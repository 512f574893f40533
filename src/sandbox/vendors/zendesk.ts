/** The simulator of Zendesk Support: tickets, their custom fields, and OAuth tokens. */

import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { addHeaders, Faults, Refusal, type Vendor, type VendorContext, type VendorState, vendorApp } from './vendor.js';
import {
  agent,
  type ZendeskField,
  type ZendeskTicket,
  type ZendeskValue,
  zendeskFields,
  zendeskTickets,
} from './zendesk-tickets.js';

/** Questions about the vendor that no document answers. `true` and `false` select the behavior of the simulator. */
export const zendeskDoubts = {
  numbersComeBackAsTexts: true,
  unknownOptionsAreRefused: false, // false: unknown options are ignored, and the status is 200
  unknownFieldsAreRefused: false, // false: unknown fields are ignored
  uneditableFieldsAreWritten: false, // true: fields with `agent_can_edit: false` can be written
  sameValuesAreCounted: false, // true: an update that changes nothing also creates an audit and changes updated_at
  wrongTokensAreLikeWrongPasswords: false, // true: the answers to both have the same body; false: the bodies differ
  limitsAreAnsweredInJson: false, // false: the answers are plain text
};
export type ZendeskDoubt = keyof typeof zendeskDoubts;

const failures = [
  'credentials',
  'token-expired',
  'rate-limit',
  'ticket-rate-limit',
  'validation',
  'permission',
  'conflict',
  'changed-meanwhile', // another user changes the ticket just before an update
  'no-account',
  'server-error',
  'dropped-field',
] as const;
export type ZendeskFailure = (typeof failures)[number];

export interface ZendeskState extends VendorState {
  credentials: typeof zendeskCredentials;
  tokens: { access: string; refresh?: string; scope: string; expiresAt: number }[];
  fields: ZendeskField[]; // in the order of their positions
  tickets: Map<number, ZendeskTicket>;
  limits: { perMinute: number; updatesPerMinute: number; updatesPerTicket: number }; // updatesPerTicket: in ten minutes
  requests: number[]; // the times of the requests, in Unix milliseconds
  updates: { at: number; ticket: number }[];
}

export const zendeskCredentials = {
  email: 'relay@example.com',
  apiToken: 'zendesk-api-token',
  clientId: 'relay',
  clientSecret: 'zendesk-client-secret',
};

const minuteMs = 60_000;

export function createZendesk(
  options: { credentials?: Partial<typeof zendeskCredentials>; doubts?: Partial<Record<ZendeskDoubt, boolean>> } = {},
): Vendor<ZendeskState, ZendeskFailure> {
  const is = { ...zendeskDoubts, ...options.doubts };
  const state = firstState({ ...zendeskCredentials, ...options.credentials });
  const faults = new Faults(failures);

  const refusal = (status: number, error: string, description: string, headers = {}) =>
    new Refusal(status, { error, description }, headers);
  const titled = (status: number, title: string, message: string) => new Refusal(status, { error: { title, message } });
  const missing = () => refusal(404, 'RecordNotFound', 'Not found');
  const invalid = (problems: unknown[], key = 'base') =>
    new Refusal(422, { error: 'RecordInvalid', description: 'Record validation errors', details: { [key]: problems } });
  const unauthorized = () => new Refusal(401, { error: "Couldn't authenticate you" });
  const badToken = () =>
    is.wrongTokensAreLikeWrongPasswords ? unauthorized() : new Refusal(401, { error: 'invalid_token', ...ended });
  const forbidden = () => titled(403, 'Forbidden', noAccess);
  const tooMany = (description: string, retryAfter: number, more = {}) => {
    const headers = { 'Retry-After': `${retryAfter}`, ...more };
    if (is.limitsAreAnsweredInJson) return refusal(429, 'APIRateLimitExceeded', description, headers);
    return new Refusal(429, description, { 'Content-Type': 'text/plain', ...headers });
  };

  /** Selects the times that are in the last minute. */
  const lately = (times: number[]) => times.filter((at) => at > Date.now() - minuteMs);
  const secondsUntil = (at = Date.now()) => Math.ceil((at - Date.now()) / 1000);
  const limitHeaders = () => {
    const { perMinute } = state.limits;
    const requests = lately(state.requests);
    const [limit, remaining] = [`${perMinute}`, `${Math.max(0, perMinute - requests.length)}`];
    return {
      'X-Rate-Limit': limit,
      'X-Rate-Limit-Remaining': remaining,
      'ratelimit-limit': limit,
      'ratelimit-remaining': remaining,
      'ratelimit-reset': `${secondsUntil((requests[0] ?? Date.now()) + minuteMs)}`,
    };
  };
  const tooManyRequests = () => {
    const headers = { ...limitHeaders(), 'X-Rate-Limit-Remaining': '0', 'ratelimit-remaining': '0' };
    return tooMany(accountLimit, Number(headers['ratelimit-reset']), headers);
  };
  const countRequest = () => {
    state.requests = lately(state.requests);
    if (state.requests.length >= state.limits.perMinute) throw tooManyRequests();
    state.requests.push(Date.now());
  };
  const countUpdate = (c: VendorContext, ticket: number) => {
    state.updates = state.updates.filter(({ at }) => at > Date.now() - 10 * minuteMs);
    const ofTicket = state.updates.filter((update) => update.ticket === ticket);
    const ofAccount = lately(state.updates.map(({ at }) => at));
    const { updatesPerTicket, updatesPerMinute } = state.limits;
    if (faults.meets(c, 'ticket-rate-limit') || ofTicket.length >= updatesPerTicket)
      throw tooMany(ticketLimit, secondsUntil((ofTicket[0]?.at ?? Date.now()) + 10 * minuteMs));
    if (ofAccount.length >= updatesPerMinute) throw tooMany(accountLimit, secondsUntil((ofAccount[0] ?? Date.now()) + minuteMs));
    state.updates.push({ at: Date.now(), ticket });
  };

  const checkCredentials = (c: VendorContext, authorization = '') => {
    const { email, apiToken } = state.credentials;
    if (authorization === `Basic ${Buffer.from(`${email}/token:${apiToken}`).toString('base64')}`) return;
    if (!authorization.startsWith('Bearer ')) throw unauthorized();
    const token = state.tokens.find(({ access, expiresAt }) => authorization === `Bearer ${access}` && expiresAt > Date.now());
    if (token === undefined) throw badToken();
    const needed = c.req.method === 'GET' ? 'read' : 'write';
    if (!token.scope.split(' ').some((scope) => scope === needed || scope === `tickets:${needed}`))
      throw refusal(403, 'Forbidden', `You are missing the following required scopes: ${needed}`);
  };
  const guard: MiddlewareHandler = async (c, next) => {
    const { pathname } = new URL(c.req.url);
    if (pathname.startsWith('/oauth/')) return next();
    if (faults.meets(c, 'token-expired')) for (const token of state.tokens) token.expiresAt = 0;
    const authorization = c.req.header('authorization');
    const isAnonymous = authorization === undefined && pathname.startsWith('/api/v2/users/me');
    if (!isAnonymous) checkCredentials(c, authorization);
    countRequest();
    await next();
    addHeaders(c, limitHeaders());
  };

  const app = vendorApp({
    state,
    faults,
    guard,
    open: '/oauth/',
    answers: {
      credentials: unauthorized,
      'rate-limit': tooManyRequests,
      validation: () => invalid([{ description: 'The ticket is not valid', error: null }]),
      permission: forbidden,
      conflict: () => refusal(409, 'DatabaseConflict', 'Database collision'),
      'no-account': () => titled(404, 'No help desk at example.zendesk.com', noHelpDesk),
      'server-error': () => refusal(503, 'ServiceUnavailable', 'The service is temporarily unavailable', { 'Retry-After': '30' }),
    },
    undocumented: () => refusal(404, 'InvalidEndpoint', 'Not found'),
    broken: (c, error) => {
      const [issue] = error instanceof z.ZodError ? error.issues : [];
      if (issue === undefined) return new Refusal(422, { error: 'Unprocessable Entity', message: 'Server could not parse JSON' });
      if (c.req.path.startsWith('/oauth/'))
        return new Refusal(400, { error: 'invalid_request', error_description: issue.message });
      const attribute = `You passed an invalid value for the ${issue.path.join('.')} attribute.`;
      return titled(400, 'Invalid attribute', `${attribute} ${issue.message}`);
    },
  });

  const shownField = (c: VendorContext, field: ZendeskField) => ({
    url: `${new URL(c.req.url).origin}/api/v2/ticket_fields/${field.id}.json`,
    id: field.id,
    type: field.type,
    title: field.title,
    raw_title: field.title,
    active: field.active,
    required: field.required,
    removable: !field.isSystem,
    agent_can_edit: field.agentCanEdit,
    regexp_for_validation: field.regexp ?? null,
    ...(field.options && {
      custom_field_options: field.options.map(({ name, value }, index) => {
        return { id: field.id * 10 + index, name, raw_name: name, value, default: false };
      }),
    }),
  });
  const customFields = () => state.fields.filter(({ active, isSystem }) => active && !isSystem);
  const shownValue = ({ type }: ZendeskField, value: ZendeskValue = null): ZendeskValue => {
    if (value === null || !['integer', 'decimal'].includes(type)) return value;
    return is.numbersComeBackAsTexts ? `${value}` : Number(value);
  };
  const shown = (c: VendorContext, ticket: ZendeskTicket) => ({
    url: `${new URL(c.req.url).origin}/api/v2/tickets/${ticket.id}.json`,
    id: ticket.id,
    subject: ticket.subject,
    status: ticket.status,
    priority: ticket.priority,
    tags: [],
    created_at: ticket.createdAt,
    updated_at: ticket.updatedAt,
    custom_fields: customFields().map((field) => ({ id: field.id, value: shownValue(field, ticket.values[field.id]) })),
  });

  const problem = ({ id, title, type }: ZendeskField, what: string, error: string | null) => ({
    description: `${title}${what}`,
    error,
    ticket_field_id: id,
    ticket_field_type: `Field${type.charAt(0).toUpperCase()}${type.slice(1)}`,
  });
  /** @returns the value as the simulator keeps it, or undefined if the value is ignored */
  const accepted = (field: ZendeskField, value: ZendeskValue): ZendeskValue | undefined => {
    const { type, options = [], regexp = '' } = field;
    const wrong = () => invalid([problem(field, ' is not valid', 'InvalidValue')]);
    const isOption = (tag: unknown) => options.some((option) => option.value === tag);
    if (value === null || value === '') return null;
    if (type === 'multiselect') {
      if (!Array.isArray(value)) throw wrong();
      if (is.unknownOptionsAreRefused && !value.every(isOption)) throw wrong();
      return value.filter(isOption);
    }
    if (Array.isArray(value)) throw wrong();
    const text = `${value}`;
    switch (type) {
      case 'tagger':
        if (!isOption(value) && is.unknownOptionsAreRefused) throw wrong();
        return isOption(value) ? value : undefined;
      case 'checkbox':
        if (typeof value !== 'boolean') throw wrong();
        return value;
      case 'partialcreditcard':
        return text.slice(-4).padStart(text.length, 'X');
      default:
        if (!(patterns[type] ?? new RegExp(regexp)).test(text)) throw wrong();
        if (type === 'date' && !z.iso.date().safeParse(text).success) throw wrong();
        return text;
    }
  };

  const found = (c: VendorContext): ZendeskTicket => {
    const ticket = state.tickets.get(Number.parseInt(c.req.param('id') ?? '', 10));
    if (ticket === undefined) throw missing();
    return ticket;
  };

  const update = (c: VendorContext, given: z.infer<typeof ticketSchema>): ZendeskTicket => {
    const ticket = found(c);
    countUpdate(c, ticket.id);
    if (faults.meets(c, 'changed-meanwhile'))
      ticket.updatedAt = seconds(Math.max(Date.now(), Date.parse(ticket.updatedAt) + 1000));
    if (ticket.status === 'closed') throw invalid([{ description: 'Status: closed prevents ticket update' }], 'status');
    const isSafe = `${given.safe_update}` === 'true';
    if (isSafe && Date.parse(given.updated_stamp ?? '') !== Date.parse(ticket.updatedAt))
      throw refusal(409, 'UpdateConflict', outdated);
    const values = { ...ticket.values };
    for (const { id, value } of given.custom_fields) {
      const field = customFields().find((one) => one.id === id);
      if (field === undefined && is.unknownFieldsAreRefused)
        throw invalid([{ description: `Custom field ${id} does not exist`, error: 'InvalidValue' }]);
      if (field === undefined || !(field.agentCanEdit || is.uneditableFieldsAreWritten)) continue;
      const kept = accepted(field, value);
      if (kept !== undefined) values[id] = kept;
    }
    const { status = ticket.status, subject = ticket.subject, priority = ticket.priority } = given;
    const empty = customFields().filter(({ id, required }) => required && (values[id] ?? null) === null);
    if (status === 'solved' && ticket.status !== 'solved' && empty.length > 0)
      throw invalid(empty.map((field) => problem(field, ': is required when solving a ticket', null)));
    const next = { ...ticket, status, subject, priority, values };
    const isChanged = JSON.stringify(next) !== JSON.stringify(ticket) || given.comment !== undefined;
    if (faults.meets(c, 'dropped-field') || !(isChanged || is.sameValuesAreCounted)) return ticket;
    const updatedAt = seconds(Date.now());
    const changes = customFields().filter(({ id }) => JSON.stringify(values[id]) !== JSON.stringify(ticket.values[id]));
    const number = ticket.audit.id + 1;
    const events = changes.map(({ id }, index) => ({
      id: number * 100 + index,
      type: 'Change' as const,
      field_name: `${id}`,
      value: values[id] ?? null,
      previous_value: ticket.values[id] ?? null,
    }));
    const audit = { id: number, ticket_id: ticket.id, created_at: updatedAt, author_id: agent, events };
    const updated = { ...next, updatedAt, audit };
    state.tickets.set(ticket.id, updated);
    return updated;
  };

  const listFields = (c: VendorContext): Response => {
    const size = c.req.query('page[size]');
    if (size === undefined) {
      const ticket_fields = state.fields.map((field) => shownField(c, field));
      return c.json({ ticket_fields, next_page: null, previous_page: null, count: ticket_fields.length });
    }
    const count = z.coerce.number().int().min(1).max(100).parse(size);
    const after = z.coerce.number().int().default(0).parse(c.req.query('page[after]'));
    const rest = state.fields.filter(({ id }) => id > after).sort((a, b) => a.id - b.id);
    const page = rest.slice(0, count);
    const next = new URL(c.req.url);
    next.searchParams.set('page[after]', `${page.at(-1)?.id}`);
    const hasMore = rest.length > count;
    return c.json({
      ticket_fields: page.map((field) => shownField(c, field)),
      meta: { has_more: hasMore, after_cursor: page.length > 0 ? `${page.at(-1)?.id}` : null, before_cursor: null },
      links: { next: hasMore ? next : null, prev: null },
    });
  };
  const changeTicket = async (c: VendorContext): Promise<Response> => {
    const { ticket: given } = bodySchema.parse(await c.req.json());
    const removed = Object.keys(given).filter((key) => !(key in ticketSchema.shape));
    const ticket = update(c, ticketSchema.parse(given));
    if (removed.length > 0)
      c.header('X-Zendesk-API-Warn', `${removedKeys} ${JSON.stringify(removed).replaceAll(',', ', ')} ${byList}`);
    return c.json({ ticket: shown(c, ticket), audit: ticket.audit });
  };
  const refuse = () => {
    throw forbidden();
  };

  for (const ending of ['', '\\.json']) {
    const named = (path: string) => `/api/v2/${path}${ending.replace('\\', '')}`;
    app
      .get(`/api/v2/tickets/:id{\\d+${ending}}`, (c) => c.json({ ticket: shown(c, found(c)) }))
      .put(`/api/v2/tickets/:id{\\d+${ending}}`, changeTicket)
      .delete(`/api/v2/tickets/:id{\\d+${ending}}`, refuse)
      .post(named('tickets'), refuse)
      .get(named('ticket_fields'), listFields)
      .get(`/api/v2/ticket_fields/:id{\\d+${ending}}`, (c) => {
        const field = state.fields.find(({ id }) => id === Number.parseInt(c.req.param('id') ?? '', 10));
        if (field === undefined) throw missing();
        return c.json({ ticket_field: shownField(c, field) });
      })
      .get(named('users/me'), (c) => {
        const known = { id: agent, name: 'Relay', email: state.credentials.email, role: 'agent' };
        return c.json({ user: c.req.header('authorization') === undefined ? anonymous : known });
      });
  }
  app.post('/oauth/tokens', async (c) => {
    const grant = grantSchema.parse(await c.req.json());
    const { clientId, clientSecret } = state.credentials;
    if (grant.client_id !== clientId || grant.client_secret !== clientSecret)
      throw new Refusal(401, { error: 'invalid_client', error_description: 'Client authentication failed' });
    const refreshed = state.tokens.find(({ refresh }) => refresh !== undefined && refresh === grant.refresh_token);
    const isRefresh = grant.grant_type === 'refresh_token';
    if (grant.grant_type === 'authorization_code' || (isRefresh && refreshed === undefined))
      throw new Refusal(400, { error: 'invalid_grant', error_description: noGrant });
    if (isRefresh && refreshed) Object.assign(refreshed, { refresh: undefined, expiresAt: 0 });
    const number = state.tokens.length;
    const { scope = refreshed?.scope ?? 'read', expires_in, refresh_token_expires_in } = grant;
    const access_token = `access-token-${number}`;
    const refresh_token = isRefresh ? `refresh-token-${number}` : undefined;
    const expiresAt = expires_in === null ? Number.POSITIVE_INFINITY : Date.now() + expires_in * 1000;
    state.tokens.push({ access: access_token, refresh: refresh_token, scope, expiresAt });
    const more = isRefresh ? { refresh_token, refresh_token_expires_in } : {};
    return c.json({ access_token, token_type: 'bearer', scope, expires_in, ...more }, 201);
  });
  return { kind: 'zendesk', app, state, faults };
}

const noAccess = 'You do not have access to this page. Please contact the account owner of this help desk for further help.';
const noHelpDesk =
  'There is no help desk configured at this address. This means that the address is available and that you can claim it at http://www.zendesk.com/signup';
const ended = {
  error_description: 'The access token provided is expired, revoked, malformed or invalid for other reasons.',
};
const noGrant =
  'The provided access grant is invalid, expired, or revoked (e.g. invalid assertion, expired authorization token, bad end-user password credentials, or mismatching authorization code and redirection URI).';
const accountLimit = 'Number of allowed API requests per minute exceeded';
const ticketLimit = 'Rate limit for ticket updates exceeded, please wait before updating this ticket again';
const outdated =
  'Safe Update prevented the update due to outdated ticket data. Please fetch the latest ticket data and try again.';
const removedKeys = 'Removed restricted keys';
const byList = 'from parameters according to whitelist';
const anonymous = { id: null, name: 'Anonymous user', email: 'invalid@example.com', role: 'end-user' };

/** The patterns of field types. A field of type `regexp` has its own pattern. */
const patterns: Record<string, RegExp> = {
  text: /^/,
  textarea: /^/,
  date: /^\d{4}-\d\d-\d\d$/,
  integer: /^-?\d+$/,
  decimal: /^-?\d+(\.\d+)?$/,
  lookup: /^\d+$/,
};

const bodySchema = z.object({ ticket: z.record(z.string(), z.unknown()) });
const valueSchema = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);
const ticketSchema = z.object({
  custom_fields: z.array(z.strictObject({ id: z.int(), value: valueSchema })).default([]),
  status: z.enum(['new', 'open', 'pending', 'hold', 'solved', 'closed']).optional(),
  subject: z.string().optional(),
  priority: z.enum(['urgent', 'high', 'normal', 'low']).nullable().optional(),
  comment: z.looseObject({ body: z.string() }).optional(),
  updated_stamp: z.string().optional(),
  safe_update: z.union([z.boolean(), z.enum(['true', 'false'])]).default(false),
});
const grantSchema = z.object({
  grant_type: z.enum(['authorization_code', 'refresh_token', 'client_credentials']),
  client_id: z.string(),
  client_secret: z.string(),
  refresh_token: z.string().optional(),
  scope: z.string().optional(),
  expires_in: z.int().min(300).max(172_800).nullable().default(null),
  refresh_token_expires_in: z.int().min(604_800).max(7_776_000).default(2_592_000),
});

const seconds = (millis: number) => `${new Date(millis).toISOString().slice(0, 19)}Z`;

function firstState(credentials: ZendeskState['credentials']): ZendeskState {
  return {
    calls: [],
    credentials,
    tokens: [{ access: 'access-token-0', refresh: 'refresh-token-0', scope: 'read write', expiresAt: Number.POSITIVE_INFINITY }],
    fields: zendeskFields(),
    tickets: zendeskTickets(),
    limits: { perMinute: 700, updatesPerMinute: 100, updatesPerTicket: 30 },
    requests: [],
    updates: [],
  };
}
