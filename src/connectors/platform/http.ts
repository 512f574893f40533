/** The generic platform: `GET {baseUrl}/assignments/{id}` and `POST {baseUrl}/assignments/{id}/send`. */

import { z } from 'zod';
import type { PlatformSettings } from '../../contract/company.js';
import { ConnectorError } from '../call.js';
import type { HttpClient } from '../http.js';
import { resourceUrl } from '../resource-url.js';
import type { Platform } from './platform.js';

const what = "the company's platform settings";

const assignmentSchema = z.record(z.string(), z.unknown());

const count = z
  .union([z.int().nonnegative(), z.array(z.unknown()).transform((reached) => reached.length)])
  .optional()
  .catch(undefined);
/** The answer to a send. Every 2xx is a success, whatever the body says. */
const sentSchema = z
  .object({ recipients: count, recipientCount: count })
  .catch({ recipients: undefined, recipientCount: undefined });

export function createHttpPlatform({ baseUrl, auth }: Extract<PlatformSettings, { kind: 'http' }>, http: HttpClient): Platform {
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
