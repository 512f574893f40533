/**
 * WorkMarket, Employer API v1. Requests are forms, answers are envelopes `{meta, response}`, and a send to groups is queued.
 * Follows the vendor's documentation (docs/systems/workmarket.md). Nobody has tried this connector on the vendor's own system.
 */

import { z } from 'zod';
import { type ConnectionsOf, platformKinds, unableToSend } from '../../chain/kinds.js';
import { capital } from '../../chain/text.js';
import { type Call, ConnectorError } from '../call.js';
import type { HttpClient } from '../http.js';
import type { Platform } from '../platforms.js';
import { type Answered, type Seen, sendOnce } from '../sends.js';
import type { Access, Exchange, Memory, Sorted, VendorApi } from '../session.js';
import { byStatus, platformSettings, refused, Session } from '../session.js';

type Settings = ConnectionsOf<typeof platformKinds>['workmarket'];

const { name } = platformKinds.workmarket;
const home = 'https://www.workmarket.com';

const id = z.union([z.string(), z.number()]).transform(String);
const sentSchema = z.object({
  successful: z.boolean(),
  invalid_groups: z.array(id).nullish(),
  resource_send_results: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});
const messageSchema = z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]);
const errorsSchema = z.unknown().transform((errors) => {
  return [errors ?? []].flat().map((error: unknown) => messageSchema.safeParse(error).data ?? JSON.stringify(error));
});
const envelopeSchema = z.object({
  meta: z.object({ status_code: z.coerce.number().default(0), errors: errorsSchema }),
  response: sentSchema.partial().catch({}),
});
const tokenSchema = z.object({ access_token: z.string().min(1) });
const fieldSetSchema = z.object({ fields: z.array(z.object({ id, value: z.unknown() })) });
const assignmentSchema = z.looseObject({
  status: z.string(),
  sent_worker_count: z.coerce.number().nullish(),
  custom_fields: z.array(fieldSetSchema).nullish().catch(undefined),
});
const groupSchema = z.object({ id, name: z.string(), active: z.boolean().nullish(), deleted: z.boolean().nullish() });
type Group = z.infer<typeof groupSchema>;

const inEnvelope = <Schema extends z.ZodType>(response: Schema) => z.object({ response });

export function workmarket(settings: Settings, http: HttpClient, memory: Memory): Platform {
  const api = apiOf(settings);
  const begin = (call: Call) => new Session(api, http, memory, call);

  async function assignmentOf(session: Session, assignmentId: string) {
    const path = `${assignmentPath}?id=${encodeURIComponent(assignmentId)}`;
    return (await session.read(inEnvelope(assignmentSchema), { path, about: `assignment ${assignmentId}` })).response;
  }

  async function look(session: Session, assignmentId: string): Promise<Seen> {
    const { status, sent_worker_count: workers } = await assignmentOf(session, assignmentId);
    return { status: status.toLowerCase(), ...(typeof workers === 'number' && { workers }) };
  }

  async function listGroups(session: Session): Promise<Group[]> {
    const groups = new Map<string, Group>();
    for (;;) {
      const path = `/groups/list${groups.size > 0 ? `?start=${groups.size}` : ''}`;
      const { response } = await session.read(inEnvelope(z.array(groupSchema)), { path, about: 'the groups' });
      const others = response.filter(({ id }) => !groups.has(id));
      // The size of a page is not documented. Only a page without new groups shows that the list has ended.
      if (others.length === 0) return [...groups.values()];
      for (const group of others) groups.set(group.id, group);
    }
  }

  async function usableGroups(call: Call): Promise<Group[]> {
    const groups = await memory.of('groups', () => listGroups(begin(call)));
    return groups.filter(({ active, deleted }) => active !== false && !deleted);
  }

  async function groupsCalled(session: Session, names: readonly string[], fresh = false): Promise<Group[]> {
    const groups = await memory.of('groups', () => listGroups(session), { fresh });
    try {
      return [...new Set(names.map((called) => groupCalled(groups, called)))];
    } catch (error) {
      if (fresh) throw error;
      return groupsCalled(session, names, true);
    }
  }

  return {
    severalCalls: true,

    async getAssignment(assignmentId, call) {
      const assignment = await assignmentOf(begin(call), assignmentId);
      const fields = (assignment.custom_fields ?? []).flatMap(({ fields }) => fields);
      return { ...Object.fromEntries(fields.map(({ id, value }) => [`custom_field_${id}`, value ?? ''])), ...assignment };
    },

    async check(call, { assignmentId, groups = [] } = {}) {
      const session = begin(call);
      await groupsCalled(session, groups, true);
      const known = groups.length > 0 ? ` and knows the groups ${groups.join(', ')}` : '';
      if (assignmentId === undefined) return `accepts the credentials${known}. To check more, enter the id of an assignment`;
      await look(session, assignmentId);
      return `accepts the credentials${known}. The relay can read assignment ${assignmentId}`;
    },

    names: async (call) => (await usableGroups(call)).map(({ name }) => name),
    ids: async (call) => (await usableGroups(call)).map(({ id }) => id),

    async sendAssignment(assignmentId, { groupIds, radiusMiles }, call) {
      const unable = unableToSend({ kind: 'workmarket' }, { groupIds, ...(radiusMiles !== undefined && { radiusMiles }) });
      if (unable) throw refused(unable, unable, 'Change the step, then retry');
      const session = begin(call);
      return sendOnce(session, {
        assignmentId,
        look: () => look(session, assignmentId),

        async prepare(sentTo) {
          const groups = await groupsCalled(session, groupIds);
          const open = groups.filter(({ id }) => !sentTo.includes(id));
          if (groups.length > 0 && open.length === 0) return undefined;
          const form: [string, string][] = open.map(({ id }) => ['group_id', id]);
          if (open.length === 0) form.push(['auto_invite', 'true']); // Without groups, WorkMarket selects the workers.
          if (radiusMiles !== undefined) form.push(['send_radius', String(radiusMiles)]);
          const path = `/assignments/${encodeURIComponent(assignmentId)}/send`;
          const about = `the send of assignment ${assignmentId}`;
          return async (leavesMs) => {
            const exchange: Exchange = { method: 'POST', path, form, about, writes: true, leavesMs };
            return answeredOf((await session.read(inEnvelope(sentSchema), exchange)).response, open);
          };
        },
      });
    },
  };
}

const assignmentPath = '/assignments/get';
const tokenPath = '/authorization/request';

function apiOf({ token, secret, baseUrl = home }: Settings): VendorApi {
  return {
    name,
    what: platformSettings,

    async access(read) {
      const tokenAt = async (family: string) => {
        const access: Access = { baseUrl: baseUrl.replace(/\/+$/, '') + family, secrets: [token, secret] };
        const form = Object.entries({ token, secret });
        const exchange: Exchange = { method: 'POST', path: tokenPath, form, about: 'the access token' };
        const { access_token: accessToken } = (await read(inEnvelope(tokenSchema), access, exchange)).response;
        return { access: { ...access, secrets: [token, secret, accessToken] }, accessToken };
      };
      // Newer documentation has paths below /v1/employer. Older documentation and clients have paths below /api/v1.
      const { access, accessToken } = await tokenAt('/v1/employer').catch((error: unknown) => {
        if (isRefusal(error, 301, 302, 307, 308, 404, 405, 410)) return tokenAt('/api/v1');
        throw error;
      });
      // In newer documentation the token is a header, in older documentation a parameter. This call shows whether a header works.
      const bearer: Access = { ...access, auth: { type: 'bearer', token: accessToken } };
      return read(z.unknown(), bearer, { path: '/assignments/statuses', about: 'the statuses' }).then(
        () => bearer,
        (error: unknown) => {
          if (isRefusal(error, 400, 401)) return { ...access, parameters: [['access_token', accessToken]] };
          if (isRefusal(error)) return bearer;
          throw error;
        },
      );
    },

    /** An error can have the HTTP status 200. Then only `meta` shows the error. */
    sort(answer, { path, about = '' }) {
      const { meta, response } = envelopeSchema.safeParse(answer.json).data ?? {};
      if (response?.successful && answer.status < 300) return undefined;
      const says = meta?.errors.join('; ') ?? '';
      const worst = Math.max(answer.status, meta?.status_code ?? 0);
      const status = worst < 300 && says !== '' ? 400 : worst;
      const usual = byStatus({ ...answer, status, text: says || answer.text });
      if (!usual) return undefined;
      if (path === tokenPath && status < 404) return { ...usual, status, as: 'credentials' };
      const as = (as: Sorted['as'], title: string, remedy: string, again: Sorted['again'] = 'refused'): Sorted => {
        return { ...usual, status, as, title, remedy, again };
      };
      if (status === 401 || (status < 404 && /access.?token/i.test(says)))
        return as('moved', `${name} does not accept the access token that it gave to the relay`, anotherUses, 'temporary');
      if (status === 404 || status === 405)
        return as('moved', `${name} does not know this request`, 'Tell the operator of the relay');
      if (path.startsWith(assignmentPath) && (status === 400 || status === 403))
        return as('missing', `${capital(about)} does not exist at ${name}, or the relay has no access`, changeNumber);
      const invalid = response?.invalid_groups ?? [];
      if (invalid.length > 0)
        return as(
          'refused',
          `${name} refused the ${invalid.length === 1 ? 'group' : 'groups'} ${invalid.join(', ')}; nothing was sent`,
          activate,
        );
      return { ...usual, status };
    },
  };
}

const anotherUses =
  'Wait: the relay retries automatically. If the error continues, create a token and a secret that only the relay uses';
const changeNumber = 'Change the assignment number, or let the user of the token see the assignment; then retry';
const activate = `Make the groups active at ${name}, then retry`;

function answeredOf({ successful, invalid_groups, resource_send_results }: z.infer<typeof sentSchema>, open: Group[]): Answered {
  const wrong = (invalid_groups ?? []).map((id) => open.find((group) => group.id === id) ?? { id, name: '' });
  const results = Object.keys(resource_send_results ?? {});
  const reason = reasons.find(([result]) => !successful && results.includes(result));
  if (reason) return { refusal: refused(`${name} answered ${results.join(', ')}; nothing was sent`, reason[1], reason[2]) };
  if (wrong.length > 0) {
    const right = open.filter(({ id }) => !wrong.some((group) => group.id === id));
    const others = right.length > 0 ? `sent to ${shown(right)}` : 'nothing was sent';
    const title = `${name} refused ${shown(wrong)}; ${others}`;
    const remedy = `${activate}${right.length > 0 ? ': the retry sends nothing to the groups that already have the assignment' : ''}`;
    return { refusal: refused(title, title, remedy), sentTo: right.map(({ id }) => id) };
  }
  if (successful) return {};
  const title = `${name} refused to send the assignment`;
  return {
    refusal: refused(`${title}, and gave no reason`, title, `To see the reason, try to send the assignment in ${name} yourself`),
  };
}

const reasons = [
  ['INSUFFICIENT_FUNDS', `Your funds at ${name} are too low for this assignment`, `Add funds at ${name}, then retry`],
  ['COMPANY_LOCKED', `${name} has locked the company`, `Ask ${name} to unlock the company, then retry`],
] as const;

/** Finds the active group with this number or name. @throws ConnectorError if no group or several groups match */
function groupCalled(groups: readonly Group[], called: string): Group {
  const isSimilar = ({ name }: Group) => name.trim().toLowerCase() === called.trim().toLowerCase();
  const ways = [({ id }: Group) => id === called, ({ name }: Group) => name === called, isSimilar];
  const found = ways.map((way) => groups.filter(way)).find((some) => some.length > 0) ?? [];
  const [group, other] = found.filter(({ active, deleted }) => active !== false && !deleted);
  if (group && !other) return group;
  const change = 'change groupId or sendToGroups, then retry';
  if (group) {
    const title = `"${called}" is the name of several groups at ${name}`;
    throw refused(`${title}: ${shown(found)}`, title, `Use the number of one group: ${found.map(({ id }) => id).join(', ')}`);
  }
  const [unusable] = found;
  if (!unusable) throw refused(`${name} shows no group "${called}"`, `There is no group "${called}" at ${name}`, capital(change));
  const title = `The group ${shown([unusable])} is ${unusable.deleted ? 'deleted' : 'not active'} at ${name}`;
  throw refused(title, title, unusable.deleted ? capital(change) : `Make it active at ${name}, or ${change}`);
}

/** For example `Till technicians (11), Cabling crew (12)`. */
function shown(groups: readonly Group[]): string {
  return groups.map(({ id, name }) => (name ? `${name} (${id})` : id)).join(', ');
}

/** Whether the vendor refused a request. If there are `statuses`, the refusal must have one of them. */
function isRefusal(error: unknown, ...statuses: number[]): boolean {
  if (!(error instanceof ConnectorError) || error.kind !== 'permanent') return false;
  return statuses.length === 0 || statuses.includes(error.facts.status ?? 0);
}
