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

/** What a check asks for: no system has it. */
const unknownId = 'relay-check';
/** Answers to that: the system is there, and has nothing against the credentials. */
const isThere = [200, 204, 400, 404, 405, 410, 422];

/** @throws ConnectorError where the system does not answer, or refuses the credentials */
async function assertThere(look: Promise<unknown>): Promise<void> {
  await look.catch((error: unknown) => {
    if (!(error instanceof ConnectorError) || !isThere.includes(error.facts.status ?? 0)) throw error;
  });
}

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

    /** Changes nothing. @param assignmentId - one that is there, if any is known. @returns what was seen. @throws ConnectorError */
    async check(call: Call, assignmentId?: string): Promise<string> {
      if (assignmentId !== undefined) {
        await this.getAssignment(assignmentId, call);
        return `knows the assignment ${assignmentId}`;
      }
      await assertThere(this.getAssignment(unknownId, call));
      return 'answers, and has nothing against the credentials; with the id of an assignment it can be seen that its path is right';
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
    /** Changes nothing. @returns what was seen. @throws ConnectorError */
    async check(call: Call): Promise<string> {
      const url = resourceUrl(baseUrl, 'tickets', unknownId);
      await assertThere(http.request({ method: 'GET', url, auth, allowPlainText, call, what }));
      return 'answers, and has nothing against the credentials; that it takes an update shows with the first';
    },

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
