/** Connectors for systems of kind `http`. Such a system implements the API that docs/connecting-systems.md describes. */

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
/** Accepts any answer, because every 2xx is a success. */
const sentSchema = z.object({ recipients: count, recipientCount: count }).catch({});

const unknownId = 'relay-check'; // an id that no system has, for checks
/** If the answer to a request with `unknownId` has one of these statuses, the system works and accepts the credentials. */
const isThere = [200, 204, 400, 404, 405, 410, 422];

async function assertThere(look: Promise<unknown>): Promise<void> {
  await look.catch((error: unknown) => {
    if (!(error instanceof ConnectorError) || !isThere.includes(error.facts.status ?? 0)) throw error;
  });
}

/** The platform has the assignments and sends them to workers. Every function throws only ConnectorErrors. */
export function createHttpPlatform(
  { baseUrl, auth, allowPlainText }: Extract<PlatformSettings, { kind: 'http' }>,
  http: HttpClient,
) {
  const what = "the company's platform settings";
  return {
    /** @throws ConnectorError `permanent` if there is no such assignment. */
    async getAssignment(assignmentId: string, call: Call): Promise<Record<string, unknown>> {
      const url = resourceUrl(baseUrl, 'assignments', assignmentId);
      const assignment = assignmentSchema.safeParse(await http.request({ method: 'GET', url, auth, allowPlainText, call, what }));
      if (assignment.success) return assignment.data;
      throw new ConnectorError(
        'permanent',
        `the platform's answer for assignment ${assignmentId} was not a JSON object; check baseUrl in ${what}`,
      );
    },

    /** Only reads. @param assignmentId - an existing assignment, if known. @returns a description. @throws ConnectorError */
    async check(call: Call, assignmentId?: string): Promise<string> {
      if (assignmentId !== undefined) {
        await this.getAssignment(assignmentId, call);
        return `knows the assignment ${assignmentId}`;
      }
      await assertThere(this.getAssignment(unknownId, call));
      return 'answers and accepts the credentials; give the id of an assignment to check the path too';
    },

    /** Sends the assignment to workers of these groups in the radius. Without groups, the platform chooses. It may find nobody. */
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

/** The ticket system has tickets with user-defined fields. The functions throw only ConnectorErrors. */
export function createHttpTicketing(
  { baseUrl, auth, allowPlainText }: Extract<TicketingSettings, { kind: 'http' }>,
  http: HttpClient,
) {
  const what = "the company's ticketing settings";
  return {
    /** Only reads. @returns a description. @throws ConnectorError */
    async check(call: Call): Promise<string> {
      const url = resourceUrl(baseUrl, 'tickets', unknownId);
      await assertThere(http.request({ method: 'GET', url, auth, allowPlainText, call, what }));
      return 'answers and accepts the credentials; the first update shows whether it accepts updates';
    },

    async updateField(ticketId: string, field: { name: string; value: string }, call: Call): Promise<void> {
      const url = resourceUrl(baseUrl, 'tickets', ticketId);
      await http.request({ method: 'PATCH', url, auth, allowPlainText, body: { userDefinedFields: [field] }, call, what });
    },
  };
}

/** @returns `{baseUrl}/{segments…}`, with the path and query of `baseUrl`, but without its trailing slash. */
export function resourceUrl(baseUrl: string, ...segments: string[]): URL {
  // A segment cannot be blank, `.` or `..` (servers also read `%2e` as a dot), or contain half a surrogate pair.
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
