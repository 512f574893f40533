/** The external ticketing system, whose tickets have user-defined fields. */

import type { Call } from '../call.js';

export interface Ticketing {
  /**
   * Sets one user-defined field of a ticket.
   * @throws ConnectorError
   */
  updateField(ticketId: string, field: { name: string; value: string }, call: Call): Promise<void>;
}
