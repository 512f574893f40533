/**
 * The systems that a company's chains act on, the assignment platform and the ticket system, and the kind `http` of both: any
 * system that speaks the relay's own connector API (docs/connecting-systems.md).
 */

import { z } from 'zod';
import type { PlatformSettings, TicketingSettings } from '../contract/company.js';
import { type Call, ConnectorError } from './call.js';
import type { HttpClient } from './http.js';

/** Where assignments live and from where they are sent to workers. All throw ConnectorErrors. */
export interface Platform {
  /** The assignment as the platform has it now: an object with at least `status`. `permanent` where there is none. */
  getAssignment(assignmentId: string, call: Call): Promise<Record<string, unknown>>;

  /**
   * Sends the assignment to the workers of these groups within the radius. No groups: the platform decides.
   * A success that reached nobody is a success; `recipients` is the number reached, where the platform tells.
   */
  sendAssignment(
    assignmentId: string,
    send: { groupIds: string[]; radiusMiles?: number },
    call: Call,
  ): Promise<{ recipients?: number }>;
}

/** Where tickets live, which have user-defined fields. */
export interface Ticketing {
  /** Sets one user-defined field of a ticket. @throws ConnectorError */
  updateField(ticketId: string, field: { name: string; value: string }, call: Call): Promise<void>;
}

const assignmentSchema = z.record(z.string(), z.unknown());

const count = z
  .union([z.int().nonnegative(), z.array(z.unknown()).transform((reached) => reached.length)])
  .optional()
  .catch(undefined);
/** The answer to a send. Every 2xx is a success, whatever the body says. */
const sentSchema = z.object({ recipients: count, recipientCount: count }).catch({});

export function createHttpPlatform({ baseUrl, auth }: Extract<PlatformSettings, { kind: 'http' }>, http: HttpClient): Platform {
  const what = "the company's platform settings";
  return {
    async getAssignment(assignmentId, call) {
      const url = resourceUrl(baseUrl, 'assignments', assignmentId);
      const assignment = assignmentSchema.safeParse(await http.request({ method: 'GET', url, auth, call, what }));
      if (assignment.success) return assignment.data;
      throw new ConnectorError(
        'permanent',
        `the platform's answer for assignment ${assignmentId} was not a JSON object; check baseUrl in ${what}`,
      );
    },

    async sendAssignment(assignmentId, { groupIds, radiusMiles }, call) {
      const url = resourceUrl(baseUrl, 'assignments', assignmentId, 'send');
      const body = { groupIds, radiusMiles };
      const sent = sentSchema.parse(await http.request({ method: 'POST', url, auth, body, call, what }));
      const recipients = sent.recipients ?? sent.recipientCount;
      return recipients === undefined ? {} : { recipients };
    },
  };
}

export function createHttpTicketing(
  { baseUrl, auth }: Extract<TicketingSettings, { kind: 'http' }>,
  http: HttpClient,
): Ticketing {
  const what = "the company's ticketing settings";
  return {
    async updateField(ticketId, { name, value }, call) {
      const url = resourceUrl(baseUrl, 'tickets', ticketId);
      await http.request({ method: 'PATCH', url, auth, body: { userDefinedFields: [{ name, value }] }, call, what });
    },
  };
}

/**
 * `{baseUrl}/{segments…}` with every segment percent-encoded. The base keeps its path and query, a slash at its end is dropped.
 * @throws ConnectorError `permanent` for a segment that no URL can carry: blank, `.` or `..` (servers read `%2e` as a dot, too)
 */
export function resourceUrl(baseUrl: string, ...segments: string[]): URL {
  // A lone surrogate has no UTF-8 form.
  const unusable = segments.find((segment) => /^\s*$|^\.\.?$|\p{Cs}/u.test(segment));
  if (unusable !== undefined)
    throw new ConnectorError(
      'permanent',
      `${JSON.stringify(unusable)} cannot be used as an id in a URL; check the id in the request`,
    );
  const url = new URL(baseUrl);
  url.pathname = [url.pathname.replace(/\/+$/, ''), ...segments.map(encodeURIComponent)].join('/');
  url.hash = '';
  return url;
}
