/** Connectors of kind `http`. The system implements the API of docs/systems/http.md, or its settings have templates. */

import { z } from 'zod';
import { propertyOf } from '../chain/condition.js';
import type { PlatformSettings, TicketingSettings } from '../contract/company.js';
import type { RequestTemplate } from '../contract/templates.js';
import { beforeEffect, type Call, ConnectorError } from './call.js';
import type { HttpClient } from './http.js';
import type { Order, Platform } from './platforms.js';
import { missing, platformSettings, refused, ticketingSettings } from './session.js';
import { filled, type Values } from './templates.js';
import type { FieldUpdate, Ticketing } from './tickets.js';

/** The requests of docs/systems/http.md, for settings without templates. */
const own = {
  assignment: { method: 'GET', path: '/assignments/{assignmentId}' },
  send: {
    method: 'POST',
    path: '/assignments/{assignmentId}/send',
    body: { groupIds: '{groupIds}', radiusMiles: '{radiusMiles}' },
  },
  groups: { method: 'GET', path: '/groups' },
  ticket: { method: 'GET', path: '/tickets/{ticketId}' },
  update: { method: 'PATCH', path: '/tickets/{ticketId}', body: { userDefinedFields: [{ name: '{field}', value: '{value}' }] } },
} as const satisfies Record<string, RequestTemplate>;

const assignmentSchema = z.record(z.string(), z.unknown());

/** The ids of the groups. Empty if the answer has another form. */
const groupsSchema = z
  .object({ groups: z.array(z.object({ id: z.string() })) })
  .transform(({ groups }) => groups.map(({ id }) => id))
  .catch([]);

const count = z
  .union([z.int().nonnegative(), z.array(z.unknown()).transform((reached) => reached.length)])
  .optional()
  .catch(undefined);
/** Accepts any body, because every answer with a 2xx status is a success. */
const sentSchema = z.object({ recipients: count, recipientCount: count }).catch({});

const unknownId = 'relay-check'; // an id that no system has, for checks
const otherId = '0'; // an id that may not exist, for templates whose ids must be numbers
/** For a request with one of these ids, these statuses show that the system works and accepts the credentials. */
const isThere = [200, 204, 400, 404, 405, 410, 422];

async function assertThere(look: Promise<unknown>): Promise<void> {
  await look.catch((error: unknown) => {
    if (!(error instanceof ConnectorError) || !isThere.includes(error.facts.status ?? 0)) throw error;
  });
}

type HttpSettings<Settings> = Extract<Settings, { kind: 'http' }>;

/** Fills in the templates of a connection. @param name - such as `the ticket system`. @param noun - such as `ticket` */
function requestsOf(settings: HttpSettings<PlatformSettings | TicketingSettings>, what: string, name: string, noun: string) {
  const { baseUrl, auth, allowPlainText } = settings;
  return (template: RequestTemplate, id: string, values: Values = {}) => {
    const about = { name, thing: id === unknownId || id === otherId ? `any ${noun}` : `${noun} ${id}` };
    return { ...filled(baseUrl, template, { [`${noun}Id`]: id, ...values }), auth, allowPlainText, what, about };
  };
}

/** Makes the connector of a platform. The platform has the assignments and sends them to workers. */
export function createHttpPlatform(settings: HttpSettings<PlatformSettings>, http: Pick<HttpClient, 'request'>): Platform {
  const requestOf = requestsOf(settings, platformSettings, 'the assignment platform', 'assignment');
  const { assignment = own.assignment, send, status: at } = settings.templates ?? {};
  return {
    severalCalls: false,

    async getAssignment(assignmentId: string, call: Call): Promise<Record<string, unknown>> {
      const answer = assignmentSchema.safeParse(await http.request({ ...requestOf(assignment, assignmentId), call }));
      if (answer.success) return { ...answer.data, ...(at !== undefined && { status: propertyOf(answer.data, at) }) };
      throw refused(
        `the platform's answer for assignment ${assignmentId} was not a JSON object; check baseUrl in ${platformSettings}`,
        'The assignment platform answered in an unknown format',
        `Check the address in ${platformSettings}, then retry`,
      );
    },

    async check(call: Call, { assignmentId }: { assignmentId?: string | undefined } = {}): Promise<string> {
      if (assignmentId !== undefined) {
        await this.getAssignment(assignmentId, call);
        return `knows the assignment ${assignmentId}`;
      }
      await assertThere(this.getAssignment(assignment === own.assignment ? unknownId : otherId, call));
      return 'answers and accepts the credentials. To check more, enter the id of an assignment';
    },

    /** The path of the groups is optional. Without it, the system answers 404, and the list is unknown. */
    ...(!settings.templates && {
      async ids(call: Call) {
        const request = requestOf(own.groups, unknownId, { assignmentId: undefined }); // the path has no assignment
        return groupsSchema.parse(await http.request({ ...request, call }));
      },
    }),

    async sendAssignment(assignmentId: string, order: Order, call: Call): Promise<{ recipients?: number }> {
      const groupIds = send && order.groupIds.length === 0 ? undefined : order.groupIds;
      const request = requestOf(send ?? own.send, assignmentId, { ...order, groupIds });
      const sent = sentSchema.parse(await http.request({ ...request, call }));
      const recipients = sent.recipients ?? sent.recipientCount;
      return recipients === undefined ? {} : { recipients };
    },
  };
}

/** Makes the connector of a ticket system. The tickets have user-defined fields. */
export function createHttpTicketing(settings: HttpSettings<TicketingSettings>, http: Pick<HttpClient, 'request'>): Ticketing {
  const name = 'the ticket system';
  const requestOf = requestsOf(settings, ticketingSettings, name, 'ticket');
  const { read, update = own.update, ticketIdPattern } = settings.templates ?? {};
  const look = (ticketId: string, call: Call) => http.request({ ...requestOf(read ?? own.ticket, ticketId), call });
  return {
    severalCalls: false,

    async check(call: Call): Promise<string> {
      await assertThere(look(read ? otherId : unknownId, call));
      return 'answers and accepts the credentials. The check cannot show whether the ticket system accepts updates: the first update shows this';
    },

    async setField({ ticketId, name: field, text: value }: FieldUpdate, call: Call) {
      const unfit = `"${ticketId}" is not the id of a ticket`;
      if (ticketIdPattern !== undefined && !new RegExp(`^${ticketIdPattern}$`).test(ticketId))
        throw refused(`${unfit}: it does not match ticketIdPattern, so nothing was sent`, unfit, 'Change the id, then retry');
      const request = requestOf(update, ticketId, { field, value });
      const end = Date.now() + call.timeoutMs;
      if (read)
        await look(ticketId, { timeoutMs: call.timeoutMs }).catch((error: unknown) => {
          const isMissing = error instanceof ConnectorError && [404, 410].includes(error.facts.status ?? 0);
          throw isMissing ? missing(name, `ticket ${ticketId}`) : beforeEffect(error);
        });
      await http.request({ ...request, call: { ...call, timeoutMs: end - Date.now() } });
      return {};
    },
  };
}
