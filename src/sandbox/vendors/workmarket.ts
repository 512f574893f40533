/**
 * The simulator of WorkMarket: access tokens, groups, statuses, custom field sets, and paths that read and send assignments.
 * Parameters come in the query or a form. The workers of groups get a sent assignment at the first request after `queueMs`.
 */

import { z } from 'zod';
import type { Fields } from '../../chain/fields.js';
import { keyedBy } from './records.js';
import { faultsOf, formOf, Refusal, type VendorContext, vendorApp, withCalls } from './vendor.js';

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
  invalidGroupStopsSend: false, // true: an error, and the other groups get nothing either
};

type Assignment = ReturnType<typeof assignment>;
type State = ReturnType<typeof firstState>;

export const workmarketCredentials = { token: 'workmarket-token', secret: 'workmarket-secret' };

const api = '/v1/employer';
const fieldSets = '/v1/api/assignments/customfields';

export function createWorkmarket({ doubts }: { doubts?: Partial<typeof workmarketDoubts> } = {}) {
  const is = { ...workmarketDoubts, ...doubts };
  const state = withCalls(firstState());

  const failed = (status: number, code: string, message: string, response = {}) => {
    const isSent = is.errorsHaveHttpStatus || status === 404 || status === 405;
    return new Refusal(isSent ? status : 200, { meta: { ...metaOf(status), errors: [{ code, message }] }, response });
  };
  const answered = (c: VendorContext, response: unknown) =>
    c.json({ meta: { ...metaOf(200), ...(is.successHasErrorList ? { errors: [] } : {}) }, response });
  const invalid = (message: string) => failed(400, 'invalid_parameter', message);
  const missing = (name: string) => failed(400, 'missing_parameter', `Missing parameter: ${name}`);
  const unauthorized = (message = 'Invalid access token.') => failed(401, 'unauthorized', message);
  const hidden = () => failed(403, 'forbidden', 'You are not authorized to view this assignment.');

  async function read<Schema extends z.ZodType>(c: VendorContext, schema: Schema): Promise<z.output<Schema>> {
    const { access_token: _, ...given } = await parametersOf(c);
    const { data, error } = schema.safeParse(given);
    if (error === undefined) return data;
    const [issue] = error.issues;
    const name = issue?.code === 'unrecognized_keys' ? `${issue.keys[0]}` : String(issue?.path[0]);
    throw name in given ? invalid(`Invalid parameter: ${name}`) : missing(name);
  }

  const answers = {
    credentials: () => unauthorized(),
    validation: () => invalid('The request is not valid.'),
    permission: hidden,
    'server-error': () => failed(500, 'internal_error', 'An unexpected error occurred.'),
  };
  // `token-expired` ends all access tokens. `permission`: no permission to view the assignment.
  const faults = faultsOf(answers, 'token-expired', 'reaches-nobody', 'insufficient-funds', 'company-locked');

  const app = vendorApp({
    ...{ state, faults, answers, open: `${api}/authorization/` },
    guard: async (c) => {
      settleSends(state);
      if (!c.req.path.startsWith('/v1/')) return undefined;
      if (faults.meets(c, 'token-expired')) state.accessTokens.clear();
      const bearer = is.bearerIsAccepted ? /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1] : undefined;
      const token = bearer ?? (is.parameterIsAccepted ? (await parametersOf(c)).access_token : undefined);
      if (token === undefined) throw missing('access_token');
      if ((state.accessTokens.get(`${token}`) ?? 0) <= Date.now()) throw unauthorized();
      return undefined;
    },
    noPath: () => failed(404, 'not_found', 'Not found.'),
    noMethod: () => failed(405, 'method_not_allowed', 'Method not allowed.'),
    broken: () => invalid('The request cannot be read.'),
    /** Changes an older path to the path of the Swagger document, because the routes use only the paths of that document. */
    getPath: ({ url }) => {
      const { pathname } = new URL(url);
      const isOld = pathname.startsWith('/api/v1/');
      if (!(isOld ? is.apiPathsExist : is.employerPathsExist)) return '/gone';
      return isOld ? pathname.replace('/api/v1/assignments/customfields', fieldSets).replace('/api/v1', api) : pathname;
    },
  });

  const found = (id: string): Assignment => {
    const assignment = state.assignments.get(id);
    if (assignment?.isVisible === false) throw hidden();
    if (assignment) return assignment;
    throw is.unknownAssignmentIs403 ? hidden() : invalid(`Invalid assignment: ${id}`);
  };

  const sendSchema = z.strictObject({
    ...{ group_id: several(whole), resource_id: several(z.string().min(1)) },
    ...{ assign_to_first_to_accept: flag, auto_invite: flag },
    send_radius: whole.refine((miles) => miles > 0 && (miles <= 100 || !is.largeRadiusIsRefused)).default(60),
  });

  const send = (c: VendorContext, assignment: Assignment, order: z.infer<typeof sendSchema>) => {
    const { group_id: groupIds, resource_id: names, send_radius, auto_invite } = order;
    if (groupIds.length + names.length === 0 && !auto_invite) throw missing('group_id');
    if (!['draft', 'sent'].includes(assignment.status))
      throw failed(400, 'invalid_status', `The assignment cannot be sent in status ${assignment.status}.`);

    const usable = state.groups.filter(({ active, deleted }) => !deleted && (active || !is.inactiveGroupsAreRefused));
    const groups = groupIds.filter((id) => usable.some((group) => group.id === id));
    const invalid_groups = groupIds.filter((id) => !groups.includes(id));
    if (is.invalidGroupStopsSend && invalid_groups.length > 0)
      throw failed(400, 'invalid_group_id', 'One or more group IDs are invalid.', { successful: false, invalid_groups });
    const near = state.workers.filter(({ miles }) => miles <= Math.min(send_radius, 100));
    const members = near.filter((worker) => auto_invite || worker.groups.some((id) => groups.includes(id))).map(({ id }) => id);
    const answer = (successful: boolean, number_of_resources_sent: number, results: Record<string, string[]>) => {
      const resource_send_results = Object.fromEntries(Object.entries(results).filter(([, list]) => list.length > 0));
      return { successful, invalid_groups, number_of_resources_sent, resource_send_results };
    };
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
    return answer(workers.length > 0 || (groupsAreSentTo && invalid_groups.length === 0), count, results);
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
      const shown = page.map((group) => ({ ...group, members: membersOf(group.id) }));
      return answered(c, shown);
    })
    .get(`${fieldSets}/list`, (c) => {
      const fields = storeSet.fields.map(({ value: _, ...field }) => field);
      return answered(c, [{ ...storeSet, fields }]);
    });
  return {
    ...{ kind: 'workmarket', settings: workmarketCredentials, paths: /^\/(api\/)?v1\//, app, state, faults },
    records: () =>
      [...state.assignments.values()].map(({ id, title, status, invitedWorkers }) => ({
        ...{ id, title, fields: { Status: status, 'Invited workers': invitedWorkers.join(', ') } },
      })),
  };
}

/** Applies the sends that have been in the queue for `queueMs`. */
export function settleSends(state: State): void {
  const due = state.queue.filter(({ at }) => at <= Date.now());
  state.queue = state.queue.filter((send) => !due.includes(send));
  for (const { assignment: id, workers } of due) {
    const assignment = state.assignments.get(id);
    if (assignment) invite(assignment, workers);
  }
}

/** If a send reaches nobody, a draft stays a draft. */
function invite(assignment: Assignment, workers: string[]): void {
  if (workers.length === 0 || !['draft', 'sent'].includes(assignment.status)) return;
  assignment.status = 'sent';
  assignment.invitedWorkers.push(...workers);
  assignment.last_modified_on = Math.floor(Date.now() / 1000);
}

async function parametersOf(c: VendorContext) {
  const isForm = c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded');
  return { ...formOf(new URL(c.req.url).search.slice(1)), ...(isForm && formOf(await c.req.text())) };
}

const metaOf = (status: number) => {
  const timestamp = Math.floor(Date.now() / 1000);
  return { status_code: status, version: 1, requestId: crypto.randomUUID(), execution_time: 0.01, timestamp };
};

/** A parameter that may occur several times. */
const several = <Item extends z.ZodType<unknown, string>>(item: Item) =>
  z.union([z.array(item), item.transform((one) => [one])]).default([]);
const flag = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] }).default(false);
const whole = z.string().regex(/^\d+$/).transform(Number);
const pageSchema = z.strictObject({ start: whole.default(0), limit: whole.default(Number.POSITIVE_INFINITY), activeOnly: flag });

const storeSet = {
  ...{ id: 71, name: 'Store', required: true },
  fields: [
    { id: 701, name: 'Ticket number', default: '', required: true, value: 'T20260105.0674', type: 'owner' },
    { id: 702, name: 'Door code', default: '', required: false, value: '', type: 'owner' },
  ],
};
const location = {
  ...{ id: 501, name: 'Main Street store', location_number: 'S-17', address_1: '20 West 20th Street' },
  ...{ city: 'New York', state: 'NY', zip: '10011', country: 'USA', latitude: '40.7404', longitude: '-73.9925' },
};
/** An answer does not show `invitedWorkers` and `isVisible`. */
const fresh = { status: 'draft', invitedWorkers: [] as string[], isVisible: true };
const assignment = (id: string, title: string, more: Fields & Partial<typeof fresh> = {}) => ({
  ...{ id, title, substatuses: [], labels: [], project: 7, client: 8, scheduled_start: 1767621600, time_zone: 'US/Eastern' },
  ...{ location: { ...location }, pricing: { type: 'FLAT', spend_limit: 200, flat_price: 200 } },
  ...{ custom_fields: [structuredClone(storeSet)], created_on: 1767600000, last_modified_on: 1767600000 },
  ...{ ...structuredClone(fresh), ...more },
});
const group = (id: number, name: string, active = true, deleted = false) => ({ id, name, description: '', active, deleted });
const worker = (id: string, name: string, miles: number, groups: number[]) => ({
  id,
  email: `${name}@example.com`,
  miles,
  groups,
});
const statusNames = {
  ...{ draft: 'Draft', sent: 'Sent', active: 'Assigned', inprogress: 'In Progress', complete: 'Pending Approval' },
  ...{ paid: 'Paid', cancelled: 'Cancelled', void: 'Voided' },
};

/** Two groups have the same name. One of these groups is deleted. The access token is for tests. */
function firstState() {
  const dayMs = 86_400_000;
  const ana = { id: '1001', first_name: 'Ana', last_name: 'Diaz', email: 'ana@example.com' };
  const active_resource = { ...ana, check_in_out: [{ check_in_out_id: 9001, checked_in_on: 1767625200 }] };
  return {
    credentials: { ...workmarketCredentials },
    accessTokens: new Map([['workmarket-access-token', Date.now() + dayMs]]), // the end of each token, in Unix milliseconds
    tokenLifetimeMs: dayMs,
    assignments: keyedBy('id', [
      assignment('6029116324', 'Replace a broken till'),
      assignment('6029116325', 'Install two access points', { status: 'active', invitedWorkers: ['1001'], active_resource }),
      assignment('7000000000', 'Of another company', { isVisible: false }),
    ]),
    statuses: Object.entries(statusNames).map(([id, name]) => ({ id, name })),
    groups: [
      group(11, 'Till technicians'),
      group(12, 'Cabling crew'),
      group(13, 'Winter pool', false),
      group(14, 'Till technicians', false, true),
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
    queue: [] as { at: number; assignment: string; workers: string[] }[], // the queued sends to groups; `at`: in Unix milliseconds
    queueMs: 1000, // how long a send stays in the queue
  };
}
