/** The systems that chains act on, of the kind `http`: any that speak the relay's own API (docs/connecting-systems.md). */

import { z } from 'zod';
import type { PlatformSettings, TicketingSettings } from '../contract/company.js';
import { type Call, ConnectorError } from './call.js';
import type { HttpClient } from './http.js';

export type Platform = ReturnType<typeof createHttpPlatform>;
export type Ticketing = ReturnType<typeof createHttpTicketing>;

const assignmentSchema = z.record(z.string(), z.unknown());

const count = z
  .union([z.int().nonnegative(), z.array(z.unknown()).transform((reached) => reached.length)])
  .optional()
  .catch(undefined);
/** The answer to a send. Every 2xx is a success, whatever the body says. */
const sentSchema = z.object({ recipients: count, recipientCount: count }).catch({});

/** Where assignments live and from where they are sent to workers. Throws only ConnectorErrors. */
export function createHttpPlatform(
  { baseUrl, auth, allowPlainText }: Extract<PlatformSettings, { kind: 'http' }>,
  http: HttpClient,
) {
  const what = "the company's platform settings";
  return {
    /** The assignment as the platform has it now. @throws ConnectorError `permanent` where there is none. */
    async getAssignment(assignmentId: string, call: Call): Promise<Record<string, unknown>> {
      const url = resourceUrl(baseUrl, 'assignments', assignmentId);
      const assignment = assignmentSchema.safeParse(await http.request({ method: 'GET', url, auth, allowPlainText, call, what }));
      if (assignment.success) return assignment.data;
      throw new ConnectorError(
        'permanent',
        `the platform's answer for assignment ${assignmentId} was not a JSON object; check baseUrl in ${what}`,
      );
    },

    /** To the workers of these groups within the radius; without groups the platform decides. May reach nobody. */
    async sendAssignment(
      assignmentId: string,
      body: { groupIds: string[]; radiusMiles?: number },
      call: Call,
    ): Promise<{ recipients?: number }> {
      const url = resourceUrl(baseUrl, 'assignments', assignmentId, 'send');
      const sent = sentSchema.parse(await http.request({ method: 'POST', url, auth, allowPlainText, body, call, what }));
      const recipients = sent.recipients ?? sent.recipientCount;
      return recipients === undefined ? {} : { recipients };
    },
  };
}

/** Where tickets live, which have user-defined fields. Throws only ConnectorErrors. */
export function createHttpTicketing(
  { baseUrl, auth, allowPlainText }: Extract<TicketingSettings, { kind: 'http' }>,
  http: HttpClient,
) {
  const what = "the company's ticketing settings";
  return {
    async updateField(ticketId: string, field: { name: string; value: string }, call: Call): Promise<void> {
      const url = resourceUrl(baseUrl, 'tickets', ticketId);
      await http.request({ method: 'PATCH', url, auth, allowPlainText, body: { userDefinedFields: [field] }, call, what });
    },
  };
}

/** `{baseUrl}/{segments…}`: the base keeps its path and query, a slash at its end is dropped. */
export function resourceUrl(baseUrl: string, ...segments: string[]): URL {
  // No URL can carry a blank segment, dots (servers read `%2e` as one, too) or half a surrogate pair.
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
