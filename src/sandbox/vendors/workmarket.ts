/**
 * The simulator of WorkMarket: access tokens, groups, statuses, custom field sets, and paths that read and send assignments.
 * Parameters come in the query or a form. The workers of groups get a sent assignment at the first request after `queueMs`.
 */

import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import type { Fields } from '../../chain/fields.js';
import { Faults, formOf, Refusal, type Vendor, type VendorContext, type VendorState, vendorApp } from './vendor.js';

/** Questions about the vendor that no document answers. `true` and `false` select the behavior of the simulator. */
export const workmarketDoubts = {
  employerPathsExist: true, // the paths `/v1/employer` of the Swagger document
  apiPathsExist: true, // the paths `/api/v1` of older pages and clients
  bearerIsAccepted: true, // true: the access token may be in a header
  parameterIsAccepted: true, // true: the access token may be a parameter
  newTokenEndsOlder: false,
  errorsHaveHttpStatus: true, // false: HTTP 200 with the status in `meta`
  successHasErrorList: false, // true: an empty list; false: no list
  unknownAssignmentIs403: true, // false: 400
  answersCountGroupWorkers: false, // true: `number_of_resources_sent` counts the workers of the groups
  secondSendReachesAgain: false, // true: a second send reaches the workers of the first send again
  inactiveGroupsAreRefused: true,
  largeRadiusIsRefused: true, // true: a radius above 100 miles is refused; false: such a radius counts as 100 miles
  groupsArePaged: false, // true: at most two groups in a page; false: all groups
};
export type WorkmarketDoubt = keyof typeof workmarketDoubts;

const failures = [
  'credentials',
  'token-expired', // ends all access tokens
  'validation',
  'permission', // no permission to view the assignment
  'server-error',
  'reaches-nobody',
  'insufficient-funds',
  'company-locked',
] as const;
export type WorkmarketFailure = (typeof failures)[number];

/** The assignment as an answer shows it. The answer does not have the last two fields. */
export interface WorkmarketAssignment extends Fields {
  id: string;
  status: string;
  invitedWorkers: string[];
  isVisible: boolean;
}

export interface WorkmarketState extends VendorState {
  credentials: typeof workmarketCredentials;
  accessTokens: Map<string, number>; // the time when each token expires, in Unix milliseconds
  tokenLifetimeMs: number;
  assignments: Map<string, WorkmarketAssignment>;
  statuses: { id: string; name: string }[];
  groups: { id: number; name: string; description: string; active: boolean; deleted: boolean }[];
  workers: { id: string; email: string; miles: number; groups: number[] }[]; // miles: the distance from every assignment
  queue: { at: number; assignment: string; workers: string[] }[]; // the queued sends; `at`: when the send takes effect (Unix ms)
  queueMs: number; // how long a send stays in the queue
}

export const workmarketCredentials = { token: 'workmarket-token', secret: 'workmarket-secret' };

const api = '/v1/employer';
const fieldSets = '/v1/api/assignments/customfields';

export function createWorkmarket(
  options: { credentials?: Partial<typeof workmarketCredentials>; doubts?: Partial<Record<WorkmarketDoubt, boolean>> } = {},
): Vendor<WorkmarketState, WorkmarketFailure> {
  const is = { ...workmarketDoubts, ...options.doubts };
  const state = firstState({ ...workmarketCredentials, ...options.credentials });
  const faults = new Faults(failures);

  const failed = (status: number, code: string, message: string, httpStatus = is.errorsHaveHttpStatus ? status : 200) =>
    new Refusal(httpStatus, { meta: { ...metaOf(status), errors: [{ code, message }] }, response: {} });
  const answered = (c: VendorContext, response: unknown) =>
    c.json({ meta: { ...metaOf(200), ...(is.successHasErrorList ? { errors: [] } : {}) }, response });
  const missing = (name: string) => failed(400, 'missing_parameter', `Missing parameter: ${name}`);
  const invalid = (name: string) => failed(400, 'invalid_parameter', `Invalid parameter: ${name}`);
  const unauthorized = (message = 'Invalid access token.') => failed(401, 'unauthorized', message);
  const hidden = () => failed(403, 'forbidden', 'You are not authorized to view this assignment.');

  async function read<Schema extends z.ZodType>(c: VendorContext, schema: Schema): Promise<z.output<Schema>> {
    const { access_token: _, ...given } = await parametersOf(c);
    const { data, error } = schema.safeParse(given);
    if (error === undefined) return data;
    const [issue] = error.issues;
    const name = issue?.code === 'unrecognized_keys' ? `${issue.keys[0]}` : String(issue?.path[0]);
    throw name in given ? invalid(name) : missing(name);
  }

  const guard: MiddlewareHandler = async (c, next) => {
    settleSends(state);
    if (!c.req.path.startsWith('/v1/') || c.req.path.startsWith(`${api}/authorization/`)) return next();
    if (faults.meets(c, 'token-expired')) state.accessTokens.clear();
    const bearer = is.bearerIsAccepted ? /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1] : undefined;
    const token = bearer ?? (is.parameterIsAccepted ? (await parametersOf(c)).access_token : undefined);
    if (token === undefined) throw missing('access_token');
    if ((state.accessTokens.get(`${token}`) ?? 0) <= Date.now()) throw unauthorized();
    await next();
  };

  const app = vendorApp({
    state,
    faults,
    guard,
    open: `${api}/authorization/`,
    answers: {
      credentials: () => unauthorized(),
      validation: () => failed(400, 'invalid_parameter', 'The request is not valid.'),
      permission: hidden,
      'server-error': () => failed(500, 'internal_error', 'An unexpected error occurred.'),
    },
    undocumented: (_, allowed) =>
      allowed.length > 0
        ? failed(405, 'method_not_allowed', 'Method not allowed.', 405)
        : failed(404, 'not_found', 'Not found.', 404),
    broken: () => failed(400, 'invalid_parameter', 'The request cannot be read.'),
    /** Changes an older path to the path of the Swagger document, because the routes use only the paths of that document. */
    getPath: ({ url }) => {
      const { pathname } = new URL(url);
      const isOld = pathname.startsWith('/api/v1/');
      if (!(isOld ? is.apiPathsExist : is.employerPathsExist)) return '/gone';
      return isOld ? pathname.replace('/api/v1/assignments/customfields', fieldSets).replace('/api/v1', api) : pathname;
    },
  });

  const found = (id: string): WorkmarketAssignment => {
    const assignment = state.assignments.get(id);
    if (assignment?.isVisible === false) throw hidden();
    if (assignment) return assignment;
    throw is.unknownAssignmentIs403 ? hidden() : failed(400, 'invalid_parameter', `Invalid assignment: ${id}`);
  };

  const sendSchema = z.strictObject({
    group_id: several(z.string().regex(/^\d+$/).transform(Number)),
    resource_id: several(z.string().min(1)),
    send_radius: z
      .string()
      .regex(/^[1-9]\d*$/)
      .transform(Number)
      .refine((miles) => miles <= 100 || !is.largeRadiusIsRefused)
      .default(60),
    assign_to_first_to_accept: flag,
    auto_invite: flag,
  });

  const send = (c: VendorContext, assignment: WorkmarketAssignment, order: z.infer<typeof sendSchema>) => {
    const { group_id: groupIds, resource_id: names, send_radius, auto_invite } = order;
    if (groupIds.length + names.length === 0 && !auto_invite) throw missing('group_id');
    if (!['draft', 'sent'].includes(assignment.status))
      throw failed(400, 'invalid_status', `The assignment cannot be sent in status ${assignment.status}.`);

    const canBeSentTo = (id: number) =>
      state.groups.some(({ id: known, active, deleted }) => {
        return known === id && !deleted && (active || !is.inactiveGroupsAreRefused);
      });
    const [groups, invalidGroups] = [groupIds.filter(canBeSentTo), groupIds.filter((id) => !canBeSentTo(id))];
    const near = state.workers.filter(({ miles }) => miles <= Math.min(send_radius, 100));
    const members = near.filter((worker) => auto_invite || worker.groups.some((id) => groups.includes(id))).map(({ id }) => id);
    const answer = (successful: boolean, count: number, results: Record<string, string[]>) => ({
      successful,
      invalid_groups: invalidGroups,
      number_of_resources_sent: count,
      resource_send_results: Object.fromEntries(Object.entries(results).filter(([, list]) => list.length > 0)),
    });
    if (faults.meets(c, 'insufficient-funds')) return answer(false, 0, { INSUFFICIENT_FUNDS: members });
    if (faults.meets(c, 'company-locked')) return answer(false, 0, { COMPANY_LOCKED: members });

    const workerOf = (name: string) => state.workers.find(({ id, email }) => [id, email].includes(name))?.id;
    const workers = names.map(workerOf).filter((id) => id !== undefined);
    invite(assignment, workers);
    const reached = faults.meets(c, 'reaches-nobody') ? [] : members;
    const queued = state.queue.filter((send) => send.assignment === assignment.id).flatMap((send) => send.workers);
    const known = is.secondSendReachesAgain ? [] : [...assignment.invitedWorkers, ...queued];
    const fresh = reached.filter((id) => !known.includes(id));
    state.queue.push({ at: Date.now() + state.queueMs, assignment: assignment.id, workers: fresh });
    const count = workers.length + (is.answersCountGroupWorkers ? fresh.length : 0);
    const results = { SUCCESSFUL: names.filter((name) => workerOf(name)), FAILED: names.filter((name) => !workerOf(name)) };
    const groupsAreSentTo = auto_invite || groups.length > 0;
    return answer(workers.length > 0 || (groupsAreSentTo && invalidGroups.length === 0), count, results);
  };

  app
    .post(`${api}/authorization/request`, async (c) => {
      const given = await read(c, z.strictObject({ token: z.string().min(1), secret: z.string().min(1) }));
      const { token, secret } = state.credentials;
      if (given.token !== token || given.secret !== secret || faults.meets(c, 'credentials'))
        throw unauthorized('Invalid token or secret.');
      if (is.newTokenEndsOlder) state.accessTokens.clear();
      const accessToken = crypto.randomUUID();
      state.accessTokens.set(accessToken, Date.now() + state.tokenLifetimeMs);
      return answered(c, { access_token: accessToken });
    })
    .get(`${api}/assignments/get`, async (c) => {
      const { id } = await read(c, z.strictObject({ id: z.string().min(1) }));
      const { invitedWorkers, isVisible: _, ...assignment } = found(id);
      return answered(c, { ...assignment, sent_worker_count: invitedWorkers.length });
    })
    .post(`${api}/assignments/:id{\\d+}/send`, async (c) =>
      answered(c, send(c, found(c.req.param('id')), await read(c, sendSchema))),
    )
    .get(`${api}/assignments/statuses`, (c) => answered(c, state.statuses))
    .get(`${api}/groups/list`, async (c) => {
      const { start, limit, activeOnly } = await read(c, pageSchema);
      const groups = state.groups.filter(({ active }) => active || !activeOnly);
      const page = groups.slice(start, start + Math.min(limit, is.groupsArePaged ? 2 : Number.POSITIVE_INFINITY));
      const membersOf = (group: number) => state.workers.filter((worker) => worker.groups.includes(group)).length;
      return answered(
        c,
        page.map((group) => ({ ...group, members: membersOf(group.id) })),
      );
    })
    .get(`${fieldSets}/list`, (c) =>
      answered(c, [{ ...storeSet, fields: storeSet.fields.map(({ value: _, ...field }) => field) }]),
    );
  return { kind: 'workmarket', app, state, faults };
}

/** Applies the sends that have been in the queue for `queueMs`. */
export function settleSends(state: WorkmarketState): void {
  const due = state.queue.filter(({ at }) => at <= Date.now());
  state.queue = state.queue.filter((send) => !due.includes(send));
  for (const { assignment: id, workers } of due) {
    const assignment = state.assignments.get(id);
    if (assignment) invite(assignment, workers);
  }
}

/** If a send reaches nobody, a draft stays a draft. */
function invite(assignment: WorkmarketAssignment, workers: string[]): void {
  if (workers.length === 0 || !['draft', 'sent'].includes(assignment.status)) return;
  assignment.status = 'sent';
  assignment.invitedWorkers.push(...workers);
  assignment.last_modified_on = Math.floor(Date.now() / 1000);
}

async function parametersOf(c: VendorContext): Promise<Record<string, string | string[]>> {
  const isForm = c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded');
  return { ...formOf(new URL(c.req.url).search), ...(isForm ? formOf(await c.req.text()) : {}) };
}

const metaOf = (status: number) => ({
  status_code: status,
  version: 1,
  requestId: crypto.randomUUID(),
  execution_time: 0.01,
  timestamp: Math.floor(Date.now() / 1000),
});

/** A parameter that may occur several times. */
const several = <Item extends z.ZodType<unknown, string>>(item: Item) =>
  z.union([z.array(item), item.transform((one) => [one])]).default([]);
const flag = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] }).default(false);
const whole = z.string().regex(/^\d+$/).transform(Number);
const pageSchema = z.strictObject({
  start: whole.default(0),
  limit: whole.default(Number.POSITIVE_INFINITY),
  activeOnly: flag,
});

const storeSet = {
  id: 71,
  name: 'Store',
  required: true,
  fields: [
    { id: 701, name: 'Ticket number', default: '', required: true, value: 'T20260105.0674', type: 'owner' },
    { id: 702, name: 'Door code', default: '', required: false, value: '', type: 'owner' },
  ],
};
const location = {
  id: 501,
  name: 'Main Street store',
  location_number: 'S-17',
  address_1: '20 West 20th Street',
  city: 'New York',
  state: 'NY',
  zip: '10011',
  country: 'USA',
  latitude: '40.7404',
  longitude: '-73.9925',
};
const assignment = (id: string, title: string, more: Partial<WorkmarketAssignment> = {}): [string, WorkmarketAssignment] => [
  id,
  {
    id,
    title,
    status: 'draft',
    substatuses: [],
    labels: [],
    project: 7,
    client: 8,
    scheduled_start: 1767621600,
    time_zone: 'US/Eastern',
    location: { ...location },
    pricing: { type: 'FLAT', spend_limit: 200, flat_price: 200 },
    custom_fields: [structuredClone(storeSet)],
    created_on: 1767600000,
    last_modified_on: 1767600000,
    invitedWorkers: [],
    isVisible: true,
    ...more,
  },
];
const group = (id: number, name: string, { active = true, deleted = false } = {}) => {
  return { id, name, description: '', active, deleted };
};
const worker = (id: string, name: string, miles: number, groups: number[]) => {
  return { id, email: `${name}@example.com`, miles, groups };
};
const statusNames = {
  draft: 'Draft',
  sent: 'Sent',
  active: 'Assigned',
  inprogress: 'In Progress',
  complete: 'Pending Approval',
  paid: 'Paid',
  cancelled: 'Cancelled',
  void: 'Voided',
};

/** Two groups have the same name. One of these groups is deleted. The access token is for tests. */
function firstState(credentials: WorkmarketState['credentials']): WorkmarketState {
  const dayMs = 86_400_000;
  const ana = { id: '1001', first_name: 'Ana', last_name: 'Diaz', email: 'ana@example.com' };
  const active = {
    status: 'active',
    invitedWorkers: ['1001'],
    active_resource: { ...ana, check_in_out: [{ check_in_out_id: 9001, checked_in_on: 1767625200 }] },
  };
  return {
    calls: [],
    credentials,
    accessTokens: new Map([['workmarket-access-token', Date.now() + dayMs]]),
    tokenLifetimeMs: dayMs,
    assignments: new Map([
      assignment('6029116324', 'Replace a broken till'),
      assignment('6029116325', 'Install two access points', active),
      assignment('7000000000', 'Of another company', { isVisible: false }),
    ]),
    statuses: Object.entries(statusNames).map(([id, name]) => ({ id, name })),
    groups: [
      group(11, 'Till technicians'),
      group(12, 'Cabling crew'),
      group(13, 'Winter pool', { active: false }),
      group(14, 'Till technicians', { active: false, deleted: true }),
      group(15, 'Nobody near'),
    ],
    workers: [
      worker('1001', 'ana', 3, [11, 14]),
      worker('1002', 'ben', 40, [11]),
      worker('1003', 'cem', 80, [11]),
      worker('1004', 'dora', 10, [12]),
      worker('1005', 'eli', 45, [12]),
      worker('1006', 'fay', 30, [13]),
      worker('1007', 'gus', 200, [15]),
    ],
    queue: [],
    queueMs: 1000,
  };
}
