/** The generic ticket system: `PATCH {baseUrl}/tickets/{id}`. */

import type { TicketingSettings } from '../../contract/company.js';
import type { HttpClient } from '../http.js';
import { resourceUrl } from '../resource-url.js';
import type { Ticketing } from './ticketing.js';

const what = "the company's ticketing settings";

export function createHttpTicketing(
  { baseUrl, auth }: Extract<TicketingSettings, { kind: 'http' }>,
  http: HttpClient,
): Ticketing {
  return {
    async updateField(ticketId, { name, value }, call) {
      const url = resourceUrl(baseUrl, 'tickets', ticketId);
      await http.request({ method: 'PATCH', url, auth, body: { userDefinedFields: [{ name, value }] }, call, what });
    },
  };
}
